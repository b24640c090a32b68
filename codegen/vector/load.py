"""Vector loads: from memory in the cheapest way that the machine has, or out of registers."""

from __future__ import annotations

from typing import TypeGuard

from hbc.codegen.text.registers import holder, piece_of
from hbc.codegen.text.scalar import register, scalar
from hbc.codegen.text.spelling import c_type, constant
from hbc.codegen.text.unit import ADD, LOGIC_OR, Unit
from hbc.codegen.vector.held_index import can_be_cut, held_index, under_mask
from hbc.codegen.vector.limited import limited
from hbc.codegen.vector.machine import kept, machine_of
from hbc.codegen.vector.spilled_mask import each_live_lane, spilled_mask
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value
from hbc.ir.lang.types import BOOL, U8, Memory
from hbc.ir.vectors.lane_masks import possible_lanes
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.small_table import is_in_small_table, narrow_places, place_type
from hbc.ir.vectors.take import Take
from hbc.ir.vectors.vector_width import widest_bits


def load(e: ir.Load, unit: Unit) -> str:
    """The C text of a vector load (of bytes, for bools)."""
    t, lanes, machine = e.type.element, e.type.lanes, machine_of(unit)
    if unit.buffers[e.buffer].memory is Memory.REGISTER:
        return _register(e, unit)
    live = [True] if e.mask is None else possible_lanes(e.mask)
    if not any(live):  # there may be no such place
        return machine.registers.zero(U8 if t == BOOL else t, lanes)
    known, access = lane_offsets(e.index), machine.accesses
    if known is None:
        found = access.rows(e, unit) or limited(e, unit) or _in_table(e, unit)
        return found or access.gather(e, unit) or _by_lane(e, unit)
    base, offsets = known
    base, offsets = add(base, offsets[0]), tuple(o - offsets[0] for o in offsets)
    if offsets == tuple(range(lanes)):
        if e.mask is None:
            return access.load(e.buffer, base, t, lanes, unit)
        if live[0]:
            return access.load_live(e, base, unit)
        return access.rows(e, unit) or _by_lane(e, unit)  # the base may lie before the array
    if not any(offsets) and (e.mask is None or _is_uniform(e.mask)):
        element = machine.element(str(scalar(ir.Load(e.buffer, base, t(1)), unit)), t)
        if e.mask is not None:
            element = f"{scalar(e.mask.value, unit).at(LOGIC_OR)} ? {element} : 0"
        return machine.alike(t, lanes, element)
    if (text := access.repeated(e, base, offsets, unit)) is not None:
        return text
    if (text := access.structures(e, base, offsets, unit)) is not None:
        return text
    if e.mask is not None and not _is_uniform(e.mask):
        return access.rows(e, unit) or access.gather(e, unit) or _by_lane(e, unit)

    def adjacent(at: int, n: int) -> str:
        return access.load(e.buffer, add(base, at), t, n, unit)

    text = access.permuted(adjacent, t, offsets, unit)
    if text is None:
        return access.rows(e, unit) or access.gather(e, unit) or _by_lane(e, unit)
    if e.mask is None:
        return text
    condition = scalar(e.mask.value, unit).at(LOGIC_OR)
    return f"({condition} ? {text} : {machine.registers.zero(t, lanes)})"


def address(buffer: str, index: ir.Expr, unit: Unit, mask: ir.Expr | None = None) -> str:
    """`&A[i]`, or `A` alone for index 0. Under a mask that leaves no lane, element i may lie behind the
    array: C compilers take a subscript as a promise that it does not, where they know the array's size."""
    place = unit.buffers[buffer]
    constant_index = const_value(index)
    if constant_index == 0:
        return place.text
    beyond = constant_index is None or constant_index > place.extent > 0
    if mask is not None and beyond and place.memory is Memory.STACK:
        return f"({place.text} + {scalar(index, unit).at(ADD)})"
    return f"&{place.text}[{scalar(index, unit)}]"


def _is_uniform(mask: ir.Expr) -> TypeGuard[ir.Broadcast]:
    """Whether it is one condition for all lanes."""
    return isinstance(mask, ir.Broadcast) and mask.value.type.lanes == 1


def _register(e: ir.Load, unit: Unit) -> str:
    t, machine = e.type.element, machine_of(unit)
    piece, pieces = piece_of(e.index), unit.buffers[e.buffer].pieces
    name = register(e.buffer, e.index, unit)
    text: str | None = None
    whole = None if name is not None or piece is None else holder(piece, pieces, t)
    if name is None and whole is None:
        text = machine.shuffles.pieces(pieces, constant_lanes(e.index) or (), t, unit)
    elif whole and piece and machine.shuffles.block is not None and e.mask is None:
        number = (piece[0] - whole[0]) // piece[1]
        text = machine.shuffles.block(pieces[whole], t, whole[1], piece[1], number)
    if text is not None:
        return text
    if name is None:
        raise InternalError(f"codegen: `{e.buffer}` is in registers but read at other lanes")
    if e.mask is None:
        return name
    return kept(name, e.mask, t, unit)


def _in_table(e: ir.Load, unit: Unit) -> str | None:
    """Elements of a small table that is in registers as a whole."""
    buffer, machine = unit.buffers[e.buffer], machine_of(unit)
    narrow = place_type(e.type.element, buffer.extent, unit.target)
    if narrow is None or not is_in_small_table(e, buffer.extent, unit.target):
        return None
    places = narrow_places(e.index, narrow)
    if places is not None and e.mask is not None:
        places = under_mask(places, e)
    if places is None:
        return None
    t, lanes = e.type.element, e.type.lanes
    native = min(lanes, unit.target.vector_bits // widest_bits(places))
    if native < lanes and not can_be_cut(places):
        return None

    def parts() -> list[str]:
        cuts = (Take()(places, tuple(range(n, n + native))) for n in range(0, lanes, native))
        return [unit.printers.vector(cut, unit) for cut in cuts]

    text = machine.accesses.looked_up(buffer.text, buffer.extent, parts, t, lanes, unit)
    return text if text is None or e.mask is None else kept(text, e.mask, t, unit)


def _by_lane(e: ir.Load, unit: Unit) -> str:
    """Scalar loads put together; under a mask, through an array."""
    t, lanes, machine = e.type.element, e.type.lanes, machine_of(unit)
    name, index = unit.buffers[e.buffer].text, held_index(e, unit)
    if e.mask is None:
        parts = [scalar(Take()(index, (lane,)), unit) for lane in range(lanes)]
        values = [machine.element(f"{name}[{part}]", t) for part in parts]
        return machine.lanes_of(t, lanes, values)
    array, live = unit.scope.fresh("lanes"), spilled_mask(e.mask, t, unit)
    nothing = constant(False if t == BOOL else 0, t) if not t.is_narrow else "0"
    whole = machine.registers.lanes(t, lanes)
    unit.out.line(f"{c_type(t)} {array}[{whole}] = {{{nothing}}};")
    each_live_lane(index, live, unit, lambda lane, at: f"{array}[{lane}] = {name}[{at}];")
    return machine.registers.fill(t, lanes, array)

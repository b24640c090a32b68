"""Operands of a planned instruction: at which points of the statement they are, and how they get there.

An operand lies in memory as the instruction loads it, or it must be packed: gathered into a temporary
in the order of the instruction (VNNI interleaving, transposition, a banded matrix).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from math import inf, prod

from hbc.eqsat.operands.fragments import may_be_fragment, may_be_packed
from hbc.eqsat.tensors.plan import SUMMED, Plan
from hbc.eqsat.tensors.points import Place, Points, exists, raw_layout, strides_at, value
from hbc.eqsat.tensors.tensor import Apply, Band, Dim, Masked, Read, Tensor, parts, strides_along
from hbc.eqsat.tensors.windows import MOST_TOGETHER, is_window, sharing, shuffles, window
from hbc.ir.algebra.layout import Layout, normal, transposed
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, select
from hbc.ir.lang.types import TILES_OF_LANES, DType, Memory
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.contraction import extents, shape, strides

Starts = Mapping[Dim, ir.Expr]
"""Where the loops around the instruction stand, in points of each dimension."""

UNUSED = Dim("unused", 1)
"""Moved by the lanes of an instruction that no dimension of the statement uses."""
REUSED = "~"
"""At the end of the name of a place: the statement is in a loop in which it stays."""
LOAD, SHUFFLE, PACK, PACK_ONCE = 0.5, 0.5, 4.0, 0.25  # cycles for each 64 bytes
CHEAPEST_LOAD = min(LOAD, (LOAD + SHUFFLE) / MOST_TOGETHER)
_GROUP_BITS = (8, 16, 32, 64)  # what one instruction copies to all lanes


class Access(Enum):
    """How an operand comes into a register."""

    DIRECT = "direct"  # one load
    REPEATED = "repeated"  # one load of some lanes, copied
    SHUFFLED = "shuffled"  # one load of adjacent elements, and a shuffle
    PACKED = "packed"  # from a temporary


@record
class Form:
    """What decides how an operand is loaded: the array it is, if it is one; whether under a mask; the
    dimensions it moves along; and whether what is packed of it serves many times."""

    array: Read | None
    masked: bool
    moving: frozenset[Dim]
    element: DType
    reused: bool


def form(x: Tensor, by_id: dict[int, bool] | None = None) -> Form:
    """That of an operand. `by_id`: whether what tensors read is reused, by their ids."""
    inner = x
    while isinstance(inner, Masked):
        inner = inner.value
    array = inner if isinstance(inner, Read) else None
    reused = _all_reused(x, {} if by_id is None else by_id)
    return Form(array, inner is not x, strides_along(x), x.element, reused)


def _all_reused(x: Tensor, by_id: dict[int, bool]) -> bool:
    reused = by_id.get(id(x))
    if reused is None:
        own = not isinstance(x, Read) or is_reused(x)
        reused = by_id[id(x)] = own and all(_all_reused(p, by_id) for p in parts(x))
    return reused


def points(plan: Plan, operand: int, starts: Starts) -> Points:
    """The points of the operand's elements, in its row-major order."""
    i, sizes = plan.instruction, dict(plan.sizes)
    moved = strides(i, operand, sizes)
    counts = extents(i, sizes)
    lanes: list[int] = []
    steps: dict[Dim, list[int]] = {}
    for n in sorted(range(len(i.rows)), key=lambda n: -moved[n]):
        if moved[n] == 0 or counts[n] == 1:
            continue
        parts = plan.rows[n]
        if not parts:
            if i.rows[n].kind in SUMMED:
                _step(steps, UNUSED, len(lanes), 1)
            lanes.append(counts[n])
            continue
        whole = prod(p.extent for p in parts)
        for p in parts:
            extent = p.extent if whole == counts[n] else counts[n]
            _step(steps, p.dim, len(lanes), p.step)
            lanes.append(extent)
    places = {
        d: Place(start, (0,) * len(lanes), d.extent)
        for d, start in starts.items()
        if d not in steps
    }
    for d, own in steps.items():
        padded = (*own, *[0] * (len(lanes) - len(own)))
        places[d] = Place(starts.get(d, ir.const_index(0)), padded, d.extent)
    return Points(tuple(lanes), places)


def _step(steps: dict[Dim, list[int]], d: Dim, lane: int, step: int) -> None:
    """The dimension moves by so much along that extent of the vector."""
    own = steps.setdefault(d, [])
    own.extend([0] * (lane - len(own)))
    own.append(step)


def operand_value(x: Tensor, at: Points) -> ir.Expr:
    """The elements of an operand that is to be packed, 0 at points that the statement does not have."""
    if isinstance(x, Read) and UNUSED in at.places:
        return value(with_unused(x), at)
    beyond = sorted(strides_along(x) - _zero_beyond(x), key=lambda d: d.name)
    there = exists((UNUSED, *beyond), at)
    return value(x, at) if there is None else select(there, value(x, at), 0)


def _zero_beyond(x: Tensor) -> frozenset[Dim]:
    """The dimensions beyond whose end the value is 0 by itself."""
    match x:
        case Read() | Band():
            return strides_along(x)
        case Masked(value=v) | Apply(node=ir.Cast(), args=(v,)):
            return _zero_beyond(v)
        case _:
            return frozenset()


def with_unused(x: Tensor) -> Tensor:
    """The operand, 0 in the lanes that nothing uses."""
    if isinstance(x, Read):
        return Read(x.buffer, x.element, x.base, (*x.strides, (UNUSED, ir.const_index(0))))
    return x


def access(x: Tensor, plan: Plan, operand: int, at: Points) -> Access:
    """How the operand is loaded at these points."""
    inner = x
    while isinstance(inner, Masked):
        inner = inner.value
    if not isinstance(inner, Read):
        return Access.PACKED
    return _access(inner, inner is not x, plan, operand, at)


def _access(x: Read, masked: bool, plan: Plan, operand: int, at: Points) -> Access:
    """The same for an array, which may be under a mask."""
    place = plan.instruction.place
    from_0 = Layout(ir.const_index(0), strides_at(x, at))  # wherever it begins
    if place.rows == 1:  # vector loads may be masked
        pattern = _in_register(normal(from_0), x.element.bits)
        near = operand in plan.shuffled and is_window(from_0, x.element.bits, 1 if masked else 2)
        return Access.SHUFFLED if pattern is Access.PACKED and near else pattern
    of_lanes = place.memory in TILES_OF_LANES and operand != plan.instruction.accumulator
    if of_lanes and operand not in plan.instruction.shared:
        return Access.DIRECT  # each lane loads what it has, wherever and under whatever mask
    rows = shape(plan.instruction, operand, dict(plan.sizes))
    if operand in plan.instruction.shared:  # where it is to lie is known later
        return Access.DIRECT if has_rows(from_0, rows[0]) else Access.PACKED
    if masked or exists((UNUSED, *(d for d, _ in x.strides)), at) is not None:
        return Access.PACKED
    if not has_rows(from_0, rows[0]):
        return Access.PACKED
    raw = raw_layout(x, at) if place.memory is Memory.WMMA else from_0
    fits = may_be_fragment(x.buffer, raw, at.lanes // rows[0], x.element.bytes, place.memory)
    return Access.DIRECT if fits else Access.PACKED


def _in_register(flat: Layout, bits: int) -> Access:
    match [(n, const_value(s)) for n, s in flat.dims]:
        case [] | [(_, 1)]:
            return Access.DIRECT
        case [(_, 0)]:
            return Access.REPEATED
        case [(_, 0), (n, 1)] if n * bits in _GROUP_BITS:
            return Access.REPEATED
        case _:
            return Access.PACKED


def has_rows(raw: Layout, rows: int) -> bool:
    """Whether the lanes are so many rows, evenly spaced, of adjacent elements."""
    return row_stride(raw, rows) is not None


def has_columns(raw: Layout, rows: int) -> bool:
    """Whether the lanes are so many rows, and each of its columns adjacent elements."""
    columns = transposed(raw, rows)
    return columns is not None and has_rows(columns, raw.lanes // rows)


def row_stride(raw: Layout, rows: int) -> ir.Expr | None:
    """The distance between the rows, in elements; None where there are no such rows."""
    split = 0
    count = 1
    while count < rows and split < len(raw.dims):
        count *= raw.dims[split][0]
        split += 1
    if count != rows:
        return None
    inner = normal(Layout(raw.base, raw.dims[split:]))
    if inner.lanes > 1 and [(n, const_value(s)) for n, s in inner.dims] != [(inner.lanes, 1)]:
        return None
    outer = normal(Layout(raw.base, raw.dims[:split]))
    match outer.dims:
        case ():
            return ir.const_index(inner.lanes)
        case ((_, stride),):
            return stride
        case _:
            return None


def first_points(plan: Plan, operand: int) -> Points:
    """The points of the operand's elements at the first step of all loops."""
    return points(plan, operand, {p.dim: ir.const_index(0) for p in plan.outer})


def loads_of(f: Form, plan: Plan, lanes: int) -> float:
    """How often an operand of so many elements is loaded, in units of 64 bytes: as often as it
    changes."""
    times = prod(p.extent for p in plan.outer if p.dim in f.moving)
    return times * max(1.0, lanes * f.element.bytes / 64)


def _operand_cost(f: Form, operand: int, plan: Plan, at: Points) -> tuple[float, float]:
    """Cycles for loading the operand as often as it changes, and for packing it, which is hoisted
    where it can be; infinite where it must be packed and the instruction cannot load that."""
    loads = loads_of(f, plan, at.lanes)
    how = Access.PACKED
    if f.array is not None:
        how = _access(f.array, f.masked, plan, operand, at)
        if how is Access.SHUFFLED:
            wide = window(Layout(ir.const_index(0), strides_at(f.array, at)), f.element.bits)
            steps = LOAD * wide + SHUFFLE * shuffles(f.element.bits, at.lanes)
            return loads * steps / sharing(f.array, plan, operand), 0.0
    if how is not Access.PACKED:
        return loads * LOAD, 0.0
    place = plan.instruction.place
    if place.rows > 1:
        rows = shape(plan.instruction, operand, dict(plan.sizes))[0]
        if operand in plan.instruction.shared:
            return loads * LOAD, inf  # nothing packs in the layout that it asks for
        if not may_be_packed(at.lanes // rows, f.element.bytes, place.memory):
            return loads * LOAD, inf
    return loads * LOAD, loads * pack_cost(f)


def pack_cost(f: Form) -> float:
    """Cycles for packing what is loaded once."""
    return PACK_ONCE if f.reused else PACK


def best_load(
    f: Form, operand: int, plan: Plan, at: Points | None = None
) -> tuple[float, float, bool]:
    """Cycles for loading an operand and for packing it, and whether it had better be shuffled than
    packed. `at`: its `first_points`, where they are known."""
    at = at or first_points(plan, operand)
    load, pack = _operand_cost(f, operand, plan, at)
    if pack and f.array is not None and plan.instruction.place.rows == 1:
        near = replace(plan, shuffled=frozenset({operand}))
        shuffled, packed = _operand_cost(f, operand, near, at)
        if packed == 0 and shuffled < load + pack:
            return shuffled, 0.0, True
    return load, pack, False


def is_reused(x: Read) -> bool:
    """Whether its place was marked so: what is packed of it serves many times."""
    return any(isinstance(n, ir.Var) and n.name.endswith(REUSED) for n in nodes(x.base))


def starts_of(plan: Plan, index: Mapping[Dim, ir.Expr]) -> dict[Dim, ir.Expr]:
    """Where each dimension stands when its loop has the given index; it has one loop at most."""
    return {p.dim: p.start(index.get(p.dim, ir.const_index(0))) for p in plan.outer}

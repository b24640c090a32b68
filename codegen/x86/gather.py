"""x86 gathers: elements through a vector of their places, all of them or those under a mask."""

from __future__ import annotations

from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.held_index import can_be_cut, under_mask
from hbc.codegen.vector.limited import apart_live
from hbc.codegen.vector.load import address
from hbc.codegen.vector.machine import machine_of
from hbc.codegen.x86.apart import elements_apart
from hbc.codegen.x86.rows import is_divisible
from hbc.codegen.x86.types import cast_register, joined, lane_value, suffix, width_prefix, zero
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import BOOL, I32, DType
from hbc.ir.lang.walk import nodes
from hbc.ir.vectors.lane_masks import possible_lanes
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import Take, constants, integer


def gather(e: ir.Load, unit: Unit) -> str | None:
    """Through an index vector where there is an instruction for it; or elements evenly apart."""
    t, lanes = e.type.element, e.type.lanes
    if unit.target.vector_bits == 512 and (text := apart_live(e, unit)) is not None:
        return text
    if t.bits >= 32 and lanes * t.bits >= 128:
        place = _split(e.index) if e.mask is None else _split_live(e)
        if place is not None:
            at = address(e.buffer, place[0], unit, e.mask)
            return _gather_text(_Gather(at, t, lanes, place[1], e.mask), unit)
    if t == BOOL or e.mask is not None or not can_be_cut(e.index):
        return None
    places = [Take()(e.index, (lane,)) for lane in range(lanes)]
    return elements_apart(e.buffer, places, t, lambda x: lane_value(x, t), unit)


def _split_live(e: ir.Load) -> tuple[ir.Expr, ir.Expr] | None:
    """The same under a mask, from a lane on that may be live. Nor does the index load what is not."""
    assert e.mask is not None
    known = lane_offsets(e.index)
    if known is None:
        index = under_mask(e.index, e) if is_divisible(e.mask) else None
        return None if index is None else _split(index)
    live = possible_lanes(e.mask)
    first = known[1][live.index(True)]
    offsets = [o - first if there else 0 for o, there in zip(known[1], live, strict=True)]
    if max(map(abs, offsets)) >= 1 << 31:
        return None
    return add(known[0], first), ir.Cast(e.index.type, constants(tuple(offsets), I32))


def _split(index: ir.Expr) -> tuple[ir.Expr, ir.Expr] | None:
    """The index as a scalar plus a vector that is not merely a ramp with an unknown step."""
    scalars: list[ir.Expr] = []
    vectors: list[ir.Expr] = []
    stack = [index]
    while stack:
        match stack.pop():
            case ir.Binary(op=ir.Op.ADD, a=a, b=b):
                stack += [b, a]
            case ir.Broadcast(value=v) if v.type.lanes == 1:
                scalars.append(v)
            case other:
                vectors.append(other)
    base: ir.Expr = ir.Const(0, index.type.with_lanes(1))
    for part in scalars:
        base = add(base, part)
    rest: ir.Expr | None = None
    for part in vectors:
        if not any(isinstance(n, ir.Cast | ir.Load) for n in nodes(part)):
            return None  # cheaper lane by lane
        rest = part if rest is None else ir.Binary(ir.Op.ADD, rest, part)
    return None if rest is None else (base, rest)


@record
class _Gather:
    """Lanes of a type from an address on, at the places of an index vector; under a mask 0 where it does not
    hold."""

    at: str
    t: DType
    lanes: int
    index: ir.Expr
    mask: ir.Expr | None

    def part(self, start: int, lanes: int) -> _Gather:
        picks = tuple(range(start, start + lanes))
        mask = None if self.mask is None else Take()(self.mask, picks)
        return _Gather(self.at, self.t, lanes, Take()(self.index, picks), mask)


def _gather_text(g: _Gather, unit: Unit) -> str:
    if isinstance(g.index, ir.Cast) and g.index.value.type.element.is_int:
        narrow = g.index.value
        s = narrow.type.element
        if s.bits < 32 or s == I32:
            small = narrow if s == I32 else ir.Cast(I32(g.lanes), narrow)
            return _call("i32", unit.printers.vector(small, unit), g, unit)
    if g.lanes * 64 <= unit.target.vector_bits:
        return _call("i64", unit.printers.vector(g.index, unit), g, unit)
    half = g.lanes // 2
    low, high = (_gather_text(g.part(start, half), unit) for start in (0, half))
    return joined(low, high, g.t, half)


def _call(kind: str, index: str, g: _Gather, unit: Unit) -> str:
    """The 256-bit forms take the pointer first, the 512-bit ones and those with masks of bits last."""
    t, size, live = g.t, g.t.bits * g.lanes, ""
    p = width_prefix(max(g.lanes * int(kind[1:]), size, 128))
    name, scale, of_bits = f"{kind}gather_{suffix(t)}", t.bits // 8, unit.target.vector_bits == 512
    if g.mask is not None:
        live = machine_of(unit).masks.text(g.mask, t.bits, unit)
        nothing = zero(t, g.lanes)
    if p == "_mm512" or (live and of_bits):
        masking = "" if not live else "mask_" if p == "_mm512" else "mmask_"
        first = f"{nothing}, {live}, " if live else ""
        return f"{p}_{masking}{name}({first}{index}, {g.at}, {scale})"
    pointer = g.at if t.is_float else f"(const {'int' if t.bits == 32 else 'long long'} *){g.at}"
    if live:
        live = cast_register(live, integer(t.bits), t, g.lanes)
        return f"{p}_mask_{name}({nothing}, {pointer}, {index}, {live}, {scale})"
    return f"{p}_{name}({pointer}, {index}, {scale})"

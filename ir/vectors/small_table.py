"""Loads from small tables at places that depend on data, and those places as narrow integers.

t[i64(i32(x[..]) & 63)]   where `t` has 64 bytes   ->   x[..] & 63, as bytes
"""

from __future__ import annotations

from collections.abc import Mapping

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import ARM, X86, Target
from hbc.ir.lang.types import BOOL, I8, I16, I32, I64, U8, U16, U32, DType
from hbc.ir.vectors.stored_ranges import lane_range

BLOCK = 16  # bytes that one instruction looks up in
MOST_OF_BYTES = 256  # bytes of a table that an index of 8 bits reaches
PLACES = {8: U8, 16: U16, 32: U32}
MOST: Mapping[str | int, Mapping[int, int]] = {
    512: {8: 1024, 16: 512, 32: 128}, 256: {8: 256, 16: 64, 32: 16}, ARM: {8: 256, 16: 128, 32: 32},
}  # fmt: skip
"""Elements by their bits, for vectors of 512 bits, of 256, and NEON. More are gathered, or loaded one by one,
in less time: a Xeon gathers a lane of 32 bits in 0.21 ns, looks up in 0.13 of 128 elements, 0.23 of 256."""
WRAPPING = (ir.Op.ADD, ir.Op.SUB, ir.Op.AND, ir.Op.OR, ir.Op.XOR)
POWERS = tuple(1 << n for n in range(16))
ORDERED = (ir.Op.MIN, ir.Op.MAX)
SIGNED = {U8: I8, U16: I16, U32: I32, I8: I8, I16: I16, I32: I32}


def is_in_small_table(e: ir.Load, extent: int, target: Target) -> bool:
    """Whether the load of any lanes reads what the target looks up in registers: an array of `extent`
    elements. All places are inside, as those of any load are (of live lanes; others get any element, and 0
    afterwards)."""
    t = place_type(e.type.element, extent, target)
    return t is not None and narrow_places(e.index, t) is not None


def place_type(element: DType, extent: int, target: Target) -> DType | None:
    """The type of places in a table of so many elements; None where the target has no registers for it."""
    if target.machine not in (X86, ARM) or target.vector_bits == 0 or extent <= 0:
        return None
    kind = ARM if target.machine == ARM else target.vector_bits
    if element == BOOL or extent > MOST.get(kind, {}).get(element.bits, 0):
        return None
    return U16 if element.bits == U8.bits and extent > MOST_OF_BYTES else PLACES[element.bits]


def narrow_places(e: ir.Expr, t: DType) -> ir.Expr | None:
    """The index, whose values fit `t`, computed in that as far as it wraps around; what is left of wider
    parts, of 32 bits at most, is converted. None for others."""
    to = t(e.type.lanes)
    match e:
        case ir.Const(value=v):
            return ir.Const(_wrapped(int(v), t), to)
        case ir.Broadcast(value=ir.Const(value=v), lanes=lanes):
            return ir.Broadcast(ir.Const(_wrapped(int(v), t), t(1)), lanes)
        case ir.Cast(value=v) if v.type.element.is_int and e.type.element.bits >= t.bits:
            return narrow_places(v, t)
        case ir.Binary(op=ir.Op.MOD, a=a, b=ir.Const(value=n)) if n in POWERS[: t.bits + 1]:
            return _both(ir.Op.AND, a, ir.Const(n - 1, a.type), t)
        case ir.Binary(op=op, a=a, b=b) if op in WRAPPING:
            return _both(op, a, b, t)
        case ir.Binary(op=op, a=a, b=b) if op in ORDERED and _fits(a, t) and _fits(b, t):
            return _both(op, a, b, t)
        case ir.Binary(op=op, a=a, b=b) if (
            op in ORDERED and _fits(a, s := SIGNED[t]) and _fits(b, s)
        ):
            inner = _both(op, a, b, s)
            return None if inner is None else ir.Cast(to, inner)
        case _ if e.type == to:
            return e
        case _ if e.type.element.is_int and e.type.element != I64:
            return ir.Cast(to, e)
        case _:
            return None


def _both(op: ir.Op, a: ir.Expr, b: ir.Expr, t: DType) -> ir.Expr | None:
    x, y = narrow_places(a, t), narrow_places(b, t)
    return None if x is None or y is None else ir.Binary(op, x, y)


def _fits(e: ir.Expr, t: DType) -> bool:
    low, high = lane_range(e, {})
    return low is not None and high is not None and t.limits[0] <= low and high <= t.limits[1]


def _wrapped(value: int, t: DType) -> int:
    low, high = t.limits
    return (value - low & high - low) + low

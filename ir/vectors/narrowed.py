"""Vectors that are 64 bits wide only because an index was among their operands, as narrow as what is made of
them.

    u8(i64(W[..]) >> ramp(0, 4, 2) & 15)   ->   W[..] >> u8(ramp(0, 4, 2)) & 15
    f32(i64(W[..]) >> ramp(0, 4, 2))       ->   f32(i32(W[..]) >> i32(ramp(0, 4, 2)))

An index is an i64, and so is every integer that meets one: `W[i, k / 2] >> 4 * (k % 2)` is an i64. Sums,
products and bits of the low bits are the low bits of the result; what a shift to the right or a division
takes must fit the narrow type.
"""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, broadcast, cast, const, ramp
from hbc.ir.lang.types import I8, I16, I32, I64, U8, U16, U32, DType
from hbc.ir.lang.walk import map_children
from hbc.ir.vectors.lane_offsets import constant_lanes
from hbc.ir.vectors.stored_ranges import Ranges, lane_range
from hbc.ir.vectors.take import constants

_OF_LOW_BITS = (ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.AND, ir.Op.OR, ir.Op.XOR)
_OF_VALUES = (ir.Op.DIV, ir.Op.MOD, ir.Op.MIN, ir.Op.MAX)
_SHIFTS = (ir.Op.SHL, ir.Op.SHR)
_UNSIGNED = {I8: U8, I16: U16, I32: U32}


def narrowed(e: ir.Expr, ranges: Ranges) -> ir.Expr:
    """The vectors in `e`, from the top. `ranges`: what arrays can hold."""
    new = _cast(e, ranges) if isinstance(e, ir.Cast) and e.type.lanes > 1 else e
    return map_children(new, lambda c: narrowed(c, ranges))


def _cast(e: ir.Cast, ranges: Ranges) -> ir.Expr:
    """A cast of a 64-bit integer, or of a narrower one that this fits."""
    t, value = e.type.element, e.value
    while (
        isinstance(value, ir.Cast)
        and value.value.type.element == I64
        and _fits(value.value, value.type.element, ranges)
    ):
        value = value.value
    if value.type.element != I64 or isinstance(value, ir.Cast):
        return e
    if t.is_float:
        t = I32
        if not _fits(value, t, ranges):
            return e
    if not t.is_int or t.bits >= I64.bits:
        return e
    inner = _low(value, t, ranges)
    return e if inner is None else cast(e.type.element, inner)


def _low(e: ir.Expr, t: DType, ranges: Ranges) -> ir.Expr | None:
    """The low bits of `e` as a `t`; None where that takes all of `e` to be computed first."""
    constant = constant_lanes(e) if isinstance(e, ir.Binary) else None
    if constant is not None:
        return _low(constants(constant), t, ranges)
    match e:
        case ir.Const(value=value):
            return const(value, t)
        case ir.Broadcast(value=v, lanes=lanes):
            one = _low(v, t, ranges)
            return None if one is None else broadcast(one, lanes)
        case ir.Gather(value=v, lanes=picks):
            line = _low(v, t, ranges)
            return None if line is None else ir.Gather(line, picks)
        case ir.Ramp(base=base, stride=stride, lanes=lanes):
            first, step = _low(base, t, ranges), _low(stride, t, ranges)
            return None if first is None or step is None else ramp(first, step, lanes)
        case ir.Cast(value=v) if v.type.element.is_int and v.type.element.bits < I64.bits:
            return cast(t, v)
        case ir.Binary(op=op, a=a, b=b) if op in _OF_LOW_BITS:
            pass
        case ir.Binary(op=op, a=a, b=b) if op in _OF_VALUES:
            if not all(_fits(x, t, ranges) for x in (a, b, e)):
                return None
        case ir.Binary(op=op, a=a, b=b) if op in _SHIFTS:
            low, high = lane_range(b, ranges)
            if low is None or high is None or low < 0 or high >= t.bits:
                return None
            if op is ir.Op.SHR and not _fits(a, t, ranges):
                unsigned = _UNSIGNED.get(t)
                if unsigned is None or not _fits(a, unsigned, ranges):
                    return None
                found = _low(e, unsigned, ranges)
                return None if found is None else cast(t, found)
        case _:
            return None
    x = _low(a, t, ranges)
    y = None if x is None else _low(b, t, ranges)
    return None if x is None or y is None else binary(op, x, y)


def _fits(e: ir.Expr, t: DType, ranges: Ranges) -> bool:
    """Whether all values of the lanes are values of `t`."""
    if not t.is_int:
        return False
    low, high = lane_range(e, ranges)
    least, most = t.limits
    return low is not None and high is not None and least <= low and high <= most

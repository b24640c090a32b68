"""Comparisons of positions, such as `x + lane < W`, as comparisons of small constants.

    ramp(x, 1, 16) < broadcast(W, 16)   ->   ramp(0, 1, 16) < broadcast(i16(clamp(W - x, 0, 16)), 16)

so that no vector of 64-bit positions is formed and a backend can print a mask of n lanes.
"""

from __future__ import annotations

from hbc.ir.lang.build import add, binary, broadcast, cast, clamp, ramp, sub
from hbc.ir.lang.nodes import (
    COMPARISONS,
    Binary,
    Broadcast,
    Cast,
    Const,
    Expr,
    Op,
    Ramp,
    Unary,
    UnaryOp,
    const_index,
)
from hbc.ir.lang.types import I64
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.take import constants, integer


def narrow_masks(e: Expr, native_bits: int) -> Expr:
    """One node; to be applied bottom-up. Vectors have at most `native_bits` bits."""
    if not (isinstance(e, Binary) and e.op in COMPARISONS and e.type.lanes > 1):
        return e
    if e.a.type.element != I64:
        return e
    x, y = lane_offsets(e.a), lane_offsets(e.b)
    if x is None or y is None:
        return e
    offsets = tuple(p - q for p, q in zip(x[1], y[1], strict=True))
    limit = sub(y[0], x[0])  # lane l compares offsets[l] with this
    if len(set(offsets)) == 1:
        scalar = binary(e.op, add(x[0], offsets[0]), y[0])
        return broadcast(scalar, e.type.lanes)
    return _prefix(e.op, offsets, limit) or _small(e.op, offsets, limit, native_bits) or e


def _prefix(op: Op, offsets: tuple[int, ...], limit: Expr) -> Expr | None:
    """Lanes that count up by one, compared with a limit: the first few of them."""
    lanes = len(offsets)
    if offsets != tuple(range(offsets[0], offsets[0] + lanes)) or op in (Op.EQ, Op.NE):
        return None
    first = sub(limit, offsets[0])
    if op in (Op.LE, Op.GT):
        first = add(first, 1)
    inside = first_lanes(first, lanes)
    return inside if op in (Op.LT, Op.LE) else Unary(UnaryOp.NOT, inside)


def first_lanes(count: Expr, lanes: int) -> Expr:
    """The mask of the first `count` of so many lanes."""
    element = integer(8 if lanes <= 64 else 16 if lanes <= 1024 else 32)
    line = ramp(cast(element, const_index(0)), 1, lanes)
    bound = cast(element, clamp(count, 0, lanes))
    return Binary(Op.LT, line, broadcast(bound, lanes))


def first_lanes_count(e: Expr) -> Expr | None:
    """n, when `e` is the mask of the first n lanes as `first_lanes` writes it (n may be outside)."""
    match e:
        case Binary(op=Op.LT, a=Ramp(base=Const(value=0), stride=Const(value=1)),
                    b=Broadcast(value=Cast(value=count))):  # fmt: skip
            match count:
                case Binary(op=Op.MAX, a=Binary(op=Op.MIN, a=n, b=Const(value=most)),
                            b=Const(value=0)) if most == e.type.lanes:  # fmt: skip
                    return n
                case _:
                    return count
        case _:
            return None


def _small(op: Op, offsets: tuple[int, ...], limit: Expr, native_bits: int) -> Expr | None:
    low, high = min(offsets) - 1, max(offsets) + 1
    for bits in (8, 16, 32):
        element = integer(bits)
        if element.limits[0] <= low and high <= element.limits[1]:
            break
    else:
        return None
    if len(offsets) * bits > native_bits:
        return None
    bound = cast(element, clamp(limit, low, high))
    return Binary(op, constants(offsets, bits), broadcast(bound, len(offsets)))


def known_lanes(e: Binary) -> list[bool] | None:
    """The lanes of a comparison of constants."""
    x, y = constant_lanes(e.a), constant_lanes(e.b)
    if x is None or y is None or not e.a.type.element.is_int:
        return None
    tests = {
        Op.LT: int.__lt__, Op.LE: int.__le__, Op.GT: int.__gt__, Op.GE: int.__ge__,
        Op.EQ: int.__eq__, Op.NE: int.__ne__,
    }  # fmt: skip
    return [bool(tests[e.op](a, b)) for a, b in zip(x, y, strict=True)]

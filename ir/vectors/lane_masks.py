"""Comparisons of positions, such as `x + lane < W`, as comparisons of small constants.

    ramp(x, 1, 16) < broadcast(W, 16)   ->   ramp(0, 1, 16) < broadcast(i16(clamp(W - x, 0, 16)), 16)

so that no vector of 64-bit positions is formed and a backend can print a mask of n lanes.
"""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, broadcast, cast, clamp, ramp, sub
from hbc.ir.lang.types import I64
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.take import constants, integer


def narrow_masks(e: ir.Expr, native_bits: int) -> ir.Expr:
    """One node; to be applied bottom-up. Vectors have at most `native_bits` bits."""
    if not (isinstance(e, ir.Binary) and e.op in ir.COMPARISONS and e.type.lanes > 1):
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


def _prefix(op: ir.Op, offsets: tuple[int, ...], limit: ir.Expr) -> ir.Expr | None:
    """Lanes that count up by one, compared with a limit: the first few of them."""
    lanes = len(offsets)
    if offsets != tuple(range(offsets[0], offsets[0] + lanes)) or op in (ir.Op.EQ, ir.Op.NE):
        return None
    first = sub(limit, offsets[0])
    if op in (ir.Op.LE, ir.Op.GT):
        first = add(first, 1)
    inside = first_lanes(first, lanes)
    return inside if op in (ir.Op.LT, ir.Op.LE) else ir.Unary(ir.UnaryOp.NOT, inside)


def first_lanes(count: ir.Expr, lanes: int) -> ir.Expr:
    """The mask of the first `count` of so many lanes."""
    element = integer(8 if lanes <= 64 else 16 if lanes <= 1024 else 32)
    line = ramp(cast(element, ir.const_index(0)), 1, lanes)
    bound = cast(element, clamp(count, 0, lanes))
    return ir.Binary(ir.Op.LT, line, broadcast(bound, lanes))


def first_lanes_count(e: ir.Expr) -> ir.Expr | None:
    """n, when `e` is the mask of the first n lanes as `first_lanes` writes it (n may be outside)."""
    match e:
        case ir.Binary(op=ir.Op.LT, a=ir.Ramp(base=ir.Const(value=0), stride=ir.Const(value=1)),
                    b=ir.Broadcast(value=ir.Cast(value=count))):  # fmt: skip
            match count:
                case ir.Binary(op=ir.Op.MAX, a=ir.Binary(op=ir.Op.MIN, a=n, b=ir.Const(value=most)),
                            b=ir.Const(value=0)) if most == e.type.lanes:  # fmt: skip
                    return n
                case _:
                    return count
        case _:
            return None


def _small(op: ir.Op, offsets: tuple[int, ...], limit: ir.Expr, native_bits: int) -> ir.Expr | None:
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
    return ir.Binary(op, constants(offsets, element), broadcast(bound, len(offsets)))


def possible_lanes(e: ir.Expr) -> list[bool]:
    """Which lanes of a mask may be live, for all that its constants tell."""
    match e:
        case ir.Binary(op=ir.Op.AND | ir.Op.OR as op, a=a, b=b):
            pairs = zip(possible_lanes(a), possible_lanes(b), strict=True)
            return [x and y if op is ir.Op.AND else x or y for x, y in pairs]
        case ir.Binary(op=op) if op in ir.COMPARISONS and (known := known_lanes(e)):
            return known
        case ir.Unary(a=ir.Binary(op=op) as a) if op in ir.COMPARISONS and (
            known := known_lanes(a)
        ):
            return [not x for x in known]
        case ir.Broadcast(value=ir.Const(value=False)):
            return [False] * e.type.lanes
        case _:
            return [True] * e.type.lanes


def known_lanes(e: ir.Binary) -> list[bool] | None:
    """The lanes of a comparison of constants."""
    x, y = constant_lanes(e.a), constant_lanes(e.b)
    if x is None or y is None or not e.a.type.element.is_int:
        return None
    tests = {
        ir.Op.LT: int.__lt__, ir.Op.LE: int.__le__, ir.Op.GT: int.__gt__, ir.Op.GE: int.__ge__,
        ir.Op.EQ: int.__eq__, ir.Op.NE: int.__ne__,
    }  # fmt: skip
    return [bool(tests[e.op](a, b)) for a, b in zip(x, y, strict=True)]

"""An index vector as a scalar and what each lane adds to it, when that is constant."""

from __future__ import annotations

from hbc.ir.algebra.form import Linear, to_expr
from hbc.ir.algebra.linear import linear
from hbc.ir.lang import fold
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const, const_value, mul, sub
from hbc.ir.lang.types import I64

MOST_SHIFTED = 62  # bits of i64, whose powers of two are positive

Offsets = tuple[int, ...]
_FOLDED = (ir.Op.MIN, ir.Op.MAX, ir.Op.DIV, ir.Op.MOD, ir.Op.SHR, ir.Op.AND)


def lane_offsets(e: ir.Expr) -> tuple[ir.Expr, Offsets] | None:
    """(base, offsets) with lane l of the integer vector `e` equal to base + offsets[l]; None when
    lanes differ by something that is not constant."""
    if e.type.lanes == 1:
        return e, (0,)
    match e:
        case ir.Broadcast(value=v, lanes=lanes):
            inner = lane_offsets(v)
            return None if inner is None else (inner[0], inner[1] * lanes)
        case ir.Gather(value=v, lanes=picks):
            inner = lane_offsets(v)
            if inner is None or min(picks) < 0:
                return None
            return inner[0], tuple(inner[1][p] for p in picks)
        case ir.Ramp(base=base, stride=stride, lanes=lanes):
            inner, step = lane_offsets(base), constant_lanes(stride)
            if inner is None or step is None:
                return None
            if len(step) == 1 and step[0]:
                return inner[0], tuple(range(0, lanes * step[0], step[0]))
            return inner[0], tuple(
                o + i * s for i in range(lanes) for o, s in zip(inner[1], step, strict=True)
            )
        case ir.Binary(op=op, a=a, b=b) if op in (ir.Op.ADD, ir.Op.SUB, ir.Op.MUL):
            return _combine(op, a, b)
        case ir.Binary(op=op, a=a, b=b) if op in _FOLDED:
            x, y = constant_lanes(a), constant_lanes(b)
            if y is not None and x is None:
                return _divided(op, a, y)
            if x is None or y is None:
                return None
            t = e.type.element
            offsets = [fold.binary(op, p, q, t) for p, q in zip(x, y, strict=True)]
            return const(0, t), tuple(int(v or 0) for v in offsets)
        case _:
            return None


def _combine(op: ir.Op, a: ir.Expr, b: ir.Expr) -> tuple[ir.Expr, Offsets] | None:
    x, y = lane_offsets(a), lane_offsets(b)
    if x is None or y is None:
        return None
    if op is ir.Op.MUL:
        factor = const_value(b)
        if factor is None:
            return None
        return mul(x[0], int(factor)), tuple(o * int(factor) for o in x[1])
    if op is ir.Op.ADD:
        return add(x[0], y[0]), tuple(p + q for p, q in zip(x[1], y[1], strict=True))
    return sub(x[0], y[0]), tuple(p - q for p, q in zip(x[1], y[1], strict=True))


def _divided(op: ir.Op, a: ir.Expr, by: Offsets) -> tuple[ir.Expr, Offsets] | None:
    """(8 x + 3 + offsets) / 2 is 4 x + (3 + offsets) / 2: what is not constant is a multiple of the divisor.
    Shifts and what masks leave of the low bits are such quotients and remainders."""
    known, d = lane_offsets(a), by[0]
    if set(by) != {d}:
        return None
    if op is ir.Op.SHR and 0 <= d < MOST_SHIFTED:
        op, d = ir.Op.DIV, 1 << d
    elif op is ir.Op.AND and d & (d + 1) == 0:
        op, d = ir.Op.MOD, d + 1
    if known is None or d <= 0 or a.type.element != I64:
        return None
    if op not in (ir.Op.DIV, ir.Op.MOD):
        return None
    form = linear(known[0])
    if any(c % d for _, c in form.terms):
        return None
    left = [form.constant + o for o in known[1]]
    if op is ir.Op.MOD:
        return const(0, I64(1)), tuple(n % d for n in left)
    quotient = Linear(0, tuple((atom, c // d) for atom, c in form.terms), form.keys)
    return to_expr(quotient), tuple(n // d for n in left)


def constant_lanes(e: ir.Expr) -> Offsets | None:
    """The lanes of a vector of known integers, wrapped to its type."""
    known = lane_offsets(e) if e.type.element.is_int else None
    if known is None:
        return None
    base = const_value(known[0])
    if base is None:
        return None
    first, offsets = int(base), known[1]
    low, high = e.type.element.limits
    if low <= first + min(offsets) and first + max(offsets) <= high:
        return offsets if first == 0 else tuple(first + o for o in offsets)
    return tuple((first + o - low) % (high - low + 1) + low for o in offsets)

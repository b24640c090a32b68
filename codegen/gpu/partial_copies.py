"""Copies at the edges of arrays: the first of some neighbouring elements, and zeros behind them.

    if i < m { s[ramp(j, 1, 8)] = a.f16[ramp(k, 1, 8) if ramp(k, 1, 8) < x8(n)] } else { s[..] = x8(0) }
->  s[ramp(j, 1, 8)] = a.f16[ramp(k, 1, 8) if ramp(0, 1, 8) < x8(select(i < m, clamp(n - k, 0, 8), 0))]

An asynchronous copy takes the number of elements, so that edges need no code of their own.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang.build import add, const_value, lt, maximum, minimum, select, sub
from hbc.ir.lang.nodes import Binary, Broadcast, Expr, If, Load, Op, Ramp, Stmt, Store, const_index
from hbc.ir.lang.types import INDEX
from hbc.ir.vectors.lane_offsets import lane_offsets


def partial_copy(s: Stmt) -> Store | None:
    """The one masked copy that does what the statement does; None where it is no such copy."""
    match s:
        case Store(mask=None, value=Load(mask=mask) as load) if (
            load.type.lanes > 1 and mask is not None
        ):
            count = _live(mask)
            return None if count is None else _copy(s, load, count)
        case If(
            condition=c, then=Store(mask=None, value=Load() as load) as then, otherwise=Store() as o
        ):
            if load.type.lanes == 1 or not _is_zeros(o, then):
                return None
            lanes = const_index(load.type.lanes)
            count = lanes if load.mask is None else _live(load.mask)
            return None if count is None else _copy(then, load, select(c, count, const_index(0)))
        case _:
            return None


def live_count(mask: Expr | None) -> Expr | None:
    """How many lanes are live, of the mask of such a copy; None for others."""
    match mask:
        case Binary(op=Op.LT, a=Ramp(base=base, stride=stride), b=Broadcast(value=count)) if (
            const_value(base) == 0 and const_value(stride) == 1 and count.type.lanes == 1
        ):
            return count
        case _:
            return None


def _copy(s: Store, load: Load, count: Expr) -> Store:
    lanes = load.type.lanes
    first = lt(Ramp(const_index(0), const_index(1), lanes), Broadcast(simplify(count), lanes))
    return replace(s, value=replace(load, mask=first))


def _is_zeros(s: Store, like: Store) -> bool:
    """Whether the statement puts zeros where the other copies to."""
    value = s.value.value if isinstance(s.value, Broadcast) else s.value
    same = (s.buffer, s.index, s.mask) == (like.buffer, like.index, like.mask)
    return same and const_value(value) == 0


def _live(mask: Expr) -> Expr | None:
    """How many lanes are live, where these are the first ones."""
    lanes = mask.type.lanes
    match mask:
        case Broadcast(value=value) if value.type.lanes == 1:
            return select(value, const_index(lanes), const_index(0))
        case Binary(op=Op.AND, a=a, b=b):
            x, y = _live(a), _live(b)
            return None if x is None or y is None else minimum(x, y)
        case Binary(op=Op.LT | Op.LE as op, a=a, b=b) if a.type.element == INDEX.element:
            return _below(op, a, b)
        case Binary(op=Op.GT | Op.GE as op, a=a, b=b) if a.type.element == INDEX.element:
            return _below(Op.LT if op is Op.GT else Op.LE, b, a)
        case _:
            return None


def _below(op: Op, a: Expr, b: Expr) -> Expr | None:
    """How many lanes of `a` are below those of `b`, or not above, where each lane gains 1 on these."""
    left, right = lane_offsets(a), lane_offsets(b)
    if left is None or right is None:
        return None
    apart = [p - q for p, q in zip(left[1], right[1], strict=True)]
    if apart != list(range(apart[0], apart[0] + len(apart))):
        return None
    room = sub(right[0], add(left[0], apart[0] - (op is Op.LE)))
    return maximum(minimum(room, len(apart)), 0)

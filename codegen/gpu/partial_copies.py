"""Copies at the edges of arrays: the first of some neighbouring elements, and zeros behind them.

    if i < m { s[ramp(j, 1, 8)] = a.f16[ramp(k, 1, 8) if ramp(k, 1, 8) < x8(n)] } else { s[..] = x8(0) }
->  s[ramp(j, 1, 8)] = a.f16[ramp(k, 1, 8) if ramp(0, 1, 8) < x8(select(i < m, clamp(n - k, 0, 8), 0))]

An asynchronous copy takes the number of elements, so that edges need no code of their own.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, lt, maximum, minimum, select, sub
from hbc.ir.lang.types import INDEX
from hbc.ir.vectors.lane_offsets import lane_offsets


def partial_copy(s: ir.Stmt) -> ir.Store | None:
    """The one masked copy that does what the statement does; None where it is no such copy."""
    match s:
        case ir.Store(mask=None, value=ir.Load(mask=mask) as load) if (
            load.type.lanes > 1 and mask is not None
        ):
            count = _live(mask)
            return None if count is None else _copy(s, load, count)
        case ir.If(
            condition=c,
            then=ir.Store(mask=None, value=ir.Load() as load) as then,
            otherwise=ir.Store() as o,
        ):
            if load.type.lanes == 1 or not _is_zeros(o, then):
                return None
            lanes = ir.const_index(load.type.lanes)
            count = lanes if load.mask is None else _live(load.mask)
            return None if count is None else _copy(then, load, select(c, count, ir.const_index(0)))
        case _:
            return None


def live_count(mask: ir.Expr | None) -> ir.Expr | None:
    """How many lanes are live, of the mask of such a copy; None for others."""
    match mask:
        case ir.Binary(
            op=ir.Op.LT, a=ir.Ramp(base=base, stride=stride), b=ir.Broadcast(value=count)
        ) if const_value(base) == 0 and const_value(stride) == 1 and count.type.lanes == 1:
            return count
        case _:
            return None


def _copy(s: ir.Store, load: ir.Load, count: ir.Expr) -> ir.Store:
    lanes = load.type.lanes
    first = lt(
        ir.Ramp(ir.const_index(0), ir.const_index(1), lanes), ir.Broadcast(simplify(count), lanes)
    )
    return replace(s, value=replace(load, mask=first))


def _is_zeros(s: ir.Store, like: ir.Store) -> bool:
    """Whether the statement puts zeros where the other copies to."""
    value = s.value.value if isinstance(s.value, ir.Broadcast) else s.value
    same = (s.buffer, s.index, s.mask) == (like.buffer, like.index, like.mask)
    return same and const_value(value) == 0


def _live(mask: ir.Expr) -> ir.Expr | None:
    """How many lanes are live, where these are the first ones."""
    lanes = mask.type.lanes
    match mask:
        case ir.Broadcast(value=value) if value.type.lanes == 1:
            return select(value, ir.const_index(lanes), ir.const_index(0))
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            x, y = _live(a), _live(b)
            return None if x is None or y is None else minimum(x, y)
        case ir.Binary(op=ir.Op.LT | ir.Op.LE as op, a=a, b=b) if a.type.element == INDEX.element:
            return _below(op, a, b)
        case ir.Binary(op=ir.Op.GT | ir.Op.GE as op, a=a, b=b) if a.type.element == INDEX.element:
            return _below(ir.Op.LT if op is ir.Op.GT else ir.Op.LE, b, a)
        case _:
            return None


def _below(op: ir.Op, a: ir.Expr, b: ir.Expr) -> ir.Expr | None:
    """How many lanes of `a` are below those of `b`, or not above, where each lane gains 1 on these."""
    left, right = lane_offsets(a), lane_offsets(b)
    if left is None or right is None:
        return None
    apart = [p - q for p, q in zip(left[1], right[1], strict=True)]
    if apart != list(range(apart[0], apart[0] + len(apart))):
        return None
    room = sub(right[0], add(left[0], apart[0] - (op is ir.Op.LE)))
    return maximum(minimum(room, len(apart)), 0)

"""When all lanes of a mask are live, as a condition.

ramp(x, 1, 8) < x8(n) & x8(c)   ->   x + 7 < n & c
"""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, binary
from hbc.ir.lang.types import INDEX
from hbc.ir.vectors.lane_offsets import lane_offsets


def all_live(mask: ir.Expr) -> ir.Expr | None:
    """None where no scalar condition says so."""
    match mask:
        case ir.Broadcast(value=value) if value.type.lanes == 1:
            return value
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            x, y = all_live(a), all_live(b)
            return None if x is None or y is None else and_(x, y)
        case ir.Binary(op=ir.Op.LT | ir.Op.LE | ir.Op.GT | ir.Op.GE as op, a=a, b=b):
            if a.type.element != INDEX.element:
                return None
            left, right = lane_offsets(a), lane_offsets(b)
            if left is None or right is None:
                return None
            apart = [p - q for p, q in zip(left[1], right[1], strict=True)]
            farthest = max(apart) if op in (ir.Op.LT, ir.Op.LE) else min(apart)
            return binary(op, add(left[0], farthest), right[0])
        case _:
            return None

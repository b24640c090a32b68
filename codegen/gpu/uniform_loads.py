"""Places that data gives are loaded once for the lanes of a copy, not for each live one.

    a[x8(8 * p.i32[x8(c) if m]) + ramp(0, 1, 8) if m]   ->   a[ramp(8 * p.i32[c if m_0], 1, 8) if m]

Where the first lane is live if any is, its part `m_0` of the mask says whether to load the place: what dead
lanes find there is not read. The copy is one of neighbours then.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.algebra.lane_at import at_lane
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import contains, map_stmt, rewrite
from hbc.ir.vectors.lane_offsets import lane_offsets


def uniform_loads(kernel: Kernel) -> Kernel:
    """The kernel with such loads inside of the indices of masked vectors."""
    return kernel.map_body(_stmt)


def _stmt(s: ir.Stmt) -> ir.Stmt:
    return map_stmt(s, lambda e: rewrite(e, _load), _stmt)


def _load(e: ir.Expr) -> ir.Expr:
    if not isinstance(e, ir.Load) or e.mask is None or e.type.lanes == 1:
        return e
    if not contains(e.index, ir.Load) or not _begins_live(e.mask):
        return e
    mask = e.mask
    first = at_lane(mask, ir.const_index(0))

    def once(inner: ir.Expr) -> ir.Expr:
        if not isinstance(inner, ir.Load) or inner.mask != mask:
            return inner
        if not isinstance(inner.index, ir.Broadcast) or inner.index.value.type.lanes > 1:
            return inner
        load = replace(inner, index=inner.index.value, type=inner.type.with_lanes(1), mask=first)
        return ir.Broadcast(load, inner.type.lanes)

    index = rewrite(e.index, once)
    return e if index is e.index else replace(e, index=simplify(index))


def _begins_live(mask: ir.Expr) -> bool:
    """Whether the first lane is live wherever any lane is."""
    match mask:
        case ir.Broadcast():
            return True
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            return _begins_live(a) and _begins_live(b)
        case ir.Binary(op=ir.Op.LT | ir.Op.LE | ir.Op.GT | ir.Op.GE as op, a=a, b=b):
            if a.type.element != INDEX.element:
                return False
            left, right = lane_offsets(a), lane_offsets(b)
            if left is None or right is None:
                return False
            apart = [p - q for p, q in zip(left[1], right[1], strict=True)]
            return apart[0] == (min(apart) if op in (ir.Op.LT, ir.Op.LE) else max(apart))
        case _:
            return False

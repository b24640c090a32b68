"""How many bits the widest lane of a vector computation needs."""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, I64
from hbc.ir.lang.walk import children
from hbc.ir.vectors.lane_offsets import lane_offsets


def widest_bits(e: ir.Expr) -> int:
    """Bits of the widest element among the vector values that `e` is computed from. Addresses do
    not count, nor do comparisons of loop variables, which become masks without wide vectors."""
    widest = 8
    stack = [e]
    while stack:
        top = stack.pop()
        if top.type.lanes > 1 and top.type.element != BOOL:
            widest = max(widest, top.type.element.bits)
        match top:
            case ir.Load(mask=mask):
                stack += [] if mask is None else [mask]
            case ir.Binary(op=op) if op in ir.COMPARISONS and is_position(top):
                pass
            case _:
                stack += [c for c in children(top) if isinstance(c, ir.Expr)]
    return widest


def is_position(e: ir.Binary) -> bool:
    """A comparison of i64 vectors whose lanes differ by constants, such as `x + lane < W`."""
    return e.a.type.element == I64 and None not in (lane_offsets(e.a), lane_offsets(e.b))

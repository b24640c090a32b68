"""Loads from small tables of bytes at places that depend on data, and those places as bytes.

t[i64(i32(x[..]) & 63)]   where `t` has 64 bytes   ->   x[..] & 63, as bytes, each within the table
"""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import ARM, X86, Target
from hbc.ir.lang.types import I8, U8
from hbc.ir.vectors.stored_ranges import lane_range

BLOCK = 16  # bytes that one instruction looks up in
MOST_BLOCKS = 8  # an index then has its highest bit free
WRAPPING = (ir.Op.ADD, ir.Op.SUB, ir.Op.AND, ir.Op.OR, ir.Op.XOR)
POWERS = tuple(1 << n for n in range(8))
ORDERED = (ir.Op.MIN, ir.Op.MAX)


def is_in_byte_table(e: ir.Load, extent: int, target: Target) -> bool:
    """Whether the load of any lanes reads what the target looks up in registers: bytes of an array of
    `extent` of them, whole blocks, at places that are proven to be inside."""
    if target.machine not in (X86, ARM) or target.vector_bits == 0:
        return False
    if e.type.element not in (I8, U8) or extent % BLOCK or not 0 < extent <= BLOCK * MOST_BLOCKS:
        return False
    low, high = lane_range(e.index, {})
    if low is None or high is None or low < 0 or high >= extent:
        return False
    return byte_places(e.index) is not None


def byte_places(e: ir.Expr) -> ir.Expr | None:
    """The index, whose values fit a byte, computed in u8. None where wider parts are needed."""
    to = U8(e.type.lanes)
    match e:
        case ir.Const(value=v):
            return ir.Const(int(v) & 255, to)
        case ir.Broadcast(value=ir.Const(value=v), lanes=lanes):
            return ir.Broadcast(ir.Const(int(v) & 255, U8(1)), lanes)
        case ir.Cast(value=v) if v.type.element.is_int:
            return byte_places(v)
        case ir.Binary(op=ir.Op.MOD, a=a, b=ir.Const(value=n)) if n in POWERS:
            return _both(ir.Op.AND, a, ir.Const(n - 1, a.type))
        case ir.Binary(op=op, a=a, b=b) if op in WRAPPING:
            return _both(op, a, b)
        case ir.Binary(op=op, a=a, b=b) if op in ORDERED and _is_byte(a) and _is_byte(b):
            return _both(op, a, b)
        case ir.Load() | ir.Var() if e.type.element in (I8, U8):
            return e if e.type == to else ir.Cast(to, e)
        case _:
            return None


def _both(op: ir.Op, a: ir.Expr, b: ir.Expr) -> ir.Expr | None:
    x, y = byte_places(a), byte_places(b)
    return None if x is None or y is None else ir.Binary(op, x, y)


def _is_byte(e: ir.Expr) -> bool:
    low, high = lane_range(e, {})
    return low is not None and high is not None and low >= 0 and high <= 255

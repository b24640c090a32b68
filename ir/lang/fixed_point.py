"""Operators of integers that processors have in one instruction, and that the language spells with wider
integers: their exact meaning, on Python's integers. Results wrap in the type.

The names are those of Halide where it has them; the instructions are PMULHW, PMULHRSW, PAVGB, PADDSB, .. of
Intel's SDM, vol. 2, and SHADD, SRHADD, SABD, SQADD, .. of Arm's ARM (DDI 0487).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType, Kind

MOST_BITS: Final = 32
"""Their exact results fit twice as many bits, which wider types would not have."""


def _saturated(value: int, t: DType) -> int:
    low, high = t.limits
    return max(low, min(value, high))


FIXED_POINT: Final[Mapping[ir.Op, Callable[[int, int, DType], int]]] = {
    ir.Op.MULHI: lambda a, b, t: a * b >> t.bits,
    ir.Op.MULROUND: lambda a, b, t: (a * b + (1 << (t.bits - 2))) >> (t.bits - 1),
    ir.Op.AVG: lambda a, b, t: (a + b) >> 1,
    ir.Op.AVGUP: lambda a, b, t: (a + b + 1) >> 1,
    ir.Op.ABSD: lambda a, b, t: abs(a - b),
    ir.Op.ADDSAT: lambda a, b, t: _saturated(a + b, t),
    ir.Op.SUBSAT: lambda a, b, t: _saturated(a - b, t),
}


def has_fixed_point(op: ir.Op, t: DType) -> bool:
    """Whether there is this operator of the type."""
    signed = op is ir.Op.MULROUND
    return t.is_int and t.bits <= MOST_BITS and (not signed or t.kind is Kind.INT)

"""Identities of the associative operators: where reductions start and dead lanes stay."""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DType


def identity_of(op: ir.Op | None, element: DType) -> ir.Const:
    """The value that leaves others unchanged under `op`."""
    lowest, highest = element.ends
    zero: int | float = 0.0 if element.is_float else 0
    values: dict[ir.Op | None, int | float] = {
        ir.Op.ADD: zero, ir.Op.OR: 0, ir.Op.XOR: 0, ir.Op.MUL: zero + 1,
        ir.Op.MIN: highest, ir.Op.MAX: lowest,
        ir.Op.AND: -1 if element.limits[0] < 0 else element.limits[1],
    }  # fmt: skip
    value = values[op]
    return ir.Const(bool(value) if element == BOOL else value, element(1))

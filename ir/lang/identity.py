"""Identities of the associative operators: where reductions start and dead lanes stay."""

from __future__ import annotations

import math

from hbc.ir.lang.nodes import Const, Op
from hbc.ir.lang.types import BOOL, DType


def identity_of(op: Op | None, element: DType) -> Const:
    """The value that leaves others unchanged under `op`."""
    lowest: int | float = -math.inf if element.is_float else element.limits[0]
    highest: int | float = math.inf if element.is_float else element.limits[1]
    zero: int | float = 0.0 if element.is_float else 0
    values: dict[Op | None, int | float] = {
        Op.ADD: zero, Op.OR: 0, Op.XOR: 0, Op.MUL: zero + 1, Op.MIN: highest, Op.MAX: lowest,
        Op.AND: -1 if element.limits[0] < 0 else element.limits[1],
    }  # fmt: skip
    value = values[op]
    return Const(bool(value) if element == BOOL else value, element(1))

"""Integer expressions evaluated on whole arrays of what their names may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import I64

_OPERATIONS: Mapping[ir.Op, Any] = {
    ir.Op.ADD: np.add, ir.Op.SUB: np.subtract, ir.Op.MUL: np.multiply, ir.Op.MIN: np.minimum,
    ir.Op.MAX: np.maximum, ir.Op.AND: np.bitwise_and, ir.Op.OR: np.bitwise_or, ir.Op.XOR: np.bitwise_xor,
    ir.Op.SHL: np.left_shift, ir.Op.SHR: np.right_shift, ir.Op.LT: np.less, ir.Op.LE: np.less_equal,
    ir.Op.GT: np.greater, ir.Op.GE: np.greater_equal, ir.Op.EQ: np.equal, ir.Op.NE: np.not_equal,
}  # fmt: skip


def evaluated(e: ir.Expr, values: Mapping[str, Any]) -> Any:
    """An integer expression of these names on whole arrays; None for what reads memory."""
    match e:
        case ir.Const(value=value):
            return np.int64(value)
        case ir.Var(name=name):
            return values.get(name)
        case ir.Cast(type=t, value=v) if t.element == I64:
            return evaluated(v, values)
        case ir.Binary(op=op, a=a, b=b):
            x, y = evaluated(a, values), evaluated(b, values)
            if x is None or y is None:
                return None
            if op in (ir.Op.DIV, ir.Op.MOD):
                safe = np.where(np.equal(y, 0), 1, y)
                made = np.floor_divide(x, safe) if op is ir.Op.DIV else np.mod(x, safe)
                return np.where(np.equal(y, 0), 0, made)
            return _OPERATIONS[op](x, y)
        case ir.Select(condition=condition, a=a, b=b):
            parts = [evaluated(x, values) for x in (condition, a, b)]
            return None if any(x is None for x in parts) else np.where(*parts)
        case _:
            return None

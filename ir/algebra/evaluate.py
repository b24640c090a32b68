"""Integer expressions evaluated on whole arrays of what their names may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hbc.ir.lang.nodes import Binary, Cast, Const, Expr, Op, Select, Var

_OPERATIONS: Mapping[Op, Any] = {
    Op.ADD: np.add, Op.SUB: np.subtract, Op.MUL: np.multiply, Op.MIN: np.minimum,
    Op.MAX: np.maximum, Op.AND: np.bitwise_and, Op.OR: np.bitwise_or, Op.XOR: np.bitwise_xor,
    Op.SHL: np.left_shift, Op.SHR: np.right_shift, Op.LT: np.less, Op.LE: np.less_equal,
    Op.GT: np.greater, Op.GE: np.greater_equal, Op.EQ: np.equal, Op.NE: np.not_equal,
}  # fmt: skip


def evaluated(e: Expr, values: Mapping[str, Any]) -> Any:
    """An integer expression of these names on whole arrays; None for what reads memory."""
    match e:
        case Const(value=value):
            return np.int64(value)
        case Var(name=name):
            return values.get(name)
        case Cast(type=t, value=v) if t.element.is_int and t.element.bits == 64:
            return evaluated(v, values)
        case Binary(op=op, a=a, b=b):
            x, y = evaluated(a, values), evaluated(b, values)
            if x is None or y is None:
                return None
            if op in (Op.DIV, Op.MOD):
                safe = np.where(np.equal(y, 0), 1, y)
                made = np.floor_divide(x, safe) if op is Op.DIV else np.mod(x, safe)
                return np.where(np.equal(y, 0), 0, made)
            return _OPERATIONS[op](x, y)
        case Select(condition=condition, a=a, b=b):
            parts = [evaluated(x, values) for x in (condition, a, b)]
            return None if any(x is None for x in parts) else np.where(*parts)
        case _:
            return None

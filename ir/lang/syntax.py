"""How expressions are written: the tables that `show` writes by and `read` reads by."""

from __future__ import annotations

from typing import Final

from hbc.ir.lang import nodes as ir

# From the weakest; operators of one level group to the left, comparisons not at all.
_LEVELS: Final = (
    (ir.Op.OR,),
    (ir.Op.XOR,),
    (ir.Op.AND,),
    (ir.Op.EQ, ir.Op.NE, ir.Op.LT, ir.Op.LE, ir.Op.GT, ir.Op.GE),
    (ir.Op.SHL, ir.Op.SHR),
    (ir.Op.ADD, ir.Op.SUB),
    (ir.Op.MUL, ir.Op.DIV, ir.Op.MOD),
)
PRECEDENCE: Final = {op: level for level, ops in enumerate(_LEVELS, 1) for op in ops}
"""Of the operators between their operands; the others are written like calls."""
COMPARISON_LEVEL: Final = PRECEDENCE[ir.Op.EQ]
UNARY_LEVEL: Final = len(_LEVELS) + 1

CALLS: Final[dict[str, tuple[type[ir.Expr], dict[str, str]]]] = {
    "select": (ir.Select, {"condition": "Expr", "a": "Expr", "b": "Expr"}),
    "ramp": (ir.Ramp, {"base": "Expr", "stride": "Expr", "lanes": "int"}),
    "reduce": (ir.VectorReduce, {"value": "Expr", "lanes": "int"}),
    "gather": (ir.Gather, {"value": "Expr", "lanes": "ints"}),
}
"""Nodes that are written `name(field, ..)`, and what each field holds. With an operator: `reduce<+>(..)`."""
NAMES: Final = {cls: name for name, (cls, _) in CALLS.items()}

"""What a call at given sizes runs of a program for all sizes.

A schedule makes loops for whole pieces and for rests of them; the sizes decide which of these a call takes.
While candidates are compared at one set of sizes, the others need not be compiled. What is left is what it is
in the whole program: sizes stay names, conditions that hold stay, for what is known because of them.

    if n % 4 == 0 { A } else { B }    ->  n = 64:  if n % 4 == 0 { A }
    let r = n % 4 in if 0 < r { T }   ->  n = 64:  nothing
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.frontend.program.constants import index_value
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import not_
from hbc.ir.lang.types import CONDITION, INDEX
from hbc.ir.lang.walk import map_stmt

NOTHING = ir.Block(())


def taken(s: ir.Stmt, values: Mapping[str, int]) -> ir.Stmt:
    """The statement without branches and loops that do nothing where names have these values; the same object
    where there are none."""
    match s:
        case ir.If():
            s = _branch(s, values)
        case ir.For(extent=extent) if (count := _value(extent, values)) is not None:
            s = s if count > 0 else NOTHING
        case ir.LetStmt(name=name, value=value) if (n := _value(value, values)) is not None:
            values = {**values, name: n}
    return map_stmt(s, lambda e: e, lambda c: taken(c, values))


def _branch(s: ir.If, values: Mapping[str, int]) -> ir.Stmt:
    """The side that is taken, under what holds there; both where that is not known."""
    holds = _value(s.condition, values)
    if holds is None or (holds and s.otherwise is None):
        return s
    if holds:
        return replace(s, otherwise=None)
    return NOTHING if s.otherwise is None else ir.If(not_(s.condition), s.otherwise, span=s.span)


def _value(e: ir.Expr, values: Mapping[str, int]) -> int | None:
    """Of an index or a condition; None where that depends on more than is known."""
    return index_value(e, values) if e.type in (INDEX, CONDITION) else None

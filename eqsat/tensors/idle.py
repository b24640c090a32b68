"""Instructions that add nothing: in the rest of a sum, steps of which all products are beyond its end."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.walk import map_stmt


def without_idle(s: ir.Stmt, instructions: Sequence[Instruction]) -> ir.Stmt:
    """The statement less the instructions that have zeros for a factor and sum where they began."""
    factors = {i.name: (i.accumulator, i.factors) for i in instructions}

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Store):
            return ir.Block(()) if _is_idle(s, factors) else s
        new = map_stmt(s, _same, stmt)
        return ir.Block(()) if isinstance(new, ir.For) and new.body == ir.Block(()) else new

    return stmt(s)


def _is_idle(s: ir.Store, factors: dict[str, tuple[int, tuple[int, ...]]]) -> bool:
    if not isinstance(s.value, ir.Instruct):
        return False
    accumulator, own = factors[s.value.name]
    start = s.value.args[accumulator]
    same = isinstance(start, ir.Load) and (start.buffer, start.index) == (s.buffer, s.index)
    return same and any(const_value(s.value.args[n]) == 0 for n in own)


def _same(e: ir.Expr) -> ir.Expr:
    return e

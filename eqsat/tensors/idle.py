"""Instructions that add nothing: in the rest of a sum, steps of which all products are beyond its end."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.nodes import Block, Expr, For, Instruct, Load, Stmt, Store
from hbc.ir.lang.walk import map_stmt


def without_idle(s: Stmt, instructions: Sequence[Instruction]) -> Stmt:
    """The statement less the instructions that have zeros for a factor and sum where they began."""
    factors = {i.name: (i.accumulator, i.factors) for i in instructions}

    def stmt(s: Stmt) -> Stmt:
        if isinstance(s, Store):
            return Block(()) if _is_idle(s, factors) else s
        new = map_stmt(s, _same, stmt)
        return Block(()) if isinstance(new, For) and new.body == Block(()) else new

    return stmt(s)


def _is_idle(s: Store, factors: dict[str, tuple[int, tuple[int, ...]]]) -> bool:
    if not isinstance(s.value, Instruct):
        return False
    accumulator, own = factors[s.value.name]
    start = s.value.args[accumulator]
    same = isinstance(start, Load) and (start.buffer, start.index) == (s.buffer, s.index)
    return same and any(const_value(s.value.args[n]) == 0 for n in own)


def _same(e: Expr) -> Expr:
    return e

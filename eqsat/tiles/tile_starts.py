"""Tiles that are copied before anything was stored to them: they begin as zeros.

    if n >= 2 { acc_1 = 0; ... }   copy[..] = acc_1   ->   acc_1 = 0; if n >= 2 { acc_1 = 0; ... } ...

A tail has no use for some of its tiles, and stores to these under a condition; a copy of all tiles of a
buffer moves them too. Nobody reads their elements, but a register that nobody wrote may not be stored.
"""

from __future__ import annotations

from dataclasses import field

from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import not_
from hbc.ir.lang.walk import inner_statements, nodes, own_expressions


def may_begin_unknown(s: ir.Stmt, buffer: str) -> bool:
    """Whether the buffer may be loaded from where no store was before. Loops go around at least once:
    what is stored in one that does not was for nobody."""
    return not _Walk(buffer).follows(s, ())


@mutable
class _Walk:
    """`stored`: the conditions around each store so far."""

    buffer: str
    stored: list[frozenset[ir.Expr]] = field(default_factory=list)

    def follows(self, s: ir.Stmt, around: tuple[ir.Expr, ...]) -> bool:
        """Whether every load of the statement comes after a store under the same conditions, or fewer."""
        if any(self._loads(e) for e in own_expressions(s)) and not self._is_stored(around):
            return False
        match s:
            case ir.Store(buffer=buffer) if buffer == self.buffer:
                self.stored.append(frozenset(around))
                return True
            case ir.If(condition=condition, then=then, otherwise=other):
                first = self.follows(then, (*around, condition))
                return first and (other is None or self.follows(other, (*around, not_(condition))))
            case ir.Block(body=body):
                return all(self.follows(c, around) for c in body)
            case _:
                return all(self.follows(c, around) for c in inner_statements(s))

    def _loads(self, e: ir.Expr) -> bool:
        return any(isinstance(n, ir.Load) and n.buffer == self.buffer for n in nodes(e))

    def _is_stored(self, around: tuple[ir.Expr, ...]) -> bool:
        return any(conditions <= set(around) for conditions in self.stored)

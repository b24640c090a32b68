"""In which order the loops of a pack go around: along what is read, not across it.

Panels of columns of B[k, j] are used one after the other, and each in order of k. Filled in that order, every
row of a panel is in another page of memory: what the processor loads ahead is of no use. Where all panels are
filled together, whole rows are read, and each panel is still written from its start to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from hbc.ir.algebra.layout import layout
from hbc.ir.algebra.linear import factors, linear
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import free_variables, nodes, substitute

Outer = ir.For | ir.LetStmt | ir.If
"""Statements between a pack and its use. Of an If the condition alone counts: the use is in `then`."""


def along_rows(around: Sequence[Outer], body: ir.Stmt, made: str) -> Sequence[Outer]:
    """What is around the statements that fill the temporary `made`, outermost first, with the loops in the
    order of their steps through what is read, the longest first. As it was from the first loop of threads or
    condition outwards, and where the extent of a loop depends on another."""
    first = 1 + max((n for n, s in enumerate(around) if not _may_move(s)), default=-1)
    fixed, free = around[:first], around[first:]
    loops = [s for s in free if isinstance(s, ir.For)]
    lets = [s for s in free if isinstance(s, ir.LetStmt)]
    bound = {s.var for s in loops} | {s.name for s in lets}
    if any(bound & (free_variables(s.start) | free_variables(s.extent)) for s in loops):
        return around
    bases = list(_bases(lets, body, made))
    ordered = sorted(loops, key=lambda s: -max((_step(s.var, b) for b in bases), default=0.0))
    return around if ordered == loops else [*fixed, *ordered, *lets]


def _may_move(s: Outer) -> bool:
    return isinstance(s, ir.LetStmt) or (isinstance(s, ir.For) and s.kind is ir.LoopKind.SERIAL)


def _bases(lets: Sequence[ir.LetStmt], body: ir.Stmt, made: str) -> Iterator[ir.Expr]:
    """Where each load begins, in terms of the loops."""
    for n in nodes(body):
        if isinstance(n, ir.Load) and n.buffer != made and (place := layout(n.index)) is not None:
            base = place.base
            for let in reversed(lets):
                base = substitute(base, {let.name: let.value})
            yield base


def _step(var: str, base: ir.Expr) -> float:
    """Elements from one iteration to the next; infinite where sizes or strides are factors of it."""
    step = 0.0
    for atom, coefficient in linear(base).terms:
        if var in free_variables(atom):
            step = max(step, abs(coefficient) if len(factors(atom)) == 1 else inf)
    return step

"""The state of one evaluation: sizes, what has been evaluated, and expressions made callable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hbc.frontend.oracle.access import Meaning
from hbc.frontend.oracle.expr import meaning
from hbc.frontend.oracle.points import Box, Points, Stored
from hbc.frontend.program.funcs import Pipeline, Update
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType
from hbc.ir.lang.walk import children, nodes, substitute

MAX_POINTS = 1 << 16
"""How many points are evaluated at once: their arrays should fit a second-level cache."""

CONTRACTED_POINTS = 1 << 20
"""The same for matrix products, which block for the caches themselves."""


@mutable
class Program:
    """A pipeline with sizes and inputs; `stored` grows Func by Func."""

    pipeline: Pipeline
    sizes: Mapping[str, int]
    stored: dict[str, Stored]
    fused: frozenset[DType] = frozenset()  # half floats whose products may go into sums unrounded
    meanings: dict[int, tuple[ir.Expr, Meaning]] = field(default_factory=dict)

    def buffer(self, name: str) -> Stored:
        if name not in self.stored:
            raise InternalError(f"the oracle reads `{name}` before it is evaluated")
        return self.stored[name]

    def meaning(self, e: ir.Expr) -> Meaning:
        """`e` as a function of points, made once. (The entry keeps `e` alive, so ids are unique.)"""
        if id(e) not in self.meanings:
            self.meanings[id(e)] = (e, meaning(e, self.buffer))
        return self.meanings[id(e)][1]

    def number(self, e: ir.Expr) -> int:
        """An index expression over the sizes."""
        return int(self.meaning(e)(Points(0, {}, self.sizes)).x)

    def fork(self) -> Program:
        """Another evaluation that starts with what this one has."""
        return Program(self.pipeline, self.sizes, dict(self.stored), self.fused)


def pure_positions(update: Update, variables: tuple[str, ...]) -> tuple[int, ...]:
    """The dimensions that the update runs over because their index is their own pure variable."""
    reduced = {r.name for r in update.reduce}
    return tuple(
        n
        for n, (index, own) in enumerate(zip(update.indices, variables, strict=True))
        if isinstance(index, ir.Var) and index.name == own and own not in reduced
    )


def update_ranges(
    program: Program, update: Update, variables: tuple[str, ...], box: Box
) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """The ranges of the reduce variables and of the pure variables of an update."""
    pure = {variables[n]: span_range(box[n]) for n in pure_positions(update, variables)}
    reduce = {
        r.name: (program.number(r.start), max(0, program.number(r.extent))) for r in update.reduce
    }
    return reduce, pure


def span_range(span: tuple[int, int]) -> tuple[int, int]:
    """Least and greatest value as first value and count."""
    return span[0], span[1] - span[0] + 1


def accesses(e: ir.Expr) -> list[ir.Access]:
    """All accesses, those inside indices first, with `Let` names replaced by their values."""
    if isinstance(e, ir.Let):
        return accesses(e.value) + accesses(substitute(e.body, {e.name: e.value}))
    inside = [a for c in children(e) if not isinstance(c, ir.Stmt) for a in accesses(c)]
    return [*inside, e] if isinstance(e, ir.Access) else inside


def reads(e: ir.Expr | None, name: str) -> bool:
    """Whether an expression accesses the Func."""
    return e is not None and any(isinstance(n, ir.Access) and n.name == name for n in nodes(e))

"""Choices by the shape of a statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hbc.eqsat.choice import Choice, Statement
from hbc.eqsat.choose import choose
from hbc.eqsat.fragments import multiple
from hbc.eqsat.graphs import Graphs
from hbc.eqsat.operand import REUSED
from hbc.eqsat.tensor import Read
from hbc.ir.instruction import Instruction
from hbc.ir.nodes import Const, Expr, Var
from hbc.ir.types import INDEX, Memory
from hbc.ir.walk import substitute


@dataclass(slots=True)
class Shapes:
    """Choices by the shape of the statement, whatever the places of its arrays: the statements of an
    unrolled loop are chosen for once."""

    known: dict[tuple[Statement, tuple[Instruction, ...]], tuple[Choice, ...]] = field(
        default_factory=dict
    )
    made: int = 0
    graphs: Graphs = field(default_factory=Graphs)

    def choose(
        self,
        s: Statement,
        instructions: tuple[Instruction, ...],
        is_reused: Callable[[Expr], bool],
    ) -> tuple[Choice, ...]:
        """As `choose`. `is_reused`: whether what lies at a place need not be packed anew each time."""
        places: dict[tuple[Expr, str], Var] = {}

        def abstract(e: Expr, of: Read | None) -> Expr:
            if isinstance(e, Const) and e.type != INDEX:
                return e
            key = e, "" if of is None else of.buffer  # equal places in two arrays mean nothing
            if key not in places:
                mark = "" if of is None or not in_fragments else multiple(e, of.element)
                mark += REUSED if is_reused(e) else ""
                places[key] = Var(f"#{len(places)}{mark}", e.type)
            return places[key]

        in_fragments = any(i.place.memory is Memory.WMMA for i in instructions)
        shape = s.mapped(abstract)
        if (shape, instructions) not in self.known:
            found = choose(shape, instructions, self.graphs)
            numbered = (replace(c, number=self.made + n) for n, c in enumerate(found))
            self.known[shape, instructions] = tuple(numbered)
            self.made += len(found)
        given = {place.name: e for (e, _), place in places.items()}
        found = self.known[shape, instructions]
        return tuple(c.mapped(lambda e, _: substitute(e, given)) for c in found)

"""Choices by the shape of a statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hbc.eqsat.choice import Choice, Statement
from hbc.eqsat.choose import choose
from hbc.eqsat.fragments import MULTIPLE, multiple
from hbc.eqsat.graphs import Graphs
from hbc.eqsat.operand import REUSED
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
        places: list[Expr] = []

        def abstract(e: Expr) -> Expr:
            if isinstance(e, Const) and e.type != INDEX:
                return e
            if e not in places:
                places.append(e)
            mark = f"{MULTIPLE}{multiple(e)}" if in_fragments and e.type == INDEX else ""
            marks[e] = mark + (REUSED if is_reused(e) else "")
            return Var(f"#{places.index(e)}{marks[e]}", e.type)

        marks: dict[Expr, str] = {}
        in_fragments = any(i.place.memory is Memory.WMMA for i in instructions)
        shape = s.mapped(abstract)
        if (shape, instructions) not in self.known:
            found = choose(shape, instructions, self.graphs)
            numbered = (replace(c, number=self.made + n) for n, c in enumerate(found))
            self.known[shape, instructions] = tuple(numbered)
            self.made += len(found)
        given = {f"#{n}{marks[e]}": e for n, e in enumerate(places)}
        found = self.known[shape, instructions]
        return tuple(c.mapped(lambda e: substitute(e, given)) for c in found)

"""E-graphs for the statements of a kernel, with the rules for its instructions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hbc.eqsat.egraph import EGraph
from hbc.eqsat.lowering import lowering_rules
from hbc.eqsat.plan import Contraction, Plan
from hbc.ir.instruction import Instruction


@dataclass(slots=True)
class Graphs:
    """One for each set of instructions: to declare rules takes longer than to run them."""

    made: dict[tuple[Instruction, ...], EGraph] = field(default_factory=dict)
    plans: dict[tuple[Instruction, ...], dict[Contraction, dict[str, list[Plan]]]] = field(
        default_factory=dict
    )  # by table and types

    @contextmanager
    def of(self, instructions: tuple[Instruction, ...]) -> Iterator[EGraph]:
        """An e-graph with no terms in it, for one statement."""
        g = self.made.get(instructions)
        if g is None:
            g = self.made[instructions] = EGraph()
            g.run(lowering_rules(instructions), "instructions")
        with g.apart():
            yield g

"""E-graphs for the statements of a kernel, with the rules for its instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field

from hbc.eqsat.graph.egraph import EGraph, Term
from hbc.eqsat.graph.encode import type_facts
from hbc.eqsat.graph.lowering import lowering_rules
from hbc.eqsat.tensors.plan import Contraction, Plan
from hbc.ir.ground.record import mutable
from hbc.ir.lang.instruction import Instruction

Row = tuple[Term | int | float | str, ...]


@mutable
class Found:
    """The rows of the relation that says what instructions may do, the cheapest term of the value, how
    often each rule matched, and whether the rules ran until nothing changed. `rests`: the value with a
    term, by this, read from an array, by that."""

    candidates: list[Row]
    root: Term
    fired: tuple[tuple[str, int], ...]
    complete: bool
    rests: dict[tuple[Term, str], Term] = field(default_factory=dict)


@mutable
class Graphs:
    """One for all instructions on each kind of registers, since to declare rules takes longer than to
    run them: who asks for some of them leaves what is for others. What else a statement needs is
    declared when the first such comes. To be closed, in the thread where they are used."""

    usable: tuple[Instruction, ...] = ()  # all that may be asked for
    made: dict[tuple[Instruction, ...], EGraph] = field(default_factory=dict)
    plans: dict[tuple[Instruction, ...], dict[Contraction, dict[str, list[Plan]]]] = field(
        default_factory=dict
    )  # by table and types
    found: dict[tuple[tuple[Instruction, ...], tuple[str, ...], str], Found] = field(
        default_factory=dict
    )  # by the rules and the text of a statement

    def together(self, some: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        """These and the others on registers of their kind."""
        kinds = {i.place.memory for i in some}
        return tuple(i for i in self.usable if i.place.memory in kinds) or some

    def close(self) -> None:
        """Drops the e-graphs, not what was found in them."""
        while self.made:
            self.made.popitem()[1].close()

    @contextmanager
    def of(self, instructions: tuple[Instruction, ...], rules: Iterable[str]) -> Iterator[EGraph]:
        """An e-graph with no terms in it, for one statement that needs these files of rules besides
        those that all do."""
        g = self.made.get(instructions)
        if g is None:
            g = self.made[instructions] = EGraph()
            g.run(f"{lowering_rules(instructions)}\n{type_facts()}", "instructions")
        g.declare(rules)
        with g.apart():
            yield g

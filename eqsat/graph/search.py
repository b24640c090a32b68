"""What the rules find for an encoded statement, kept by its text.

Statements that differ in extents, places and strides alone are one text: the rules run once for all.
"""

from __future__ import annotations

from contextlib import ExitStack

from hbc.eqsat.graph.egraph import EGraph, Term
from hbc.eqsat.graph.graphs import Found, Graphs
from hbc.ir.ground.record import mutable
from hbc.ir.lang.instruction import Instruction

ROUNDS = 16
MOST_NODES = 4000
MOST_TERMS = 10  # that a match adds
MOST_MATCHES = 100_000  # of all rules, some seconds; statements of the samples have 200 at most
_ROUND = """\
(run-schedule (saturate (run facts)) (run axioms) (saturate (run facts)) (run application))
"""


@mutable
class Search:
    """The questions about one statement, `program`. The e-graph is made for the first of which the
    answer is not known, and stays until the stack is left."""

    graphs: Graphs
    instructions: tuple[Instruction, ...]
    rules: tuple[str, ...]
    program: str
    stack: ExitStack
    graph: EGraph | None = None
    complete: bool = False

    def found(self) -> Found:
        """What the rules find."""
        key = self.instructions, self.rules, self.program
        answers = self.graphs.found.get(key)
        if answers is None:
            g = self._saturated()
            fired = tuple(g.fired.items())
            answers = Found(g.rows("Candidate"), g.extract("$root"), fired, self.complete)
            self.graphs.found[key] = answers
        return answers

    def rest(self, whole: Term, name: str) -> Term:
        """The value with the term read from an array of this name."""
        rests = self.found().rests
        if (whole, name) not in rests:
            g = self._saturated()
            g.run(f"(push)\n(union {whole} {name})")
            rests[whole, name] = g.extract("$root")
            g.run("(pop)")
        return rests[whole, name]

    def _saturated(self) -> EGraph:
        if self.graph is None:
            self.graph = self.stack.enter_context(self.graphs.of(self.instructions, self.rules))
            self.graph.run(self.program)
            self.complete = saturate(self.graph)
        return self.graph


def saturate(g: EGraph) -> bool:
    """Runs the rules until nothing changes. False when a budget (rounds, terms or matches, not time: on
    any machine the same is found) ran out before: what has been found is good, but there may be better."""
    complete = False
    matches = sum(g.fired.values())
    for _ in range(ROUNDS):
        g.run(_ROUND)
        # Unions take terms away as rules add others: the size alone may stay the same by chance.
        before, matches = matches, sum(g.fired.values())
        if matches == before:
            complete = True
            break
        full = MOST_TERMS * matches > MOST_NODES and g.size() > MOST_NODES
        if full or matches > MOST_MATCHES:
            break
    g.run("(run-schedule (saturate (run facts)) (saturate (run lowering)))")
    return complete

"""Executes a solution exactly, on the sketch's own terms: no solution is reported without it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import Gather, execute
from hbc.ir.moves.sketch import NO_TERM, SYMBOL, ZERO_TERM, Literal, Term, Terms
from hbc.synth.prunings.problem import Known, Move, Pack, Problem

Array = NDArray[np.int32]


def run_exactly(problem: Problem, chosen: dict[int, Gather]) -> tuple[Terms, list[Array]]:
    """The terms of every node, then those of the goals. `chosen` has a gather for each hole; folds have
    no operations."""
    terms = Terms()
    renamed: dict[int, int] = {ZERO_TERM: ZERO_TERM, NO_TERM: NO_TERM}
    values: list[Array] = []
    literals = {s.name: s for s in problem.sketch.statements if isinstance(s, Literal)}
    known: dict[str, Array] = {
        name: renumber(problem.sketch.terms, terms, literal.cells, renamed)
        for name, literal in literals.items()
    }
    for number, node in enumerate(problem.nodes):
        match node:
            case Known(name=name) if name in known:
                values.append(known[name].reshape(-1))
            case Known():
                assert node.made is not None
                gathered = execute(
                    node.made, [values[a] for a in node.arguments], ZERO_TERM, NO_TERM
                )
                values.append(gathered.reshape(-1))
            case Move(arguments=arguments):
                gather = chosen[number] if node.hole else node.gathers.gather(0)
                moved = execute(gather, [values[a] for a in arguments], ZERO_TERM, NO_TERM)
                values.append(moved.reshape(-1))
            case Pack(arguments=(argument,)):
                groups = values[argument].reshape(-1, node.length)
                # Operations are compared by the goals, if at all: see `make_universe`.
                folded = [terms.fold("", map(int, group)) for group in groups]
                values.append(np.array(folded, dtype=np.int32))
    return terms, [*values, *_goals(problem, terms, renamed)]


def meets_goals(problem: Problem, chosen: dict[int, Gather]) -> bool:
    """Whether the gathers solve the sketch."""
    _, values = run_exactly(problem, chosen)
    goals = values[len(problem.nodes) :]
    for wanted, cells in zip(problem.goals, goals, strict=True):
        held = values[wanted.node]
        if not ((held == cells) | (cells == NO_TERM)).all():
            return False
    return True


def _goals(problem: Problem, terms: Terms, renamed: dict[int, int]) -> list[Array]:
    original = problem.sketch.terms
    return [renumber(original, terms, g.cells, renamed).reshape(-1) for g in problem.sketch.goals]


def renumber(original: Terms, terms: Terms, cells: Array, renamed: dict[int, int]) -> Array:
    """The same terms in another numbering, without the operations of folds."""

    def number(term: int) -> int:
        if term not in renamed:
            made: Term = original[term]
            if made.operation == SYMBOL:
                renamed[term] = terms.symbol(made.name)
            else:
                renamed[term] = terms.fold("", [number(e) for e in made.elements])
        return renamed[term]

    return np.array([number(int(c)) for c in cells.reshape(-1)], dtype=np.int32).reshape(
        cells.shape
    )

"""The goals of a sketch over the symbols of a movement's inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hbc.ir.moves.goal_check import Combined, GoalCheck, GoalTerm, Symbol
from hbc.ir.moves.movement import Input
from hbc.ir.moves.sketch import FIRST_TERM, NO_TERM, SYMBOL, ZERO_TERM, Literal, Sketch


def goal_check(sketch: Sketch, inputs: Sequence[Input]) -> GoalCheck | None:
    """None when a goal folds without saying by what operation."""
    literals = {s.name: s for s in sketch.statements if isinstance(s, Literal)}
    numbers: dict[int, int] = {}
    held = {}
    for given in inputs:
        cells = literals[given.name].cells.reshape(-1).tolist()
        symbols = [
            numbers.setdefault(cell, len(numbers)) if cell >= FIRST_TERM else -1 for cell in cells
        ]
        held[given.name] = np.array(symbols, dtype=np.int32)

    def term_of(cell: int) -> GoalTerm:
        if cell == ZERO_TERM:
            return Combined("+", ())
        term = sketch.terms[cell]
        if term.operation == SYMBOL:
            return Symbol(numbers[cell])
        return Combined(term.operation, tuple(term_of(e) for e in term.elements))

    goals = tuple(
        tuple(
            None if cell == NO_TERM else term_of(cell) for cell in goal.cells.reshape(-1).tolist()
        )
        for goal in sketch.goals
    )
    if any(term is not None and not _says_all(term) for goal in goals for term in goal):
        return None
    return GoalCheck(len(numbers), held, goals)


def _says_all(term: GoalTerm) -> bool:
    if isinstance(term, Symbol):
        return True
    return bool(term.operation) and all(_says_all(part) for part in term.parts)

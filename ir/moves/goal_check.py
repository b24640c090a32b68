"""What a movement is for: its goals over the symbols that its inputs hold, for code that checks itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.record import record
from hbc.ir.moves.gather import Locations


@record
class Symbol:
    """A number that the inputs hold."""

    number: int


@record
class Combined:
    """The fold of some terms; of none, 0."""

    operation: str
    parts: tuple[GoalTerm, ...]


GoalTerm = Symbol | Combined


@dataclass(frozen=True, slots=True, eq=False)
class GoalCheck:
    """`inputs`: for each input the symbol of every element, -1 where it does not matter. `goals`: for each
    output, in order, what every element must be; None where anything will do."""

    symbols: int
    inputs: Mapping[str, Locations]
    goals: tuple[tuple[GoalTerm | None, ...], ...]

    def moves_only(self) -> bool:
        """Whether nothing is computed."""
        return all(
            term is None or isinstance(term, Symbol) or not term.parts
            for goal in self.goals
            for term in goal
        )


def value_of(term: GoalTerm, symbols: NDArray[Any], functions: Mapping[str, Any]) -> Any:
    """The number that a goal wants, for the symbols' numbers."""
    match term:
        case Symbol(number):
            return symbols[number]
        case Combined(operation, parts):
            if not parts:
                return symbols.dtype.type(0)
            return functions[operation].reduce(
                np.array([value_of(part, symbols, functions) for part in parts]),
                dtype=symbols.dtype,
            )
        case _:
            assert_never(term)

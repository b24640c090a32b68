"""What a sketch's goals say, on numbers: symbols are given values, folds are done by NumPy.

Looks at the sketch alone: neither at solutions nor at the code that is made of them."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.sketch import NO_TERM, SYMBOL, ZERO_TERM, Literal, Sketch

Array = NDArray[Any]
FUNCTIONS = {
    "+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip


def symbols(sketch: Sketch) -> list[int]:
    """The terms that are symbols, in a fixed order."""
    return [n for n in range(2, len(sketch.terms)) if sketch.terms[n].operation == SYMBOL]


def literal_values(literal: Literal, values: dict[int, Any], poison: Any) -> Array:
    """The array in memory; what is 0 or blank in the sketch is poisoned, for nobody may read it."""
    cells = literal.cells.reshape(-1)
    return np.array([values.get(int(c), poison) for c in cells])


def goal_values(cells: Array, sketch: Sketch, values: dict[int, Any], dtype: Any) -> list[Any]:
    """For each element the number, or None where anything will do."""

    def number(term: int) -> Any:
        if term == ZERO_TERM:
            return dtype.type(0)
        if term in values:
            return values[term]
        made = sketch.terms[term]
        with np.errstate(over="ignore"):
            return reduce(FUNCTIONS[made.operation], [number(e) for e in made.elements])

    return [None if c == NO_TERM else number(int(c)) for c in cells.reshape(-1)]

"""Compares outputs with the oracle, and says in words where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hbc.frontend.funcs import Pipeline
from hbc.frontend.oracle import Reference, compare, evaluate

if TYPE_CHECKING:
    from hbc.cli.data import Array


@dataclass(frozen=True, slots=True)
class Checked:
    """The largest error in units of its bound (1 or less is right), and a line per wrong output."""

    max_error_over_bound: float
    mistakes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.mistakes


def references(
    p: Pipeline, sizes: Mapping[str, int], inputs: Mapping[str, Array]
) -> dict[str, Reference]:
    """What the algorithm alone gives for each output, with error bounds."""
    import numpy as np

    # NaN, infinities and overflow are data here, not mistakes.
    with np.errstate(all="ignore"):
        return evaluate(p, sizes, inputs)


def check_outputs(outputs: Mapping[str, Array], expected: Mapping[str, Reference]) -> Checked:
    """Every output against its reference."""
    import numpy as np

    worst, mistakes = 0.0, []
    for name, reference in expected.items():
        got = outputs[name]
        with np.errstate(all="ignore"):
            found = compare(got, reference)
        worst = max(worst, found.max_error_over_bound)
        if found.mismatches:
            mistakes.append(_describe(name, got, reference, found.mismatches, found.first))
    return Checked(worst, tuple(mistakes))


def _describe(
    name: str, got: Array, reference: Reference, count: int, first: tuple[int, ...] | None
) -> str:
    text = f"`{name}` differs from the oracle in {count} of {got.size} elements"
    if first is None:
        return text
    at = ", ".join(map(str, first))
    return f"{text}, first at [{at}]: {got[first]} instead of {reference.value[first]}"

"""Compares outputs with the oracle, and says in words where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hbc.frontend.oracle.oracle import Comparison, Reference, compare
from hbc.ir.ground.record import record

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array


@record
class Checked:
    """The largest error in units of its bound (1 or less is right), and a line per wrong output; how many
    elements there are, and how many of these may be anything, because the oracle's bounds say so."""

    max_error_over_bound: float
    mistakes: tuple[str, ...]
    elements: int = 0
    anything: int = 0

    @property
    def ok(self) -> bool:
        return not self.mistakes


def check_outputs(outputs: Mapping[str, Array], expected: Mapping[str, Reference]) -> Checked:
    """Every output against what the oracle says (see `frontend.oracle.evaluate`)."""
    worst, mistakes, anything = 0.0, [], 0
    for name, reference in expected.items():
        comparison = compare(outputs[name], reference)
        worst = max(worst, comparison.max_error_over_bound)
        anything += comparison.anything
        if not comparison.ok:
            mistakes.append(_describe(name, outputs[name].size, comparison))
    elements = sum(outputs[name].size for name in expected)
    return Checked(worst, tuple(mistakes), elements, anything)


def _describe(name: str, size: int, comparison: Comparison) -> str:
    text = f"`{name}` differs from the oracle in {comparison.mismatches} of {size} elements"
    if comparison.first is None:
        return text
    at = ", ".join(map(str, comparison.first))
    allowed = f" (allowed: {comparison.bound:.3g} more or less)" if comparison.bound else ""
    return f"{text}, first at [{at}]: {comparison.got} instead of {comparison.want}{allowed}"

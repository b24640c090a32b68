"""Compares outputs with the oracle, and says in words where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hbc.frontend.oracle.oracle import Comparison, Reference, compare

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array


@dataclass(frozen=True, slots=True)
class Checked:
    """The largest error in units of its bound (1 or less is right), and a line per wrong output."""

    max_error_over_bound: float
    mistakes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.mistakes


def check_outputs(outputs: Mapping[str, Array], expected: Mapping[str, Reference]) -> Checked:
    """Every output against what the oracle says (see `frontend.oracle.evaluate`)."""
    worst, mistakes = 0.0, []
    for name, reference in expected.items():
        found = compare(outputs[name], reference)
        worst = max(worst, found.max_error_over_bound)
        if not found.ok:
            mistakes.append(_describe(name, outputs[name].size, found))
    return Checked(worst, tuple(mistakes))


def _describe(name: str, size: int, found: Comparison) -> str:
    text = f"`{name}` differs from the oracle in {found.mismatches} of {size} elements"
    if found.first is None:
        return text
    at = ", ".join(map(str, found.first))
    allowed = f" (allowed: {found.bound:.3g} more or less)" if found.bound else ""
    return f"{text}, first at [{at}]: {found.got} instead of {found.want}{allowed}"

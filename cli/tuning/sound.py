"""The fastest schedule that is right at other sizes too: what was measured was compared at one set."""

from __future__ import annotations

from collections.abc import Iterable

from hbc.cli.measuring.trial import Trial
from hbc.cli.tuning.search import Search


def sound(search: Search, ranked: Iterable[Trial]) -> tuple[Trial | None, list[str]]:
    """The first trial that is, and a note for each before it, which is no result any more."""
    notes: list[str] = []
    for t in ranked:
        failure = search.track.elsewhere(t.candidate)
        if failure is None:
            return t, notes
        search.reject(t, failure)
        notes.append(f"note: a faster schedule is passed over: {failure.state} {failure.reason}")
    return None, notes

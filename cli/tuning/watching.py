"""What a user sees while a tuning runs: best so far, time left, share of the roof."""

from __future__ import annotations

import time

from hbc.cli.roof.roofs import Roofs
from hbc.cli.runs.work import Work
from hbc.cli.show.report import Progress, seconds
from hbc.cli.tuning.search import Search


class Watching:
    """Writes a line of the progress bar."""

    def __init__(self, shown: Progress, work: Work, roofs: Roofs | None) -> None:
        self._shown, self._work, self._roofs = shown, work, roofs
        self._search: Search | None = None
        self._until = 0.0

    def begin(self, search: Search, until: float) -> None:
        """The search starts; `until`: when all is to be over, by `time.monotonic`."""
        self._search, self._until = search, until

    def building(self, count: int) -> None:
        self._shown.step(self.text(f"compiling {count}"))

    def tried(self, found: Search) -> None:
        self._shown.step(self.text("measured"))

    def text(self, what: str) -> str:
        """`24 tried, best 1.2 ms (81 % of the roof), 40 s left: compiling 8`."""
        if self._search is None:
            return what
        best = self._search.best
        parts = [f"{len(self._search.trials)} tried"]
        if best is not None and best.seconds is not None:
            share = share_of(self._roofs, self._work, best.seconds)
            of = "" if share is None else f" ({share:.0%} of the roof)"
            parts.append(f"best {seconds(best.seconds)}{of}")
        left = max(self._until - time.monotonic(), 0)
        parts.append(f"{left:.0f} s left")
        return f"{', '.join(parts)}: {what}"


def share_of(roofs: Roofs | None, work: Work, took: float) -> float | None:
    """Of this machine's roof; None where it was not measured. Above 1 the roof is too low."""
    return None if roofs is None else roofs.seconds(work) / took

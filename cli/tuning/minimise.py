"""The tuned schedule without the directives that are worth nothing: what is left is what matters."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from hbc.cli.measuring.builder import FOREVER
from hbc.cli.measuring.trial import Candidate, State, Trial
from hbc.cli.tuning.search import Search

WORTH = 1.01  # what dropping a directive may cost
ROUNDS = 9
# What only says how a loop is written out; the others are the shape of the schedule.
_DROPPED = frozenset({"unroll", "prefetch"})
_COPY = re.compile(r"^\s*\w+\.in\([^\n]*\n", re.MULTILINE)  # a copy of its own, all of the line
_DIRECTIVE = re.compile(r"\.(\w+)\(")
MOST = 24  # directives that are tried


def minimise(search: Search, best: Trial, most: int = MOST, until: float = FOREVER) -> Trial:
    """The same schedule with fewer directives, at most a hundredth slower in all. `most`: directives that
    are looked at. The schedule as it is where that is not known by `until`, as `time.monotonic` has it."""
    if best.seconds is None:
        return best
    drops = list(dropped(best.candidate.text))[:most]
    candidates = [_with(best.candidate, text) for _, text in drops]
    raced = search.track.race(candidates, best, search.random, ROUNDS, until)
    cheap = {t.candidate.key for t in raced if _as_quick(t, best.seconds)}
    spans = [span for (span, _), c in zip(drops, candidates, strict=True) if c.key in cheap]
    while spans and time.monotonic() < until:
        found = _with(best.candidate, without(best.candidate.text, spans))
        for t in search.track.race([found], best, search.random, ROUNDS):
            if t.candidate.key == found.key and _as_quick(t, best.seconds):
                return t
        spans.pop()  # together they are worth more
    return best


def _as_quick(t: Trial, seconds: float) -> bool:
    return t.state is State.MEASURED and (t.seconds or 0) <= seconds * WORTH


def dropped(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """The schedule without one directive, for each that may go, and where it stood."""
    for span in directives(text):
        yield span, without(text, [span])


def directives(text: str) -> Iterator[tuple[int, int]]:
    """Where the directives are that may go."""
    for m in _DIRECTIVE.finditer(text):
        if m[1] in _DROPPED:
            yield m.start(), text.index(")", m.end()) + 1
    for m in _COPY.finditer(text):
        yield m.span()


def without(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without these parts, and without lines that say nothing any more."""
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    lines = [x for x in text.splitlines() if not re.fullmatch(r"\s*[\w.]+(\(\w+\))?(\.update)?", x)]
    return "\n".join(lines) + "\n"


def _with(c: Candidate, text: str) -> Candidate:
    return Candidate({**c.point, "minimised": True}, text, c.about, c.cycles, c.selects)

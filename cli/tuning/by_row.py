"""The schedules of a table's rows as text of the file: each for the sizes of its row, one for all rows whose
best it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hbc.cli.show.report import seconds
from hbc.cli.tuning.results import Result

_HEAD = re.compile(r"\A(schedule \w+ for [^{]*?)(?:\s+where\b[^{]*?)?\s*\{\n((?:\s*#.*\n)*)")


def with_condition(text: str, condition: str, more: Sequence[str] = ()) -> str:
    """The schedule for sizes that fulfil the condition; without one it stays as it is. `more`: further lines
    of the comment at its head."""
    if not condition:
        return text
    said = "".join(f"    # {line}\n" for line in more)
    return _HEAD.sub(lambda m: f"{m[1]} where {condition} {{\n{m[2]}{said}", text, count=1)


def schedules_of(results: Sequence[Result], tests: Sequence[str]) -> list[tuple[str, str]]:
    """Names and texts to write: of the rows with a condition those with the same schedule are one, under the
    name of the first. `tests`: the condition of each, or nothing."""
    same: dict[str, list[tuple[Result, str]]] = {}
    for r, test in zip(results, tests, strict=True):
        if r.text is not None and r.tuned.best is not None:
            key = r.tuned.best.candidate.key if test else r.name
            same.setdefault(key, []).append((r, test))
    found = []
    for (first, test), *others in same.values():
        assert first.text is not None
        more = [f"Also at {_took(r)}" for r, _ in others]
        condition = " or ".join([test, *(t for _, t in others)])
        found.append((first.name, with_condition(first.text, condition, more)))
    return found


def _took(r: Result) -> str:
    """The sizes of a row and what a call took there."""
    assert r.tuned.best is not None and r.tuned.best.seconds is not None
    return f"{r.job.sizes}: {seconds(r.tuned.best.seconds)}"

"""The file in parts: what is compiled is in view, schedules that were not chosen are folded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from markupsafe import Markup

from hbc.cli.compiled import Chosen
from hbc.cli.page.colour import coloured
from hbc.cli.page.links import Line
from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.record import record

SHORTEST = 3  # lines that are worth a fold
MADE = "Made by hbc, not in the file: hbc compile --write puts it there."


@record
class Part:
    """Some lines, one after the other. `folded`: what stands for them until they are opened; `said`: a
    sentence above them."""

    lines: tuple[tuple[Line, Markup], ...]
    folded: str = ""
    said: str = ""


def parts_of(chosen: Chosen, directives: Collection[int]) -> list[Part]:
    """The lines of the file, and below them the schedule where hbc made it, numbered as they are read:
    `directives` are the lines of the chosen schedules."""
    text = chosen.pipeline.source.text.rstrip("\n")
    count = text.count("\n") + 1
    made = chosen.made
    if made is not None:
        text = f"{text.rstrip()}\n\n{made.text.rstrip()}"
    shown = [
        (Line(n, n if n in directives else None), line)
        for n, line in enumerate(coloured(text, "hb"), 1)
    ]
    parts: list[Part] = []
    begin = 0
    for first, end, folded in _folds(chosen):
        parts += _part(shown[begin:first])
        parts += _part(shown[first:end], folded)
        begin = end
    parts += _part(shown[begin:count])
    return parts + _part([x for x in shown[count:] if x[1]], said=MADE)


def _part(lines: Sequence[tuple[Line, Markup]], folded: str = "", said: str = "") -> list[Part]:
    return [Part(tuple(lines), folded, said)] if lines else []


def _folds(chosen: Chosen) -> Iterator[tuple[int, int, str]]:
    """Schedules that were not chosen, with the comments above them and the empty line below: from which
    line (from 0) to before which, and what is said instead."""
    source = chosen.pipeline.source
    lines = source.text.rstrip("\n").split("\n")
    taken = () if chosen.made is not None or chosen.schedule is None else chosen.schedule.each
    own = [s.name for s in taken]
    for s in parse(source).statements:
        if not isinstance(s, ast.Schedule) or s.name.text in own:
            continue
        first, end = s.span.line - 1, s.span.line + s.span.text.count("\n")
        while first and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        if end - first < SHORTEST:
            continue
        if end < len(lines) and not lines[end].strip():
            end += 1
        targets = ", ".join(t.text for t in s.targets)
        yield first, end, f"schedule {s.name.text} for {targets}: not used here"

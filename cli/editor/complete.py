"""What can stand where the cursor is: directives behind a dot, loops and Funcs in their arguments, names and
functions in expressions, statements at the start of a line."""

from __future__ import annotations

import re

from hbc.cli.editor.names import GLOBAL
from hbc.cli.editor.reading import Reading
from hbc.cli.show.words import Word, words

STAGES = (
    Word(
        "update", "directive", ".update", "The first update of the Func; .update(1) is the second."
    ),
    Word("in", "directive", ".in(acc)", "The copy of an array or a Func that `acc` reads."),
)


def complete(reading: Reading, last: Reading | None, offset: int) -> list[Word]:
    """`last`: the file when it could be parsed, for the names of a text that cannot be."""
    before = reading.source.text[:offset]
    line = before[before.rfind("\n") + 1 :]
    schedule = _schedule_around(before)
    every = words()
    if schedule is not None and re.search(r"[\w)\]]\s*\.\w*$|^\s*\.\w*$", line):
        return [*(w for w in every.values() if w.kind == "directive"), *STAGES]
    known = reading if reading.names or last is None else last
    if schedule is not None:
        names = [Word(n, "name", n) for n in _names(known, f"loop {schedule} ", "Func ", GLOBAL)]
        return [*names, *(w for w in every.values() if w.kind == "value")]
    if re.fullmatch(r"\s*\w*", line):
        starts = [w for w in every.values() if w.kind == "keyword"]
        return [*starts, *(Word(n, "name", n) for n in _names(known, GLOBAL))]
    if re.search(r":\s*\w*$", line) and line.lstrip().startswith(
        ("input", "output", "param", "table")
    ):
        return [w for w in every.values() if w.kind == "type"]
    names = [Word(n, "name", n) for n in _names(known, GLOBAL, "Func ", "def ")]
    return [*names, *(w for w in every.values() if w.kind in ("function", "type"))]


def _schedule_around(before: str) -> str | None:
    """The schedule whose block is open at the end of the text."""
    bare = re.sub(r"#[^\n]*", "", before)
    started = [*re.finditer(r"\bschedule\s+(\w+)[^{}]*\{", bare)]
    if not started:
        return None
    inside = bare[started[-1].end() :]
    return started[-1][1] if inside.count("}") <= inside.count("{") else None


def _names(reading: Reading, *owners: str) -> list[str]:
    """Those declared for the owners that begin so; for "" those of the whole file."""
    found = [
        o.symbol[-1] for o in reading.names
        if o.declares and any(o.symbol[0] == w if w == GLOBAL else o.symbol[0].startswith(w) for w in owners)
    ]  # fmt: skip
    return sorted(dict.fromkeys(found))

"""A user's own library of movements: what `hbc synth --learn` adds to, and every compile looks in first.

Files as those that come with hbc (`ir/movement/library.py`), in `$HBC_MOVEMENTS` or else where the system has
a user's data. Nothing in them is believed. When a file is read for the first time, each entry is proven: its
steps do the movement, and the C of each step is that of a described instruction which makes the step's row.
An entry that fails is named on stderr and not used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from hbc.cli.own.installed import hbc_digest
from hbc.cli.own.own_files import own_file, own_text
from hbc.cli.show.report import show_diagnostics
from hbc.ir.ground.diag import Diagnostic, InternalError, Severity
from hbc.ir.ground.source import Source, Span
from hbc.ir.host.cache_folder import keep, kept
from hbc.ir.lang.target import Target
from hbc.ir.movement.chain import Chain, Movement, coarse
from hbc.ir.movement.library import (
    WIDTHS,
    library_of,
    machines_of,
    numbered,
    read_library,
    use_own,
    written,
)

Wrong = Mapping[int, str]
"""What is wrong with the entry that begins at a line."""


def use_own_movements(target: Target) -> None:
    """What the user's libraries have for the target goes before what comes with hbc, in this process."""
    for machine in machines_of(library_of(target)):
        for width in WIDTHS.get(machine, ()):
            use_file(machine, width)


def use_file(machine: str, width: int) -> None:
    """The same for registers of so many bits."""
    file = own_file(machine, width)
    text = own_text(file)
    entries = own_entries(text, str(file), machine, width) if text else ()
    use_own(machine, width, str(file), entries)


@lru_cache
def own_entries(
    text: str, name: str, machine: str, width: int
) -> tuple[tuple[int, Movement, Chain], ...]:
    """The right entries of a file, with their first lines; each wrong one is named on stderr, once."""
    wrong = _wrong(text, machine, width)
    found: list[tuple[int, Movement, Chain]] = []
    said = []
    source = Source(name, text)
    for number, entry in numbered(text):
        if number in wrong:
            start = _start(text, number)
            span = Span(source, start, start + entry.find("\n") % (len(entry) + 1))
            hint = "remove the entry, or the file: `hbc synth --learn` writes it again"
            what = f"an entry of a library of movements is not used: {wrong[number]}"
            said.append(Diagnostic(what, span, hint, (), Severity.WARNING))
        else:
            found += [(number, m, chain) for m, chain in read_library(entry, name, number)]
    show_diagnostics(said)
    return tuple(found)


def add_own(machine: str, width: int, new: Iterable[tuple[Movement, Chain]]) -> Path:
    """The file, with these entries besides those of it that are right."""
    from hbc.cli.files.replace_file import make_folder, write_text

    file = own_file(machine, width)
    text = own_text(file)
    entries = own_entries(text, str(file), machine, width) if text else ()
    known = {m: c for _, m, c in entries}
    make_folder(file.parent)
    write_text(file, written([*(known | dict(new)).items()]))
    return file


def _start(text: str, number: int) -> int:
    """Where a line begins."""
    return sum(len(line) + 1 for line in text.split("\n")[: number - 1])


@lru_cache
def _wrong(text: str, machine: str, width: int) -> Wrong:
    """By the first lines of entries, as it was found out when this text was first read by this hbc."""
    about = repr((text, machine, width, hbc_digest())).encode()
    name = f"movements-{sha256(about).hexdigest()[:40]}.json"
    stored = kept(name)
    if stored is not None:
        return {int(number): what for number, what in json.loads(stored)}
    wrong = _tried(text, machine, width)
    keep(name, json.dumps(list(wrong.items())).encode())
    return wrong


def _tried(text: str, machine: str, width: int) -> Wrong:
    from hbc.cli.own.described import is_described, table_of

    table = table_of(machine, width)
    wrong: dict[int, str] = {}
    for number, entry in numbered(text):
        try:
            found = list(read_library(entry, "", number))
        except InternalError as e:
            wrong[number] = str(e).partition(": ")[2]
            continue
        if not entry.strip():
            continue
        if len(found) != 1 or written(found).strip() != entry.strip():
            wrong[number] = "it is not written as entries are"
            continue
        ((m, chain),) = found
        if m.bits * m.lanes != width or coarse(m) != m or m.bits % 8:
            wrong[number] = f"it is no movement of registers of {width} bits in its longest units"
        for step in chain.steps:
            if not is_described(step, m.bits // 8, table):
                wrong[number] = f"`{step.text}` is not what its step says"
    return wrong

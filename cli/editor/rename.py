"""Another name for a thing, everywhere that it is named in a file."""

from __future__ import annotations

import re

from hbc.cli.editor.names import GLOBAL
from hbc.cli.editor.reading import Reading
from hbc.cli.show.words import words
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.ground.source import Span


def rename(reading: Reading, offset: int, to: str) -> list[Span]:
    """The places to change. UsageError where nothing is named, or `to` would mean something else."""
    name = reading.at(offset)
    if name is None:
        raise UsageError(Diagnostic("there is no name here that the file declares"))
    same = reading.same(name)
    if any(o.declares and o.span.source is not reading.source for o in same):
        raise UsageError(Diagnostic(f"`{name.symbol[-1]}` is declared in a file that is imported"))
    if not re.fullmatch(r"[A-Za-z_]\w*", to):
        raise UsageError(Diagnostic(f"`{to}` is no name: letters, digits and `_`"))
    taken = {o.symbol[-1] for o in reading.names if _meet(o.symbol[0], name.symbol[0])}
    if to in taken or to in words():
        raise UsageError(Diagnostic(f"`{to}` means something else already"))
    return [o.span for o in same if o.span.source is reading.source]


def _meet(one: str, other: str) -> bool:
    """Whether names of the two owners can stand in one place: those of the file anywhere, those of the
    same Func or schedule together."""
    return GLOBAL in (one, other) or one.split()[-1] == other.split()[-1]

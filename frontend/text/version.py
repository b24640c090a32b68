"""The version of the language that a file is written in: `hbc 1`, before everything else in it.

A file without it is of version 1. It is read before the file is parsed, so that a file of a later version
is refused by its version and not by the first thing in it that is new."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hbc.ir.ground.diag import Diagnostic, error
from hbc.ir.ground.source import Source, Span

LANGUAGE_VERSION = 1
"""The one that this hbc reads and writes."""

_FIRST = re.compile(r"(?:\s|#[^\n]*\n)*(hbc[ \t]+(\d[\w.]*))")


def version_span(source: Source) -> Span | None:
    """Where the file says its version; None where it does not."""
    said = _FIRST.match(source.text)
    return None if said is None else Span(source, said.start(1), said.end(1))


def refuse_newer(source: Source) -> None:
    """HbcError for a file of a version that is not known here."""
    span = version_span(source)
    if span is None:
        return
    number = span.text.split()[1]
    if not number.isdigit() or len(number) > 9 or int(number) == 0:
        raise error(
            f"the language has no version `{number}`", span,
            f"versions are whole numbers from 1; this hbc reads `hbc {LANGUAGE_VERSION}`",
        )  # fmt: skip
    if int(number) > LANGUAGE_VERSION:
        raise error(
            f"this file is written in version {int(number)} of the language, and this hbc reads version "
            f"{LANGUAGE_VERSION}",
            span,
            "a later hbc reads it: `pip install --upgrade hbc`",
        )


def misplaced(stack: Sequence[Any], found: str, source: Source) -> Diagnostic | None:
    """`hbc 1` where something stands before it, met by a parser with this stack at a token of this kind."""
    if found != "NUMBER" or not stack or str(stack[-1]) != "hbc":
        return None
    span = Span(source, stack[-1].start_pos, stack[-1].end_pos)
    hint = f"move `hbc {LANGUAGE_VERSION}` to the first line"
    return Diagnostic("the version of the language stands before everything else", span, hint)


def unversioned(made: Sequence[Any]) -> list[Any]:
    """What the parser made of a file, without its version."""
    return [x for x in made if getattr(x, "rule", "") != "version"]

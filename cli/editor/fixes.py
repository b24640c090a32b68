"""Hints that say what to write, as edits: `did you mean `x`?` replaces the name that it speaks of."""

from __future__ import annotations

import re

from hbc.ir.ground.diag import Diagnostic
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span


@record
class Fix:
    """Replace the text of `span`."""

    title: str
    span: Span
    text: str


def fixes(mistake: Diagnostic) -> list[Fix]:
    """None where the hint speaks to people only."""
    if mistake.span is None or mistake.hint is None:
        return []
    meant = re.search(r"did you mean `([^`]+)`", mistake.hint)
    wrong = re.search(r"`(\w+)`", mistake.message)
    if meant is None or wrong is None:
        return []
    at = re.search(rf"\b{re.escape(wrong[1])}\b", mistake.span.text)
    if at is None:
        return []
    start = mistake.span.start + at.start()
    span = Span(mistake.span.source, start, start + len(wrong[1]))
    return [Fix(f"Change `{wrong[1]}` to `{meant[1]}`", span, meant[1])]

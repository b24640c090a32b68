"""Refuses sources that no person wrote: too long, or brackets that nest too deep."""

from __future__ import annotations

import re

from hbc.ir.ground.diag import Note, error
from hbc.ir.ground.source import Source, Span

# So much parses in some three seconds. Kernels that people write are a hundred times smaller.
LARGEST_SOURCE = 500_000
# Passes recurse over expressions, some with three calls a level; Python stops at a thousand.
DEEPEST_NESTING = 200
# Operations of one expression, when Funcs and `let`s are written out in it.
LONGEST = 20_000

# Comments and strings are matched so that they are skipped.
NESTING = re.compile(r"[(\[{]|[)\]}]|#[^\n]*|\"[^\"\n]*\"")


def refuse_giants(source: Source) -> None:
    """Raises HbcError for a source that is too long or brackets that nest too deep."""
    text = source.text
    if len(text) > LARGEST_SOURCE:
        raise error(
            f"{source.name} has {len(text):,} characters, and hbc reads at most {LARGEST_SOURCE:,}",
            None,
            "data belongs into an input, not into the source",
        )
    opened: list[int] = []
    for match in NESTING.finditer(text):
        first = match[0][0]
        if first in "([{":
            opened.append(match.start())
        elif first in ")]}" and opened:
            opened.pop()
        if len(opened) > DEEPEST_NESTING:
            span = Span(source, match.start(), match.end())
            note = Note("the outermost one opens here", Span(source, opened[0], opened[0] + 1))
            raise error(
                f"brackets nest deeper than {DEEPEST_NESTING}", span,
                "split it into several definitions", note,
            )  # fmt: skip

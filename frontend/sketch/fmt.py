"""Formats `.sf` text: blanks at ends of lines, blank lines and tabs; columns stay the user's.

Sketches are lined up by hand, arrays under arrays and conditions under conditions, in ways that no rule
here would find.
"""

from __future__ import annotations

from hbc.frontend.sketch.parse import parse_sketch
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.source import Source

TAB = 4


def format_sketch(source: Source) -> str:
    """The formatted text, which parses to the same tree. Raises HbcError for syntax errors."""
    tree = parse_sketch(source)
    lines: list[str] = []
    for line in source.text.split("\n"):
        text = line.expandtabs(TAB).rstrip()
        if text or (lines and lines[-1]):
            lines.append(text)
    made = "\n".join(lines).rstrip("\n")
    made = f"{made}\n" if made else ""
    if parse_sketch(Source(source.name, made)) != tree:
        raise InternalError(f"formatting changed the meaning of {source.name}")
    return made

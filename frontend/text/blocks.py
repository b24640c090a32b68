"""The text of a schedule in a file, as it stands there."""

from __future__ import annotations

from functools import lru_cache

from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source


@lru_cache(maxsize=4)
def schedule_blocks(source: Source) -> dict[str, str]:
    """The schedules by name, from the word to the brace that ends them; without those that have no block."""
    return {
        s.name.text: source.text[s.span.start : s.span.end]
        for s in parse(source).statements
        if isinstance(s, ast.Schedule) and s.lines is not None and s.span.source == source
    }

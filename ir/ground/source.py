"""Source text and the places in it: what every diagnostic and IR node points back to."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from hbc.ir.ground.record import record


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A named text. `name` is shown to the user as given (a path, or `<string>`). `whole`: the text of the
    file, where `text` is a part of it, with blanks for what is left out; empty otherwise."""

    name: str
    text: str
    whole: str = ""

    @property
    def shown(self) -> str:
        """The text as the file has it."""
        return self.whole or self.text

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character offset."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(_line_starts(self), offset)
        return line, offset - _line_starts(self)[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of line `number` (from 1), without its newline."""
        starts = [*_line_starts(self)[number - 1 : number + 1], len(self.text) + 1]
        inside = 0 < number <= len(_line_starts(self))
        return self.shown[starts[0] : starts[1] - 1].rstrip("\r") if inside else ""


@lru_cache(maxsize=8)
def _line_starts(source: Source) -> list[int]:
    """The offset of each line, found once: a file may have thousands of places to speak of."""
    return [0, *(match.end() for match in re.finditer("\n", source.text))]


@record
class Span:
    """The characters `start` to `end` (exclusive) of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

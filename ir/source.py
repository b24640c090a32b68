"""Source text and the places in it: what every diagnostic and IR node points back to."""

from __future__ import annotations

from dataclasses import dataclass

from hbc.ir.record import record


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A named text. `name` is shown to the user as given (a path, or `<string>`)."""

    name: str
    text: str

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character offset."""
        offset = min(max(offset, 0), len(self.text))
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - (self.text.rfind("\n", 0, offset) + 1) + 1

    def line(self, number: int) -> str:
        """The text of line `number` (from 1), without its newline."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


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

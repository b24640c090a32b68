"""Lines of C with indentation, braces and wrapping: the only place that knows about columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field

from hbc.ir.ground.printable import printable
from hbc.ir.ground.record import mutable

WIDTH = 100
INDENT = "    "
CONTINUED = " \\"  # ends a line of a directive that goes on
DEEP = 56  # column that brackets alone push no continuation line beyond
BRACKET = 4  # how tightly a bracket binds what is in it, for `_binds`


@mutable
class Writer:
    """Collects lines at the current depth. `text()` ends every line with a newline."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def line(self, text: str) -> None:
        """One logical line; longer than WIDTH columns it is broken where parentheses are fewest."""
        indent = INDENT * self.depth
        self.lines += wrap(indent + text, indent + INDENT)

    def raw(self, text: str) -> None:
        """Text that is already laid out, one or several lines, at column 0."""
        self.lines += text.rstrip("\n").split("\n")

    def blank(self) -> None:
        """An empty line, unless one is there already or a brace was just opened."""
        if not self.at_start and self.lines[-1]:
            self.lines.append("")

    def names(self) -> frozenset[str]:
        """The words of the lines that are no comments."""
        code = (line for line in self.lines if not line.lstrip().startswith("//"))
        return frozenset(word for line in code for word in re.findall(r"\w+", line))

    @property
    def at_start(self) -> bool:
        """Whether a brace was just opened, or nothing is written."""
        return not self.lines or self.lines[-1].endswith("{")

    def directive(self, text: str) -> None:
        """A preprocessor line at the current depth, one of `lines` also where it is long and goes on
        behind backslashes."""
        indent = INDENT * self.depth
        parts = wrap(indent + text, indent + INDENT, WIDTH - len(CONTINUED))
        self.lines.append(f"{CONTINUED}\n".join(parts))

    def comment(self, text: str) -> None:
        """A `//` comment, broken between words. What would end it, or look like code, is spelled out."""
        indent = INDENT * self.depth
        line = indent + "//"
        shown = printable(text).replace("\\", "/").replace("??/", "?? /")  # a trigraph of `\`
        for word in shown.split():
            if len(line) + 1 + len(word) > WIDTH and not line.endswith("//"):
                self.lines.append(line)
                line = indent + "//"
            line += " " + word
        self.lines.append(line)

    @contextmanager
    def braces(self, head: str = "") -> Iterator[None]:
        """`head {` ... `}` around the lines written inside."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        while self.lines[-1] == "":
            self.lines.pop()
        self.line("}")

    def function(self, head: str, parameters: Sequence[str], end: str) -> None:
        """`head(parameters)` and `end`, the parameters aligned under the first one."""
        column = " " * (len(head) + 1)
        lines, line = [], head + "("
        for i, parameter in enumerate(parameters or ["void"]):
            piece = parameter + (", " if i + 1 < len(parameters) else ")" + end)
            if len(line) + len(piece.rstrip()) > WIDTH and line.strip() and line != head + "(":
                lines.append(line.rstrip())
                line = column
            line += piece
        self.lines += [*lines, line]

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def wrap(line: str, indent: str, width: int = WIDTH) -> list[str]:
    """`line` as several lines of at most `width` columns where a break is possible. What follows a
    break starts at `indent`, a step further right for each bracket that is open there."""
    lines = []
    depth = 0  # of brackets, where `line` starts
    while len(line) > width:
        place = _best_break(line, depth, width)
        if place is None:
            break
        at, depth = place
        lines.append(line[:at].rstrip())
        column = max(len(indent), min(len(indent) + len(INDENT) * depth, DEEP))
        line = " " * column + line[at:].lstrip()
    return [*lines, line]


def _best_break(line: str, depth: int, width: int) -> tuple[int, int] | None:
    """The position within `width` that lies in the fewest brackets, and there behind the operator
    that binds least, the last of several; with the number of brackets that are open there. Only
    for want of a space it is behind a bracket, or near the start."""
    best: tuple[bool, int, int, int] | None = None
    start = len(line) - len(line.lstrip())
    quoted = False
    for i, c in enumerate(line[:width]):
        if c == '"' and line[i - 1] != "\\":
            quoted = not quoted
        if quoted:
            continue
        depth += (c in "([{") - (c in ")]}")
        if i > start + 8 and (binds := _binds(line, i)) is not None:
            place = (i < width // 3 or binds == BRACKET, depth, binds, -i)
            best = min(best or place, place)
    return best and (1 - best[3], best[1])


def _binds(line: str, space: int) -> int | None:
    """How tightly the comma or operator before a space binds; None for other spaces: no break
    comes between a cast or declaration and what follows. A parenthesis with something inside
    counts too."""
    if line[space] == "(" and line[space + 1 : space + 2] not in ("", ")"):
        return BRACKET
    if line[space] != " ":
        return None
    if line[space - 1] in ",;" or line[space - 2 : space] == " =":
        return 0
    if line[space - 1] in "?:" or line[space - 2 : space] in ("&&", "||"):
        return 1
    if line[space - 1] in "*/%":
        return 3
    return 2 if line[space - 1] in "=+-&|^<>" else None

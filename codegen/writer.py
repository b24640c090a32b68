"""Lines of C with indentation, braces and wrapping: the only place that knows about columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

WIDTH = 100
INDENT = "    "


@dataclass(slots=True)
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
        if self.lines and self.lines[-1] and not self.lines[-1].endswith("{"):
            self.lines.append("")

    def directive(self, text: str) -> None:
        """A preprocessor line: at the current depth, never broken."""
        self.lines.append(INDENT * self.depth + text)

    def comment(self, text: str) -> None:
        """A `//` comment, broken between words."""
        indent = INDENT * self.depth
        line = indent + "//"
        for word in text.replace("\\", "/").split():
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


def wrap(line: str, indent: str) -> list[str]:
    """`line` as several lines of at most WIDTH columns where a break is possible."""
    lines = []
    while len(line) > WIDTH:
        at = _best_break(line, len(indent))
        if at is None:
            break
        lines.append(line[:at].rstrip())
        line = indent + line[at:].lstrip()
    return [*lines, line]


def _best_break(line: str, least: int) -> int | None:
    """The position after the last space within WIDTH that lies in the fewest parentheses."""
    best: tuple[int, int] | None = None
    depth, quoted = 0, False
    for i, c in enumerate(line[:WIDTH]):
        if c == '"' and line[i - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == " " and i > max(least + 8, WIDTH // 3) and _breakable(line, i):
            best = (depth, i + 1) if best is None or depth <= best[0] else best
    return best[1] if best else None


def _breakable(line: str, space: int) -> bool:
    """After a comma or an operator, never between a cast or declaration and what follows."""
    return line[space - 1] in ",;=+-*/%&|^<>?:" or line[space - 2 : space] in ("&&", "||")

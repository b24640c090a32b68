"""Diagnostics as data, and the exceptions that carry them: whose fault is it, where, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from hbc.ir.ground.printable import printable, printable_line
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span

MOST_MISTAKES = 100
"""After which a file is left: a generated one can have thousands, and nobody reads as many."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@record
class Note:
    """A second place that a diagnostic speaks of, such as the previous definition."""

    message: str
    span: Span


@record
class Diagnostic:
    """What is wrong, where, and what to do about it. Names in backquotes, values shown."""

    message: str
    span: Span | None = None
    hint: str | None = None
    notes: tuple[Note, ...] = ()
    severity: Severity = Severity.ERROR

    def render(self) -> str:
        """`file:line:column: error: message`, the line, a caret, the notes, the hint."""
        said = printable(self.message)
        lines = [f"{_where(self.span)}{self.severity}: {said}", *_excerpt(self.span)]
        for note in self.notes:
            lines += [f"{_where(note.span)}note: {printable(note.message)}", *_excerpt(note.span)]
        if self.hint:
            lines.append(f"hint: {printable(self.hint)}")
        return "\n".join(lines)


def distinct(said: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Without what is said again of the same place, as of what several kernels of a file share."""
    first: dict[object, Diagnostic] = {}
    for d in said:
        place = d.span and (d.span.source.name, d.span.start, d.span.end)
        first.setdefault((d.severity, d.message, d.hint, place), d)
    return [*first.values()]


class HbcError(Exception):
    """The user's mistake, or a missing tool: one or several diagnostics and an exit code."""

    exit_code = 1

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = (
            (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        )
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(d.render() for d in self.diagnostics)


class UsageError(HbcError):
    """The command line is wrong (exit code 2)."""

    exit_code = 2


class MismatchError(HbcError):
    """A result differs from the oracle by more than its bound (exit code 3)."""

    exit_code = 3


class ToolError(HbcError):
    """A compiler, emulator or device is missing or failed (exit code 4)."""

    exit_code = 4


class NoSolutionError(HbcError):
    """Nothing maps, or no sketch completes (exit code 5)."""

    exit_code = 5


class ArgumentError(HbcError, ValueError):
    """A call from Python passes arrays that the kernel does not take."""


class InternalError(Exception):
    """A bug in hbc itself: an invariant that a pass broke (exit code 70)."""


def error(
    message: str, span: Span | None = None, hint: str | None = None, *notes: Note
) -> HbcError:
    """The common case: one error with one place."""
    return HbcError(Diagnostic(message, span, hint, notes))


def in_order(mistakes: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The same, by their places; what has no place stands first."""
    return sorted(mistakes, key=lambda d: d.span.start if d.span else 0)


def left(count: int, source: Source) -> Diagnostic:
    """What is said last of a file with more mistakes than are worth finding."""
    message = f"{count} mistakes, and hbc looks for no more in {source.name}"
    return Diagnostic(message, severity=Severity.NOTE)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint naming the closest known name, or None when nothing is close."""
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(set(known)), n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else None


def _where(span: Span | None) -> str:
    if span is None:
        return ""
    line, column = span.source.position(span.start)
    return f"{printable_line(span.source.name)}:{line}:{column}: "


def _excerpt(span: Span | None) -> list[str]:
    if span is None:
        return []
    number, column = span.source.position(span.start)
    text = span.source.line(number).expandtabs(1)
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    start = max(0, column - 100)
    # What is escaped is longer than in the text: the caret follows.
    before, marked = text[start : column - 1], text[column - 1 : column - 1 + width]
    under = " " * len(printable(before)) + "^" + "~" * min(len(printable(marked)) - 1, 158)
    return [f"    {printable(text[start : start + 160])}", f"    {under}"]

"""How results look: diagnostics, tables, JSON and progress bars. Colour only on terminals."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby
from typing import TYPE_CHECKING

from hbc.cli.show.loudness import Loudness, loudness
from hbc.ir.ground.diag import MOST_MISTAKES, Diagnostic, Severity
from hbc.ir.ground.printable import printable, printable_line
from hbc.ir.ground.source import Span
from hbc.ir.host.trace import trace

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
QUIET_SECONDS = 1.0  # what takes less shows no progress

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

Said = str | Diagnostic  # a line that is not an error, or a diagnostic

_hearing: ContextVar[tuple[list[Said], ...]] = ContextVar("hearing", default=())


@contextmanager
def heard() -> Iterator[list[Said]]:
    """What this thread says on stderr meanwhile, which can be said again: notices and diagnostics."""
    said: list[Said] = []
    before = _hearing.set((*_hearing.get(), said))
    try:
        yield said
    finally:
        _hearing.reset(before)


_listener: ContextVar[Callable[[Said], None] | None] = ContextVar("listener", default=None)


@contextmanager
def told_to(listener: Callable[[Said], None]) -> Iterator[None]:
    """Notices and diagnostics of this thread go to the listener meanwhile, and not to stderr."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def say_again(said: Iterable[Said]) -> None:
    """What was heard, as it was said."""
    for kind, lines in groupby(said, type):
        if kind is Diagnostic:
            show_diagnostics([line for line in lines if isinstance(line, Diagnostic)])
        else:
            for line in lines:
                notice(str(line))


def show_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """All of them on stderr, as compilers print them."""
    for hearing in _hearing.get():
        hearing += diagnostics
    listener = _listener.get()
    if listener is not None:
        for diagnostic in diagnostics:
            listener(diagnostic)
        return
    # Beside so many mistakes of one file, the line that says that it was left.
    shown = MOST_MISTAKES + 1
    for diagnostic in diagnostics[:shown]:
        _echo(_coloured(diagnostic), err=True)
    left = len(diagnostics) - shown
    if left > 0:
        _echo(f"and {left} more", err=True)


def notice(text: str) -> None:
    """A line on stderr that is not an error, and left out by --quiet."""
    for hearing in _hearing.get():
        hearing.append(text)
    listener = _listener.get()
    if listener is not None:
        listener(text)
        return
    if loudness() is Loudness.QUIET:
        return
    _echo(printable(text), err=True)


def print_json(value: Json) -> None:
    """Indented JSON on stdout, keys in the order given; what JSON has no number for is null."""
    _echo(json.dumps(_finite(value), indent=2, allow_nan=False))


def diagnostic_json(diagnostic: Diagnostic) -> Json:
    """Stable keys; lines and columns count from 1, and are null where no text is to blame."""
    return {
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        **_place(diagnostic.span),
        "notes": [{"message": note.message, **_place(note.span)} for note in diagnostic.notes],
    }


def _place(span: Span | None) -> dict[str, Json]:
    if span is None:
        return {"file": None, "line": None, "column": None, "length": None}
    line, column = span.source.position(span.start)
    return {
        "file": span.source.name, "line": line, "column": column, "length": span.end - span.start,
    }  # fmt: skip


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout. Columns whose name ends in `>` are aligned right."""
    names = [column.removesuffix(">") for column in columns]
    rows = [[printable_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]
    _echo(printable_line(title))
    for row in (names, *rows):
        cells = [
            cell.rjust(width) if column.endswith(">") else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        _echo("  " + "  ".join(cells).rstrip())


def print_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """A headline and indented `name  value` lines on stdout."""
    _echo(printable_line(title))
    shown = list(facts)
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        _echo(printable(f"  {name:<{width}}  {value}"))


class Progress:
    """Tells the user what is being done: `step` names the work that begins now."""

    def __init__(self, total: int | None) -> None:
        self.total = total
        self._done = 0
        self._text = ""
        self._lock = threading.Lock()
        self._bar: RichProgress | None = None
        self._closed = False

    def step(self, text: str) -> None:
        trace(text)
        with self._lock:
            self._done += 1 if self._text else 0
            self._text = text
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], description=text, completed=self._done)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
        if self.total is not None:
            columns.insert(2, BarColumn())
        with self._lock:
            if self._closed:
                return
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self._text, total=self.total, completed=self._done)
            self._bar.start()

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()


@contextmanager
def progress(total: int | None = None) -> Iterator[Progress]:
    """A bar on stderr when that is a terminal and the work takes over a second."""
    shown = Progress(total)
    timer = threading.Timer(QUIET_SECONDS, shown._show)
    timer.daemon = True
    if sys.stderr.isatty() and loudness() is Loudness.USUAL:
        timer.start()
    try:
        yield shown
    finally:
        timer.cancel()
        shown._close()


def headline(what: str, threads: int, gpu: str | None = None) -> str:
    """What runs, and on how many threads or on which GPU."""
    several = f"{threads} threads" if threads > 1 else "one thread"
    return f"{what}, {gpu or several}"


def seconds(value: float) -> str:
    """A duration with a unit that suits it and three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _echo(text: str, err: bool = False) -> None:
    """A line, on stdout or stderr; with its colours where that is a terminal."""
    import click  # here, since it takes 10 ms, and a kernel that is called from Python says nothing

    colour = _colour(sys.stderr.isatty()) if err else None
    click.echo(text, err=err, color=colour)


def _colour(terminal: bool) -> bool:
    return terminal and not os.environ.get("NO_COLOR")


def _coloured(diagnostic: Diagnostic) -> str:
    import click

    severity = diagnostic.severity
    word = click.style(f"{severity}:", fg=COLOURS[severity], bold=True)
    return diagnostic.render().replace(f"{severity}:", word, 1)


def _finite(value: Json) -> Json:
    match value:
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            return {key: _finite(item) for key, item in value.items()}
        case str():
            return value
        case Sequence():
            return [_finite(item) for item in value]
        case _:
            return value

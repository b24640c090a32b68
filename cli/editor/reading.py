"""A text as an editor has it: parsed and checked as far as that goes, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from hbc.cli.editor.names import Occurrence, occurrences
from hbc.frontend.checks.check import check
from hbc.frontend.directives.schedule import apply_schedule
from hbc.frontend.expand.expand import check_library, is_library
from hbc.frontend.expand.imports import with_imports
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import GPU, TARGETS


class Reading:
    """`file` is None where the text has a mistake of syntax, `pipeline` where it has any in its algorithm.
    Nothing is lowered, so that a keystroke is answered at once: what only shows when a schedule is
    carried out is reported by `hbc check`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.file: ast.File | None = None
        self.pipeline: Pipeline | None = None
        self.mistakes: Sequence[Diagnostic] = ()
        try:
            self.file = parse(source)
            if is_library(self.file):
                check_library(self.file)
            else:
                self.pipeline = check(self.file, {}, False)
                self.mistakes = _of_schedules(self.pipeline)
        except HbcError as failure:
            self.mistakes = failure.diagnostics

    @cached_property
    def names(self) -> list[Occurrence]:
        if self.file is None:
            return []
        try:
            return occurrences(with_imports(self.file))
        except HbcError:  # which is among the mistakes
            return occurrences(self.file)

    def at(self, offset: int) -> Occurrence | None:
        """The name under, or just before, a character."""
        touching = [
            o for o in self.names
            if o.span.source is self.source and o.span.start <= offset <= o.span.end
        ]  # fmt: skip
        return min(touching, key=lambda o: o.span.end - o.span.start, default=None)

    def same(self, one: Occurrence) -> list[Occurrence]:
        """All that mean the same, in this file and in those it imports."""
        return [o for o in self.names if o.symbol == one.symbol]


def _of_schedules(p: Pipeline) -> list[Diagnostic]:
    """Directives that do not fit the loops."""
    found: list[Diagnostic] = []
    for schedule in p.schedules:
        gpu = any(TARGETS[t].machine == GPU for t in schedule.targets if t in TARGETS)
        try:
            apply_schedule(p, schedule, gpu)
        except HbcError as failure:
            found += failure.diagnostics
    return found

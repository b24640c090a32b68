"""A text as an editor has it: parsed and checked as far as that goes, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from hbc.cli.editor.found_right import FoundRight
from hbc.cli.editor.names import Occurrence, occurrences
from hbc.frontend.checks.check import check
from hbc.frontend.expand.expand import check_library, is_library
from hbc.frontend.expand.imports import with_imports
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text import ast
from hbc.frontend.text.kernels import alone, kernels
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import Diagnostic, HbcError, distinct
from hbc.ir.ground.source import Source, Span


class Reading:
    """`file` is None where the text has a mistake of syntax, `pipeline` where it has any in its algorithm.
    Nothing is lowered, so that a keystroke is answered at once: what only shows when a schedule is
    carried out is reported by `hbc check`; what `right` knows of earlier readings is not found again."""

    def __init__(self, source: Source, right: FoundRight | None = None) -> None:
        self.source = source
        self._right = right or FoundRight()
        self.file: ast.File | None = None
        self.pipeline: Pipeline | None = None
        self.mistakes: Sequence[Diagnostic] = ()
        self._kernels: dict[str, tuple[Span, Pipeline | None]] = {}
        try:
            self.file = parse(source)
            several = kernels(source)
            if is_library(self.file):
                check_library(self.file)
            elif several:
                self._read_each(several)
            else:
                self.pipeline, self.mistakes = self._checked(self.file)
        except HbcError as failure:
            self.mistakes = failure.diagnostics

    def _read_each(self, several: Sequence[ast.Kernel]) -> None:
        """Each kernel alone, for what is wrong with it."""
        mistakes: list[Diagnostic] = []
        for kernel in several:
            pipeline = None
            try:
                one = parse(alone(self.source, kernel.name.text))
                pipeline, found = self._checked(one)
                mistakes += found
            except HbcError as failure:
                mistakes += failure.diagnostics
            self._kernels[kernel.name.text] = kernel.span, pipeline
        self.mistakes = distinct(mistakes)

    def _checked(self, file: ast.File) -> tuple[Pipeline, list[Diagnostic]]:
        """The pipeline, and what is wrong with its schedules. HbcError for what is wrong otherwise."""
        p = check(file, {}, bounds=self._right.bounds)
        return p, list(self._right.mistakes(p))

    def pipeline_at(self, offset: int) -> Pipeline | None:
        """Of the kernel that the place lies in; outside of several, of the first."""
        if not self._kernels:
            return self.pipeline
        around = [p for span, p in self._kernels.values() if span.start <= offset < span.end]
        return (around or [p for _, p in self._kernels.values()])[0]

    @cached_property
    def names(self) -> list[Occurrence]:
        if self.file is None:
            return []
        if self._kernels:
            return self._names_of_kernels()
        try:
            return occurrences(with_imports(self.file))
        except HbcError:  # which is among the mistakes
            return occurrences(self.file)

    def _names_of_kernels(self) -> list[Occurrence]:
        """Those of all kernels. What one declares is its own; what stands outside, all mean."""
        found: dict[tuple[str, int, int], Occurrence] = {}
        for kernel, (around, _) in self._kernels.items():
            own = Reading(alone(self.source, kernel)).names
            shared = {o.symbol for o in own if o.declares and not _within(o.span, around)}
            for o in own:
                if o.symbol not in shared:
                    o = replace(o, symbol=(o.symbol[0], f"kernel {kernel}", *o.symbol[1:]))
                if o.span.source.name == self.source.name:
                    o = replace(o, span=replace(o.span, source=self.source))
                found.setdefault((o.span.source.name, o.span.start, o.span.end), o)
        return sorted(found.values(), key=lambda o: (o.span.source.name, o.span.start, o.span.end))

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


def _within(span: Span, around: Span) -> bool:
    same = span.source.name == around.source.name
    return same and around.start <= span.start and span.end <= around.end

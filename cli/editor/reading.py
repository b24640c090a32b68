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
from hbc.frontend.text.kernels import alone_of, kernels_of
from hbc.frontend.text.parse import parse, with_blocks
from hbc.ir.ground.diag import Diagnostic, HbcError, distinct
from hbc.ir.ground.source import Source, Span


class Reading:
    """`file` is None where the text has a mistake of syntax, `pipeline` where it has any in its algorithm.
    Nothing is lowered, so that a keystroke is answered at once: what only shows when a schedule is
    carried out is reported by `hbc check`; what `right` knows of earlier readings is not found again, and
    what reads as in the text `before` is neither parsed nor checked again. So a pipeline has no places
    that count: they are those of the file."""

    def __init__(
        self, source: Source, right: FoundRight | None = None, before: Reading | None = None
    ) -> None:
        self.source = source
        self._right = right or FoundRight()
        self._before = (before._parsed, before._found_right) if before else ({}, {})
        # By the kernel that is alone in it, "" for the whole text.
        self._parsed: dict[str, ast.File] = {}
        self._found_right: dict[str, tuple[ast.File, Pipeline]] = {}
        self.file: ast.File | None = None
        self.pipeline: Pipeline | None = None
        self.mistakes: Sequence[Diagnostic] = ()
        self._kernels: dict[str, tuple[Span, Pipeline | None]] = {}
        try:
            self.file = self._parse(source)
            several = kernels_of(self.file)
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
            name, pipeline = kernel.name.text, None
            try:
                file = self._parse(alone_of(several, name), name)
                pipeline, found = self._checked(file, name)
                mistakes += found
            except HbcError as failure:
                mistakes += failure.diagnostics
            self._kernels[name] = kernel.span, pipeline
        self.mistakes = distinct(mistakes)

    def _parse(self, source: Source, kernel: str = "") -> ast.File:
        file = self._parsed[kernel] = parse(source, self._before[0].get(kernel))
        return file

    def _checked(self, file: ast.File, kernel: str = "") -> tuple[Pipeline, list[Diagnostic]]:
        """The pipeline, and what is wrong with its schedules. HbcError for what is wrong otherwise."""
        whole = with_imports(file)
        known, p = self._before[1].get(kernel, (None, None))
        if p is None or known != whole:
            p = check(file, {}, bounds=self._right.bounds)
            mistakes = list(self._right.mistakes(p))
            if mistakes:
                return p, mistakes
        self._found_right[kernel] = whole, p
        return p, []

    def pipeline_at(self, offset: int) -> Pipeline | None:
        """Of the kernel that the place lies in; outside of several, of the first."""
        if not self._kernels:
            return self.pipeline
        around = [p for span, p in self._kernels.values() if span.start <= offset < span.end]
        return (around or [p for _, p in self._kernels.values()])[0]

    @property
    def schedules(self) -> list[ast.Schedule]:
        """Those that stand in the file."""
        statements = self.file.statements if self.file else ()
        return [s for s in with_blocks(statements) if isinstance(s, ast.Schedule)]

    @cached_property
    def names(self) -> list[Occurrence]:
        if self.file is None:
            return []
        return self._names_of_kernels() if self._kernels else _names(self.file)

    def _names_of_kernels(self) -> list[Occurrence]:
        """Those of all kernels. What one declares is its own; what stands outside, all mean."""
        found: dict[tuple[str, int, int], Occurrence] = {}
        for kernel, (around, _) in self._kernels.items():
            own = _names(self._parsed[kernel]) if kernel in self._parsed else []
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


def _names(file: ast.File) -> list[Occurrence]:
    try:
        return occurrences(with_imports(file))
    except HbcError:  # which is among the mistakes
        return occurrences(file)


def _within(span: Span, around: Span) -> bool:
    same = span.source.name == around.source.name
    return same and around.start <= span.start and span.end <= around.end

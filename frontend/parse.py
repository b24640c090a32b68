"""Parses `.hb` text into its syntax tree, or says everything that is wrong with its syntax."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from hbc.frontend import ast
from hbc.frontend.grammar import load_parser
from hbc.frontend.resume import resume_text
from hbc.frontend.syntax import explain
from hbc.frontend.tree import TreeBuilder
from hbc.ir.diag import Diagnostic, HbcError, Note, error
from hbc.ir.source import Source, Span

# So much parses in some three seconds. Kernels that people write are a hundred times smaller.
LARGEST_SOURCE = 500_000
# Passes recurse over expressions, some with three calls a level; Python stops at a thousand.
DEEPEST_NESTING = 200
MOST_ERRORS = 20

# What `refuse_giants` looks at; comments and strings are matched so that they are skipped.
NESTING = re.compile(r"[(\[{]|[)\]}]|#[^\n]*|\"[^\"\n]*\"")


def parse(source: Source) -> ast.File:
    """The tree of `source`. Raises HbcError with every independent syntax error found."""
    refuse_giants(source)
    with no_collection():
        return parse_whole(source)


@contextmanager
def no_collection() -> Iterator[None]:
    """Puts Python's garbage collector off. A parse makes many objects that all stay: looking through
    them again and again takes most of the time (200 kB: 7 s with it, 2.5 s without)."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def parse_whole(source: Source) -> ast.File:
    """The tree of a source of bearable size."""
    from lark.exceptions import UnexpectedInput

    parser = load_parser()
    mistakes: list[Diagnostic] = []
    text: str | None = source.text
    start = 0
    while text is not None and len(mistakes) < MOST_ERRORS:
        try:
            tree = parser.parse(text)
        except UnexpectedInput as unexpected:
            diagnostic, at = explain(unexpected, source)
            mistakes.append(diagnostic)
            start, text = resume_text(source.text, max(at, start))
            continue
        if not mistakes:
            builder = TreeBuilder(source)
            file = builder.build(tree)
            mistakes = builder.mistakes or list(too_deep(file.statements))
            if not mistakes:
                return file
        text = None
    raise HbcError(mistakes)


def refuse_giants(source: Source) -> None:
    """Raises HbcError for a source that is too long or brackets that nest too deep."""
    text = source.text
    if len(text) > LARGEST_SOURCE:
        raise error(
            f"{source.name} has {len(text):,} characters, and hbc reads at most {LARGEST_SOURCE:,}",
            None,
            "data belongs into an input, not into the source",
        )
    opened: list[int] = []
    for match in NESTING.finditer(text):
        first = match[0][0]
        if first in "([{":
            opened.append(match.start())
        elif first in ")]}" and opened:
            opened.pop()
        if len(opened) > DEEPEST_NESTING:
            span = Span(source, match.start(), match.end())
            note = Note("the outermost one opens here", Span(source, opened[0], opened[0] + 1))
            raise error(
                f"brackets nest deeper than {DEEPEST_NESTING}", span,
                "split the expression into several Funcs", note,
            )  # fmt: skip


class Spanned(Protocol):
    """A node of a syntax tree."""

    @property
    def span(self) -> Span: ...


def too_deep(statements: Iterable[Spanned]) -> Iterator[Diagnostic]:
    """Expressions that nest too deep for the passes, such as sums of a thousand terms."""
    for statement in statements:
        stack: list[tuple[object, int]] = [(statement, 0)]
        while stack:
            node, depth = stack.pop()
            if depth > DEEPEST_NESTING:
                yield Diagnostic(
                    f"this expression nests deeper than {DEEPEST_NESTING} operations",
                    statement.span,
                    "split it into several Funcs, or write a reduction",
                )
                break
            stack.extend((child, depth + 1) for child in ast.children(node))

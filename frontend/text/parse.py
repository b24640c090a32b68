"""Parses `.hb` text into its syntax tree, or says everything that is wrong with its syntax."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Protocol

from hbc.frontend.text import ast
from hbc.frontend.text.changes import parse_changed
from hbc.frontend.text.giants import DEEPEST_NESTING, refuse_giants
from hbc.frontend.text.grammar import load_parser
from hbc.frontend.text.resume import resume_text
from hbc.frontend.text.syntax import explain
from hbc.frontend.text.tree import KernelBuilder
from hbc.frontend.text.version import refuse_newer
from hbc.frontend.text.walk import children
from hbc.ir.ground.diag import Diagnostic, HbcError, left
from hbc.ir.ground.source import Source, Span

MOST_ERRORS = 20


def parse(source: Source, before: ast.File | None = None) -> ast.File:
    """The tree of `source`. Raises HbcError with every independent syntax error found. `before`: what was
    parsed of a text that has much in common with it, which makes no difference but in time."""
    refuse_giants(source)
    refuse_newer(source)
    with no_collection():
        return parse_whole(source, before)


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


def parse_whole(source: Source, before: ast.File | None = None) -> ast.File:
    """The tree of a source of bearable size."""
    from lark.exceptions import UnexpectedInput

    parser = load_parser()
    known = before or ast.File((), Source("", ""))
    mistakes: list[Diagnostic] = []
    text: str | None = source.text
    start = 0
    while text is not None and len(mistakes) < MOST_ERRORS:
        try:
            head, tree, tail = parse_changed(parser, text, known)
        except UnexpectedInput as unexpected:
            diagnostic, at = explain(unexpected, source)
            mistakes.append(diagnostic)
            start, text = resume_text(source.text, max(at, start))
            continue
        if not mistakes:
            builder = KernelBuilder(source)
            file: ast.File = builder.build(tree)
            mistakes = builder.mistakes or list(too_deep(_said(file)))
            if not mistakes:
                own = head.now(source), file.statements, tail.now(source)
                return ast.File(tuple(chain(*own)), source)
        text = None
    if len(mistakes) == MOST_ERRORS:
        mistakes.append(left(len(mistakes), source))
    raise HbcError(mistakes)


def with_blocks(statements: Iterable[ast.Statement]) -> Iterator[ast.Statement]:
    """The statements, and behind each kernel in braces those in it."""
    for s in statements:
        yield s
        if isinstance(s, ast.Kernel):
            yield from with_blocks(s.body or ())


def _said(file: ast.File) -> Iterator[ast.Statement]:
    """The statements, wherever they stand, without kernels as a whole."""
    return (s for s in with_blocks(file.statements) if not isinstance(s, ast.Kernel))


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
            stack.extend((child, depth + 1) for child in children(node))

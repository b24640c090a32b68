"""Maps over syntax trees, and short ways to make their nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hbc.frontend.text import ast, walk
from hbc.ir.ground.source import Source, Span

NOWHERE = Span(Source("made.hb", ""), 0, 0)
ExprMap = walk.ExprMap


def ident(text: str) -> ast.Ident:
    return ast.Ident(text, NOWHERE)


def name(text: str) -> ast.Name:
    return ast.Name(text, NOWHERE)


def number(value: int | float) -> ast.Number:
    return ast.Number(value, NOWHERE)


def binary(op: str, a: ast.Expr, b: ast.Expr) -> ast.Binary:
    return ast.Binary(op, a, b, NOWHERE)


def call(function: str, *args: ast.Expr) -> ast.Call:
    return ast.Call(ident(function), args, NOWHERE)


def access(array: str, *indices: ast.Expr) -> ast.Access:
    return ast.Access(ident(array), indices, NOWHERE)


def mapped(e: ast.Expr, f: ExprMap) -> ast.Expr:
    """`f` of every node, the innermost first."""
    return f(walk.mapped(e, lambda c: mapped(c, f)))


def mapped_outside_indices(e: ast.Expr, f: ExprMap) -> ast.Expr:
    """`f` of every node that is not part of an index."""
    if isinstance(e, ast.Access | ast.EdgeAccess):
        return f(e)
    return f(walk.mapped(e, lambda c: mapped_outside_indices(c, f)))


def parts(e: ast.Expr) -> Iterator[ast.Expr]:
    """The expression and all below it."""
    return (n for n in walk.nodes(e) if isinstance(n, ast.Expr))


def substituted(e: ast.Expr, values: Mapping[str, ast.Expr]) -> ast.Expr:
    """The expression with names replaced."""
    return mapped(e, lambda n: values.get(n.text, n) if isinstance(n, ast.Name) else n)


def definitions(file: ast.File) -> Iterator[ast.Definition]:
    return (s for s in file.statements if isinstance(s, ast.Definition))


def with_values(file: ast.File, f: Callable[[ast.Definition], ast.Expr]) -> ast.File:
    """The file with other values of its definitions."""
    return with_statements(
        file, lambda s: replace(s, value=f(s)) if isinstance(s, ast.Definition) else s
    )


def with_statements(file: ast.File, f: Callable[[ast.Statement], ast.Statement]) -> ast.File:
    return replace(file, statements=tuple(map(f, file.statements)))


def words(file: ast.File) -> set[str]:
    """Every name that the file uses."""
    return {n.text for n in walk.nodes(file) if isinstance(n, ast.Ident | ast.Name)}


def fresh(file: ast.File, stem: str) -> str:
    """A name that the file does not use."""
    used = words(file)
    number = 0
    while f"{stem}{number or ''}" in used:
        number += 1
    return f"{stem}{number or ''}"

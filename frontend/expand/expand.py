"""Writes a file out as definitions alone: imports read, each call of a function replaced by its body."""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.expand.calls import Expansion
from hbc.frontend.expand.functions import functions_of
from hbc.frontend.expand.imports import GIVEN, with_imports
from hbc.frontend.expand.reductions import Lifting, reductions
from hbc.frontend.text import ast
from hbc.frontend.text.parse import too_deep
from hbc.frontend.text.vocabulary import EDGES, words
from hbc.ir.ground.diag import Diagnostic, HbcError


def expand(file: ast.File) -> ast.File:
    """The same program without `def`, `import` and reductions in expressions. HbcError with every
    mistake in them."""
    if not any(_needs_work(s) for s in file.statements):
        return file
    whole = with_imports(file)
    mistakes: list[Diagnostic] = []
    functions = functions_of(whole, mistakes)
    if mistakes:
        raise HbcError(mistakes)
    found = words(whole)
    expansion = Expansion(functions, declared(whole), found, mistakes)
    statements = [
        _statement(s, expansion) for s in whole.statements if not isinstance(s, ast.Function)
    ]
    reduces = {d.name.text for s in statements if isinstance(s, ast.Reduce) for d in s.domains}
    lifting = Lifting(reduces, found, mistakes)
    flat: list[ast.Statement] = []
    for s in statements:
        flat += lifting.lifted(s) if isinstance(s, ast.Definition) else [s]
    mistakes = mistakes or list(too_deep(flat))
    if mistakes:
        raise HbcError(mistakes)
    return replace(whole, statements=tuple(flat))


def is_library(file: ast.File) -> bool:
    """Whether it is there to be imported: it has functions, and nothing that a kernel has."""
    return all(isinstance(s, GIVEN) for s in file.statements) and any(
        isinstance(s, ast.Function) for s in file.statements
    )


def check_library(file: ast.File) -> None:
    """HbcError with what can be said of functions that nobody calls."""
    mistakes: list[Diagnostic] = []
    functions_of(with_imports(file), mistakes)
    if mistakes:
        raise HbcError(mistakes)


def _needs_work(s: ast.Statement) -> bool:
    if isinstance(s, ast.Definition):
        return any(True for _ in reductions(s))
    return isinstance(s, ast.Function | ast.Import)


def declared(file: ast.File) -> set[str]:
    """The names that statements of the file give a meaning."""
    found: set[str] = set()
    for s in file.statements:
        match s:
            case ast.Sizes(names=names):
                found |= {n.text for n in names}
            case ast.Reduce(domains=domains):
                found |= {d.name.text for d in domains}
            case (
                ast.Param() | ast.TypeParam() | ast.Input() | ast.Output() | ast.Table()
                | ast.Definition() | ast.Alias() | ast.Function()
            ):  # fmt: skip
                found.add(s.name.text)
            case _:
                pass
    return found


def _statement(s: ast.Statement, expansion: Expansion) -> ast.Statement:
    match s:
        case ast.Alias(value=ast.Call() as call) if call.name.text not in EDGES:
            return expansion.named(s, call)
        case ast.Schedule() | ast.Example() | ast.Kernel() | ast.Sizes() | ast.TypeParam():
            return s
        case _:
            return expansion.rewritten(s)

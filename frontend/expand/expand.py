"""Writes a file out as definitions of single Funcs: imports read, families written out, each call of a
function replaced by its body, tuples taken apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from hbc.frontend.expand.calls import Expansion
from hbc.frontend.expand.families import Families, has_families
from hbc.frontend.expand.functions import functions_of
from hbc.frontend.expand.imports import with_imports
from hbc.frontend.expand.reductions import Lifting, reductions
from hbc.frontend.expand.tuples import apart
from hbc.frontend.expand.whole_numbers import params
from hbc.frontend.text import ast
from hbc.frontend.text.kernels import SHARED
from hbc.frontend.text.parse import too_deep
from hbc.frontend.text.vocabulary import EDGES, words
from hbc.frontend.text.walk import free_names, mapped, nodes
from hbc.ir.ground.diag import Diagnostic, HbcError


def expand(file: ast.File, settings: Mapping[str, str]) -> ast.File:
    """The same program without `def`, `import`, families, tuples and reductions in expressions. `settings`
    are the texts of `--set`. HbcError with every mistake in them."""
    if not any(_needs_work(s) for s in file.statements):
        return file
    whole = with_imports(file)
    if any(has_families(s) for s in whole.statements):
        whole = _without_families(whole, settings)
    mistakes: list[Diagnostic] = []
    functions = functions_of(whole, mistakes)
    if mistakes:
        raise HbcError(mistakes)
    taken = (words(whole) - _in_schedules_alone(whole.statements)) | declared(whole).keys()
    expansion = Expansion(functions, set(declared(whole)), taken, mistakes)
    reduces = {
        d.name.text for s in whole.statements if isinstance(s, ast.Reduce) for d in s.domains
    }
    statements = [
        _statement(s, expansion, reduces)
        for s in whole.statements
        if not isinstance(s, ast.Function)
    ]
    lifting = Lifting(reduces, taken, mistakes, taken - _outside_schedules(statements))
    flat: list[ast.Statement] = []
    for s in statements:
        if isinstance(s, ast.Definition):
            for d in apart(s, mistakes):
                flat += lifting.lifted(d)
        else:
            flat.append(s)
    mistakes = mistakes or list(too_deep(flat))
    if mistakes:
        raise HbcError(mistakes)
    return replace(whole, statements=tuple(flat))


def _named(s: ast.Definition, reduces: Set[str]) -> tuple[ast.Ident, ...]:
    """The reductions that a definition names as it is written."""
    named = {n.text for n, _ in free_names(s)} & reduces
    return tuple(ast.Ident(r, s.span) for r in sorted(named))


def _in_schedules_alone(statements: Sequence[ast.Statement]) -> set[str]:
    """The names that only schedules say. They speak of what is made here, and take no name from it: a Func is
    named as it was when the schedule was written, or made."""
    schedules = (s for s in statements if isinstance(s, ast.Schedule))
    return _names(schedules) - _outside_schedules(statements)


def _outside_schedules(statements: Iterable[ast.Statement]) -> set[str]:
    """The names that stand anywhere but in a schedule."""
    return _names(s for s in statements if not isinstance(s, ast.Schedule))


def _names(statements: Iterable[ast.Statement]) -> set[str]:
    return {n.text for n in nodes(*statements) if isinstance(n, ast.Ident | ast.Name)}


def _without_families(file: ast.File, settings: Mapping[str, str]) -> ast.File:
    giving = {
        s.name.text
        for s in file.statements
        if isinstance(s, ast.Function) and s.variables is not None
    }
    mistakes: list[Diagnostic] = []
    families = Families(params(file, settings), declared(file), frozenset(giving), mistakes)
    statements = families.written_out(file)
    if mistakes:
        raise HbcError(mistakes)
    return replace(file, statements=statements, repeated=tuple(families.repeated))


def is_library(file: ast.File) -> bool:
    """Whether it is there to be imported: it has functions, and nothing that a kernel has."""
    return all(isinstance(s, SHARED) for s in file.statements) and any(
        isinstance(s, ast.Function) for s in file.statements
    )


def check_library(file: ast.File) -> None:
    """HbcError with what can be said of functions that nobody calls."""
    mistakes: list[Diagnostic] = []
    functions_of(with_imports(file), mistakes)
    if mistakes:
        raise HbcError(mistakes)


def _needs_work(s: ast.Statement) -> bool:
    if isinstance(s, ast.Definition) and (s.group or any(True for _ in reductions(s))):
        return True
    return isinstance(s, ast.Function | ast.Import) or has_families(s)


def declared(file: ast.File) -> dict[str, ast.Ident]:
    """The names that statements of the file give a meaning, families aside, and where each does first."""
    meanings: dict[str, ast.Ident] = {}
    for s in _all(file.statements):
        match s:
            case ast.Sizes(names=names):
                for n in names:
                    meanings.setdefault(n.text, n)
            case ast.Reduce(domains=domains):
                for d in domains:
                    meanings.setdefault(d.name.text, d.name)
            case ast.Definition(members=members) if members:
                pass
            case ast.Definition(defined=names):
                for n in names:
                    meanings.setdefault(n.text, n)
            case (
                ast.Param() | ast.TypeParam() | ast.Input() | ast.Output() | ast.Table() | ast.Alias()
                | ast.Function()
            ):  # fmt: skip
                meanings.setdefault(s.name.text, s.name)
            case _:
                pass
    return meanings


def _all(statements: Iterable[ast.Statement]) -> Iterator[ast.Statement]:
    """With those in blocks."""
    for s in statements:
        if isinstance(s, ast.Each):
            yield from _all(s.body)
        else:
            yield s


def _statement(s: ast.Statement, expansion: Expansion, reduces: Set[str]) -> ast.Statement:
    match s:
        case ast.Definition():
            # An update runs over a reduction also where nothing of that is left: a function need not read
            # what it is given, and `x ** 0` is 1.
            return replace(mapped(s, expansion.rewritten), along=_named(s, reduces))
        case ast.Alias(value=ast.Call() as call) if call.name.text not in EDGES:
            return expansion.named(s, call)
        case ast.Schedule(condition=test):
            return s if test is None else replace(s, condition=expansion.rewritten(test))
        case ast.Example() | ast.Kernel() | ast.Sizes() | ast.TypeParam():
            return s
        case _:
            return mapped(s, expansion.rewritten)

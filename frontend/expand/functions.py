"""Collects functions, and checks what can be said of each without a call."""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import CONSTANTS, FUNCTIONS
from hbc.frontend.text.walk import free_names, nodes
from hbc.ir.ground.diag import Diagnostic, Note, did_you_mean
from hbc.ir.lang.types import DTYPES


def functions_of(file: ast.File, mistakes: list[Diagnostic]) -> dict[str, ast.Function]:
    """The functions by name. Reports names that are taken, and bodies that read what they cannot see."""
    functions: dict[str, ast.Function] = {}
    others: dict[str, ast.Ident] = {}
    for s in file.statements:
        match s:
            case ast.Definition():
                others |= {n.text: n for n in s.defined}
            case (
                ast.Param()
                | ast.TypeParam()
                | ast.Input()
                | ast.Output()
                | ast.Table()
                | ast.Alias()
            ):
                others[s.name.text] = s.name
            case _:
                pass
    visible = set(others)
    for s in file.statements:
        if isinstance(s, ast.Sizes):
            visible |= {n.text for n in s.names}
    for s in file.statements:
        if not isinstance(s, ast.Function):
            continue
        name = s.name.text
        taken = functions[name].name if name in functions else others.get(name)
        if name in DTYPES or name in FUNCTIONS or name in CONSTANTS:
            mistakes.append(
                Diagnostic(
                    f"`{name}` is a word of the language", s.name.span, "choose another name"
                )
            )
        elif taken is not None:
            mistakes.append(_taken(s, taken, file))
        else:
            functions[name] = s
        mistakes += _parameters(s)
    for s in functions.values():
        mistakes += _unseen(s, visible, functions)
    mistakes += _recursive(functions)
    return functions


def _taken(s: ast.Function, taken: ast.Ident, file: ast.File) -> Diagnostic:
    """Of two meanings the one that the file itself gives is to be changed, where the other is imported."""
    name, here = s.name.text, file.source
    if taken.span.source is here and s.name.span.source is not here:
        note = Note("it is defined there", s.name.span)
        message = f"`{name}` is a function that the file imports"
        return Diagnostic(message, taken.span, f"call this otherwise, such as `{name}_`", (note,))
    note = Note("the first meaning", taken.span)
    message = f"`{name}` already has a meaning"
    return Diagnostic(message, s.name.span, "choose another name", (note,))


def variables_of(f: ast.Function) -> tuple[str, ...]:
    """The index variables of a function that stands for a Func."""
    return tuple(v.text for v in f.variables or () if isinstance(v, ast.Name))


def _recursive(functions: dict[str, ast.Function]) -> Iterator[Diagnostic]:
    """Functions that call themselves, by way of others too: each circle once."""
    graph = {name: _called(f, functions) for name, f in functions.items()}
    done: set[str] = set()
    for root in graph:
        path = [(root, iter(graph[root]))] if root not in done else []
        while path:
            name, rest = path[-1]
            callee = next(rest, None)
            if callee is None:
                path.pop()
                done.add(name)
            elif callee in (circle := [n for n, _ in path]):
                around = circle[circle.index(callee) :]
                by = "" if len(around) == 1 else f", by way of `{around[1]}`"
                notes = tuple(
                    Note(f"`{n}` is defined here", functions[n].name.span) for n in around[1:]
                )
                yield Diagnostic(
                    f"`{callee}` calls itself{by}", functions[callee].name.span,
                    "a function is written out where it is called: write a reduction, or a scan", notes,
                )  # fmt: skip
                done |= set(circle)
            elif callee not in done:
                path.append((callee, iter(graph[callee])))


def _called(f: ast.Function, functions: dict[str, ast.Function]) -> list[str]:
    own = {p.text for p in f.parameters}
    calls = [n.name.text for n in nodes(f.value) if isinstance(n, ast.Call | ast.EdgeAccess)]
    return [name for name in dict.fromkeys(calls) if name in functions and name not in own]


def _parameters(f: ast.Function) -> Iterator[Diagnostic]:
    """Parameters and index variables are names, each once."""
    names: list[tuple[str, ast.Ident | ast.Expr]] = [(p.text, p) for p in f.parameters]
    for v in f.variables or ():
        if not isinstance(v, ast.Name):
            hint = "write it as `def f(g)[y, x] = ...`"
            yield Diagnostic("an index variable of a function is a name", v.span, hint)
            return
        names.append((v.text, v))
    for at, (name, where) in enumerate(names):
        if name in [n for n, _ in names[:at]]:
            yield Diagnostic(f"`{name}` stands twice among the parameters", where.span)
        elif name in DTYPES or name in CONSTANTS:
            yield Diagnostic(
                f"`{name}` is a word of the language", where.span, "choose another name"
            )


def _unseen(
    f: ast.Function, visible: set[str], functions: dict[str, ast.Function]
) -> Iterator[Diagnostic]:
    """A function sees its parameters and what the file declares, and no variable of its callers."""
    known = {p.text for p in f.parameters} | {*variables_of(f), *CONSTANTS, *visible}
    for name, bound in free_names(f.value):
        if name.text not in known | {*DTYPES, *functions}:
            hint = did_you_mean(name.text, known | bound) if len(name.text) > 2 else None
            yield Diagnostic(
                f"`{f.name.text}` does not see `{name.text}`", name.span,
                hint or f"make it a parameter: `def {f.name.text}(.., {name.text}) = ...`",
                (Note("a function sees its parameters and what the file declares", f.name.span),),
            )  # fmt: skip

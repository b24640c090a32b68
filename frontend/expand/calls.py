"""Replaces calls of functions by their bodies, arguments in the places of parameters.

An argument that is read more than once and is more than a name, a number or arithmetic of variables
is named by a `let`, so that nested calls do not grow without end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from hbc.frontend.expand.functions import variables_of
from hbc.frontend.expand.items import is_tuple, items
from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import EDGES
from hbc.frontend.text.walk import mapped, nodes
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, HbcError, Note
from hbc.ir.ground.record import mutable
from hbc.ir.ground.source import Span

MOST_NODES = 200_000  # of all bodies written out
MOST_CALLS = 60  # inside each other
SMALL, SHORT = 4, 16  # nodes of an argument that is written out each time; of one without reads


@mutable
class Expansion:
    """The functions of a file, the names that it declares, all its words, the calls being written
    out, outermost first, and what was wrong."""

    functions: Mapping[str, ast.Function]
    declared: set[str]
    words: set[str]
    mistakes: list[Diagnostic]
    calls: list[tuple[str, Span]] = field(default_factory=list)
    made: int = 0

    def rewritten(self, node: ast.Expr) -> ast.Expr:
        """The expression with every call of a function in it written out."""
        match node:
            case ast.Call() if node.name.text in self.functions:
                return self._call(node)
            case ast.EdgeAccess() if node.name.text in self.functions:
                return self._access(node)
            case ast.EdgeAccess():
                return replace(node, indices=tuple(map(self.rewritten, node.indices)))
            case _:
                return mapped(node, self.rewritten)

    def named(self, alias: ast.Alias, call: ast.Call) -> ast.Statement:
        """`B = blur(A)` as the definition of a Func."""
        function = self.functions.get(call.name.text)
        if function is None or function.variables is None:
            what = "a Func" if function is not None else "no function"
            if function is None:
                return alias  # the checker says what is wrong
            self.report(
                f"`{call.name.text}` gives a value, and not {what}", alias.span,
                f"write `{alias.name.text}[x] = {call.name.text}(...)`", function,
            )  # fmt: skip
            return alias
        variables = [v if v not in self.declared else self.fresh(v) for v in variables_of(function)]
        indices = tuple(ast.Name(v, alias.name.span) for v in variables)
        value = self._body(function, call.args, indices, call.span)
        return ast.Definition(alias.name, None, indices, "=", value, None, alias.span)

    def report(self, message: str, span: Span, hint: str | None, f: ast.Function) -> None:
        note = Note(f"`{f.name.text}` is defined here", f.name.span)
        around = [Note(f"in this call of `{name}`", at) for name, at in reversed(self.calls)]
        self.mistakes.append(Diagnostic(message, span, hint, (note, *around)))

    def fresh(self, name: str) -> str:
        """A name that the program does not have."""
        number = 1
        while f"{name}_{number}" in self.words:
            number += 1
        self.words.add(f"{name}_{number}")
        return f"{name}_{number}"

    def _call(self, e: ast.Call) -> ast.Expr:
        f = self.functions[e.name.text]
        if f.variables is not None:
            names = ", ".join(variables_of(f))
            self.report(
                f"`{f.name.text}` gives a Func, and needs indices", e.span,
                f"write `{f.name.text}(...)[{names}]`, or name it: `B = {f.name.text}(...)`", f,
            )  # fmt: skip
            return ast.Number(0, e.span)
        return self._body(f, e.args, (), e.span)

    def _access(self, e: ast.EdgeAccess) -> ast.Expr:
        f = self.functions[e.name.text]
        indices = tuple(map(self.rewritten, e.indices))
        if f.variables is None:
            self.report(
                f"`{f.name.text}` gives a value, and takes no indices", e.span,
                f"write `{f.name.text}(...)`", f,
            )  # fmt: skip
            return ast.Number(0, e.span)
        return self._body(f, e.args, indices, e.span)

    def _body(
        self, f: ast.Function, args: Sequence[ast.Expr], indices: tuple[ast.Expr, ...], at: Span
    ) -> ast.Expr:
        name, nothing = f.name.text, ast.Number(0, at)
        if len(self.calls) >= MOST_CALLS:  # functions that get themselves as arguments
            self.report(f"more than {MOST_CALLS} calls are inside each other", at, None, f)
            return nothing
        if len(args) != len(f.shape):
            self.report(
                f"`{name}` takes {counted(len(f.shape), 'argument')}, not {len(args)}", at,
                f"write `{name}({', '.join(_written(f))})`", f,
            )  # fmt: skip
            return nothing
        variables = variables_of(f)
        if len(indices) != len(variables):
            self.report(
                f"`{name}(...)` has {counted(len(variables), 'dimension')}, and is read with"
                f" {len(indices)}", at, None, f,
            )  # fmt: skip
            return nothing
        values = self._values(f, args)
        if values is None:
            return nothing
        given = {p.text: a for p, a in zip(f.parameters, values, strict=True)}
        given |= dict(zip(variables, indices, strict=True))
        lets: list[tuple[ast.Ident, ast.Expr]] = []
        uses = _uses(f.value)
        for parameter in f.parameters:
            argument = given[parameter.text]
            if uses.get(parameter.text, 0) > 1 and _is_large(argument):
                own = ast.Ident(self.fresh(parameter.text), argument.span)
                lets.append((own, argument))
                given[parameter.text] = ast.Name(own.text, argument.span)
        self.calls.append((name, at))
        body = self.rewritten(self._substituted(f.value, given, f))
        self.calls.pop()
        self.made += _size(body)
        if self.made > MOST_NODES:
            notes = [Note(f"in this call of `{n}`", where) for n, where in reversed(self.calls)]
            raise HbcError(
                Diagnostic(
                    f"functions written out make more than {MOST_NODES} operations", at,
                    "define a Func for what is read several times", tuple(notes),
                )
            )  # fmt: skip
        for own, value in reversed(lets):
            body = ast.Let(own, value, body, at)
        return ast.Inlined(name, body, at)

    def _values(self, f: ast.Function, args: Sequence[ast.Expr]) -> list[ast.Expr] | None:
        """For each parameter: of an argument that is a tuple, for each of its names. None after a report."""
        values: list[ast.Expr] = []
        for a, count, written in zip(args, f.shape, _written(f), strict=True):
            argument = self._argument(a)
            wrong: list[ast.Expr] = []
            values += items(argument, count, wrong) if count else [argument]
            if wrong:
                self.report(
                    f"`{f.name.text}` takes a tuple of {count} here, `{written}`", a.span,
                    f"write `({', '.join('abcdefgh'[:count])})`", f,
                )  # fmt: skip
                return None
        return values

    def _argument(self, a: ast.Expr) -> ast.Expr:
        """An argument as the caller means it. `clamp_edge(A)` and `blur(A)` stand for Funcs."""
        if isinstance(a, ast.Call) and (a.name.text in EDGES or self._gives_func(a)):
            return replace(a, args=tuple(map(self._argument, a.args)))
        return self.rewritten(a)

    def _gives_func(self, a: ast.Call) -> bool:
        f = self.functions.get(a.name.text)
        return f is not None and f.variables is not None

    def _substituted(self, e: ast.Expr, given: Mapping[str, ast.Expr], f: ast.Function) -> ast.Expr:
        """The body with arguments for parameters; its own `let`s get names of their own."""
        match e:
            case ast.Name(text=text) if text in given:
                return given[text]
            case ast.Let(name=name):
                own = ast.Ident(self.fresh(name.text), name.span)
                inner = {**given, name.text: ast.Name(own.text, name.span)}
                return ast.Let(
                    own, self._substituted(e.value, given, f),
                    self._substituted(e.body, inner, f), e.span,
                )  # fmt: skip
            case ast.Reduction():
                return self._reduction(e, given, f)
            case ast.Access(name=name) if name.text in given:
                indices = tuple(self._substituted(i, given, f) for i in e.indices)
                return self._read(e, given[name.text], indices, f)
            case ast.Call(name=name) | ast.EdgeAccess(name=name) if name.text in given:
                argument = given[name.text]
                if isinstance(argument, ast.Name):
                    e = replace(e, name=ast.Ident(argument.text, argument.span))
                    return mapped(e, lambda x: self._substituted(x, given, f))
                self.report(
                    f"`{f.name.text}` calls its argument `{name.text}`", argument.span,
                    "pass the name of a type or function", f,
                )  # fmt: skip
                return ast.Number(0, argument.span)
            case _:
                return mapped(e, lambda x: self._substituted(x, given, f))

    def _reduction(
        self, e: ast.Reduction, given: Mapping[str, ast.Expr], f: ast.Function
    ) -> ast.Expr:
        """Its own variables get names of their own, so that no argument reads them."""
        over: list[ast.Expr | ast.Domain] = []
        inner = dict(given)
        for o in e.over:
            if isinstance(o, ast.Domain):
                own = ast.Ident(self.fresh(o.name.text), o.name.span)
                interval = mapped(o.interval, lambda x: self._substituted(x, given, f))
                over.append(ast.Domain(own, interval, o.span))
                inner[o.name.text] = ast.Name(own.text, own.span)
                continue
            over.append(self._substituted(o, given, f))
            if isinstance(o, ast.Name) and any(o.text in names(a) for a in given.values()):
                self.report(
                    f"`{o.text}` means the caller's and the reduction's in `{f.name.text}`", o.span,
                    f"give the reduction its own: `{e.name.text}({o.text} in 0 .. N: ...)`", f,
                )  # fmt: skip
        condition = None if e.condition is None else self._substituted(e.condition, inner, f)
        term = self._substituted(e.term, inner, f)
        return ast.Reduction(e.name, tuple(over), term, condition, e.span)

    def _read(
        self, e: ast.Access, argument: ast.Expr, indices: tuple[ast.Expr, ...], f: ast.Function
    ) -> ast.Expr:
        """`parameter[indices]`: a read of the Func or input that the argument names."""
        match argument:
            case ast.Name(text=text, span=span):
                return ast.Access(ast.Ident(text, span), indices, e.span)
            case ast.Call(name=name, args=args) if name.text in EDGES or self._gives_func(argument):
                return ast.EdgeAccess(name, args, indices, argument.span)
            case _:
                self.report(
                    f"`{f.name.text}` reads its argument `{e.name.text}` with indices", argument.span,
                    "pass a Func or an input by its name", f,
                )  # fmt: skip
                return ast.Number(0, argument.span)


def names(e: object) -> set[str]:
    """The names that stand in an expression as values."""
    return set(_uses(e))


def _uses(body: object) -> dict[str, int]:
    """How often each name stands in it as a value."""
    return Counter(n.text for n in nodes(body) if isinstance(n, ast.Name))


def _written(f: ast.Function) -> list[str]:
    """The parameters, `(a, b)` where one stands for the members of a tuple."""
    rest = [p.text for p in f.parameters]
    shown: list[str] = []
    for count in f.shape:
        own, rest = rest[: count or 1], rest[count or 1 :]
        shown.append(f"({', '.join(own)})" if count else own[0])
    return shown


def _is_large(argument: ast.Expr) -> bool:
    """Whether it is more than arithmetic of variables, which costs nothing to write again. (A tuple has no
    name: its members do.)"""
    if is_tuple(argument):
        return False
    reads = any(isinstance(n, ast.Access | ast.EdgeAccess | ast.Inlined) for n in nodes(argument))
    # Func-valued arguments have no value that a `let` could name.
    named_func = isinstance(argument, ast.Call) and not reads
    return not named_func and _size(argument) > (SMALL if reads else SHORT)


def _size(e: object) -> int:
    return sum(1 for _ in nodes(e))

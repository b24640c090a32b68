"""The rules of `hb.lark` that do more than make the class of their name."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import ClassVar

from hbc.frontend.text import ast
from hbc.frontend.text.build import Builder, Children, Several, is_token, trees
from hbc.frontend.text.version import unversioned
from hbc.ir.ground.diag import Diagnostic

# Longer literals overflow every type; Python itself refuses to read integers of 4300 digits.
LONGEST_NUMBER = 60


class KernelBuilder(Builder):
    MODULES: ClassVar[tuple[ModuleType, ...]] = (ast,)
    LISTS = frozenset({"indices", "version"})
    NAMES: ClassVar = {"import_file": "Import", "values": "Tuple"}

    def file(self, c: Children) -> ast.File:
        made: ast.File = self.filled(ast.File, unversioned(c))
        return made

    # Statements

    def kernel(self, c: Children) -> ast.Kernel:
        body = trees(c) if len(c) > 2 else None
        for inner in body or ():
            if isinstance(inner, ast.Kernel):
                self.mistakes.append(
                    Diagnostic(
                        f"kernel `{inner.name.text}` stands in kernel `{c[1]}`", inner.span,
                        f"close `{c[1]}` before it: each kernel has braces of its own",
                    )
                )  # fmt: skip
        return ast.Kernel(self.ident(c[1]), self.over(c), body)

    def definition(self, c: Children) -> ast.Definition:
        at = next(i for i, x in enumerate(c) if is_token(x) and x.type in ("EQUAL", "UPDATE"))
        targets = [x for x in c[:at] if isinstance(x, ast.Target)] or [self.left(c[:at])]
        value, *condition = trees(c[at:])
        first = targets[0]
        word = next((i for i, x in enumerate(c) if is_token(x) and x.type == "WHILE"), None)
        if len(condition) > 1:
            self.mistakes.append(
                Diagnostic(
                    "an update has `where` or `while`", self.over(c[word:]),
                    "choose the value instead: `select(condition, new, old)` before `while`",
                )
            )  # fmt: skip
        return ast.Definition(
            first.name, first.type, first.indices, str(c[at]), value,
            condition[0] if condition else None, self.over(c), first.members, tuple(targets[1:]),
            tuple(t.name for t in targets) if c[0].type == "TUPLE" else (),
            None if word is None else self.ident(c[word + 1]),
        )  # fmt: skip

    def left(self, c: Children) -> ast.Target:
        name, *typed = self.idents(c)
        *members, indices = (tuple(x) for x in c if isinstance(x, Several))
        of = members[0] if members else ()
        return ast.Target(name, typed[0] if typed else None, indices, self.over(c), of)

    def input(self, c: Children) -> ast.Input:
        name, element = self.idents(c)
        extents = [e for each in trees(c) for e in each]
        constant = is_token(c[-1]) and c[-1].type == "CONSTANT"
        return ast.Input(name, element, tuple(extents), constant, self.over(c))

    def output(self, c: Children) -> ast.Output:
        name, element, *aliased = self.idents(c)
        (extents,) = trees(c)
        return ast.Output(
            name, element, tuple(extents), aliased[0] if aliased else None, self.over(c)
        )

    def function(self, c: Children) -> ast.Function:
        end = next(i for i, x in enumerate(c) if is_token(x) and x.type == "RPAR")
        given = [x for x in c[2:end] if isinstance(x, Several) or x.type == "NAME"]
        parameters: list[ast.Ident] = []
        for x in given:
            parameters += x if isinstance(x, Several) else [self.ident(x)]
        variables = next((tuple(x) for x in c[end:] if isinstance(x, Several)), None)
        shape = tuple(len(x) if isinstance(x, Several) else 0 for x in given)
        return ast.Function(
            self.ident(c[1]), tuple(parameters), variables, c[-1], self.over(c), shape
        )

    def names(self, c: Children) -> Several:
        several = Several(self.idents(c))
        several.rule, several.span = "names", self.over(c)
        return several

    def each(self, c: Children) -> ast.Each:
        parts = trees(c)
        domains = tuple(p for p in parts if isinstance(p, ast.Domain))
        return ast.Each(domains, parts[len(domains) :], self.over(c))

    def schedule(self, c: Children) -> ast.Schedule:
        where = next((i for i, x in enumerate(c) if is_token(x) and x.type == "WHERE"), None)
        targets = self.idents(c[:where])[1:]
        condition = None if where is None else c[where + 1]
        body = c if where is None else c[where + 2 :]
        lines = trees(body) if str(c[-1]) == "}" else None
        return ast.Schedule(self.ident(c[1]), targets, lines, self.over(c), condition)

    def line(self, c: Children) -> ast.Line:
        members, *steps = trees(c)
        if isinstance(members, ast.Step):
            return ast.Line(self.ident(c[0]), (members, *steps), self.over(c))
        chosen = members if isinstance(members, ast.Range) else tuple(members)
        return ast.Line(self.ident(c[0]), tuple(steps), self.over(c), chosen)

    def step(self, c: Children) -> ast.Step:
        args = trees(c) if len(c) > 2 else None
        return ast.Step(self.ident(c[1]), args, self.over(c))

    # Expressions

    def number(self, c: Children) -> ast.Number:
        text, span = str(c[0]).replace("_", ""), self.over(c)
        if len(text) > LONGEST_NUMBER:
            self.mistakes.append(
                Diagnostic(f"a number of {len(text)} digits is too long", span, "no type holds it")
            )
            return ast.Number(0, span)
        if text[:2] in ("0x", "0X"):
            return ast.Number(int(text, 16), span)
        return ast.Number(int(text) if text.isdigit() else float(text), span)

    def boolean(self, c: Children) -> ast.Boolean:
        return ast.Boolean(c[0].type == "TRUE", self.over(c))

    def group(self, c: Children) -> ast.Expr:
        inner: ast.Expr = replace(c[1], span=self.over(c))
        return inner

    def call(self, c: Children) -> ast.Call:
        return ast.Call(self.ident(c[0]), self.arguments(c), self.over(c))

    def edge_access(self, c: Children) -> ast.EdgeAccess:
        return ast.EdgeAccess(self.ident(c[0]), self.arguments(c[:-1]), tuple(c[-1]), self.over(c))

    def reduction(self, c: Children) -> ast.Reduction:
        colon = next(i for i, x in enumerate(c) if is_token(x) and x.type == "COLON")
        rest = trees(c[colon:])
        condition = rest[1] if len(rest) > 1 else None
        return ast.Reduction(self.ident(c[0]), trees(c[:colon]), rest[0], condition, self.over(c))

    def arguments(self, c: Children) -> tuple[ast.Expr, ...]:
        """Those of a call, which are expressions."""
        found: list[ast.Expr] = []
        for x in trees(c):
            if isinstance(x, ast.Domain):
                hint = f"a reduction has a term: `{c[0]}(k in K: ...)`"
                self.mistakes.append(Diagnostic("an interval is no argument", x.span, hint))
                continue
            found.append(x)
        return tuple(found)

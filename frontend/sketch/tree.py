"""The rules of `sf.lark` that do more than make the class of their name."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

from hbc.frontend.sketch import ast
from hbc.frontend.text.build import Builder, Children, Several, is_token, trees, unquoted
from hbc.frontend.text.version import unversioned
from hbc.ir.ground.diag import error

LONGEST_NUMBER = 9  # digits


class SketchBuilder(Builder):
    MODULES = (ast,)
    LISTS = frozenset({"shape", "declared", "parameters", "listed", "braces", "second", "version"})
    NAMES: ClassVar = {"named": "Option"}
    PRECEDENCE: ClassVar = {
        "or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "^": 5, "&": 6,
        "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9, "%": 9,
    }  # fmt: skip
    PREFIX: ClassVar = {"not": 3, "-": 10}
    COMPARISON = None  # they chain
    RIGHTWARD = None

    def sketch(self, c: Children) -> ast.File:
        made: ast.File = self.filled(ast.File, unversioned(c))
        return made

    def set_(self, c: Children) -> ast.Set:
        lists = {x.rule: tuple(x) for x in c if isinstance(x, Several)}
        parts = tuple(x for x in trees(c) if not isinstance(x, Several))
        return ast.Set(
            str(c[1]), c[0].type == "GATHER", lists.get("declared", ()), lists.get("parameters"),
            lists.get("shape"), parts, self.over(c),
        )  # fmt: skip

    def family(self, c: Children) -> ast.Family:
        binders = tuple(x for x in c if isinstance(x, ast.Binder))
        follows = {token.type: after for token, after in pairwise(c) if is_token(token)}
        spelling = unquoted(follows["AS"]) if "AS" in follows else ""
        cost = self.integer(follows["COST"]) if "COST" in follows else 1
        return ast.Family(c[0], binders, follows.get("WHERE"), spelling, cost, self.over(c))

    def binder(self, c: Children) -> ast.Binder:
        each = c[0] if isinstance(c[0], ast.Each) else None
        span = self.over(c)
        name, _, found, *more = c if each is None else c[1:]
        if isinstance(found, Several):
            return ast.Binder(str(name), None, None, tuple(found), each, span)
        first = found if more else None
        return ast.Binder(str(name), first, c[-1], (), each, span)

    def number(self, c: Children) -> ast.Number:
        return ast.Number(self.integer(c[0]), self.over(c))

    def coefficient(self, c: Children) -> ast.Binary:
        number = ast.Number(self.integer(c[0]), self.over(c[:1]))
        return ast.Binary("*", number, ast.Name(str(c[1]), self.over(c[1:])), self.over(c))

    def group(self, c: Children) -> Any:
        return c[1]

    def call(self, c: Children) -> ast.Call:
        """Options may stand in braces or among the arguments; a second pair of parentheses holds
        the arguments proper."""
        hole = c[0].type == "QUESTION"
        options: list[ast.Option] = []
        arguments: list[ast.Expr] = []
        for item in trees(c):
            for one in item if isinstance(item, Several) else (item,):
                (options if isinstance(one, ast.Option) else arguments).append(one)
        name = str(c[1] if hole else c[0])
        return ast.Call(name, hole, tuple(options), tuple(arguments), self.over(c))

    def multiset(self, c: Children) -> ast.Fold | ast.Multiset:
        """`fold{a, b}`, or with `length=n` in the braces and an argument, a fold of parts of rows."""
        span = self.over(c)
        members = trees(c)
        options = [x for x in members if isinstance(x, ast.Option)]
        elements = [x for x in members if not isinstance(x, ast.Option)]
        if not options:
            if is_token(c[-1]) and c[-1].type == "RPAR":
                raise error(
                    "`fold{...}` of terms takes no argument", span, "it is written `fold{a, b}`"
                )
            return ast.Multiset(operation_of(c), tuple(elements), span)
        if [o.name for o in options] != ["length"] or len(elements) != 1:
            raise error(
                "this fold cannot be read",
                span,
                "it is written `fold(+){length=4}(x)` or `fold{a, b}`",
            )
        return ast.Fold(operation_of(c), elements[0], options[0].value, span)

    def fold(self, c: Children) -> ast.Fold:
        return ast.Fold(operation_of(c), c[-1], None, self.over(c))

    def integer(self, token: Any) -> int:
        if len(token) > LONGEST_NUMBER:
            raise error(f"numbers have at most {LONGEST_NUMBER} digits", self.over([token]))
        return int(token)


def operation_of(c: Children) -> str:
    """The operation of a fold: `+` of `fold(+)`; empty without one."""
    token = c[1]
    return str(token)[1:-1].strip() if is_token(token) and token.type == "OPERATION" else ""

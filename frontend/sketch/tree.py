"""Builds the syntax tree of `.sf` files from the parser's: one method for each rule of `sf.lark`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hbc.frontend.sketch import ast
from hbc.ir.ground.diag import error
from hbc.ir.ground.source import Source, Span

# What a method gets: tokens (strings with `type`, `start_pos`, `end_pos`) and built nodes.
Children = list[Any]

LEVELS = {
    "or": 1, "and": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "^": 4, "&": 5,
    "<<": 6, ">>": 6, "+": 7, "-": 7, "*": 8, "/": 8, "%": 8,
}  # fmt: skip
LONGEST_NUMBER = 9  # digits


class Several(tuple[Any, ...]):
    """The results of a rule that is only a list, with its place."""

    span: Span


class TreeBuilder:
    """Holds the source that spans point into."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def build(self, tree: Any) -> ast.File:
        found = self.fold_tree(tree)
        assert isinstance(found, ast.File)
        return found

    def fold_tree(self, node: Any) -> Any:
        if is_token(node):
            return node
        method: Callable[[Children], Any] = getattr(self, node.data)
        return method([self.fold_tree(child) for child in node.children])

    def sketch(self, c: Children) -> ast.File:
        return ast.File(tuple(nodes(c)), self.source)

    # Statements

    def param(self, c: Children) -> ast.Param:
        value, *allowed = nodes(c)
        return ast.Param(str(c[1]), value, tuple(allowed), self.over(c))

    def import_(self, c: Children) -> ast.Import:
        return ast.Import(str(c[1])[1:-1], self.over(c))

    def define(self, c: Children) -> ast.Define:
        shape, *value = nodes(c)
        return ast.Define(str(c[0]), tuple(shape), value[0] if value else None, self.over(c))

    def goal(self, c: Children) -> ast.Goal:
        return ast.Goal(str(c[1]), c[3], self.over(c))

    def shape(self, c: Children) -> Several:
        return self.several(c)

    def set_(self, c: Children) -> ast.Set:
        marked = {part.kind: part.items for part in c if isinstance(part, Marked)}
        shape = next((tuple(x) for x in c if isinstance(x, Several)), None)
        parts = tuple(x for x in c if isinstance(x, ast.Family | ast.Table | ast.Delegate))
        return ast.Set(
            str(c[1]), c[0].type == "GATHER", marked.get("declared", ()),
            marked.get("parameters"), shape, parts, self.over(c),
        )  # fmt: skip

    def declared(self, c: Children) -> Marked:
        return Marked("declared", tuple(nodes(c)), self.over(c))

    def parameters(self, c: Children) -> Marked:
        return Marked("parameters", tuple(nodes(c)), self.over(c))

    def parameter(self, c: Children) -> ast.Parameter:
        shape = tuple(c[2]) if len(c) > 2 else None
        return ast.Parameter(str(c[0]), shape, self.over(c))

    def family(self, c: Children) -> ast.Family:
        binders = tuple(x for x in c if isinstance(x, ast.Binder))
        follows = {token.type: after for token, after in pairwise(c) if is_token(token)}
        spelling = str(follows["AS"])[1:-1] if "AS" in follows else ""
        cost = self.integer(follows["COST"]) if "COST" in follows else 1
        return ast.Family(c[0], binders, follows.get("WHERE"), spelling, cost, self.over(c))

    def table(self, c: Children) -> ast.Table:
        return ast.Table(c[1], self.over(c))

    def delegate(self, c: Children) -> ast.Delegate:
        return ast.Delegate(str(c[0]), tuple(c[1]) if len(c) > 1 else (), self.over(c))

    def binder(self, c: Children) -> ast.Binder:
        each = c[0] if isinstance(c[0], ast.Each) else None
        span = self.over(c)
        name, _, found, *more = c if each is None else c[1:]
        if isinstance(found, Several):
            return ast.Binder(str(name), None, None, tuple(found), each, span)
        first = found if more else None
        return ast.Binder(str(name), first, c[-1], (), each, span)

    def each(self, c: Children) -> ast.Each:
        return ast.Each(next(iter(nodes(c)), None), self.over(c))

    def listed(self, c: Children) -> Several:
        return self.several(c)

    def braces(self, c: Children) -> Several:
        return self.several(c)

    def option(self, c: Children) -> ast.Option:
        return ast.Option(str(c[0]), c[2] if len(c) > 1 else None, self.over(c))

    # Expressions

    def conditional(self, c: Children) -> ast.Conditional:
        return ast.Conditional(c[1], c[3], c[5], self.over(c))

    def lambda_(self, c: Children) -> ast.Lambda:
        names = tuple(str(x) for x in c if is_token(x) and x.type == "NAME")
        return ast.Lambda(names, c[-1], self.over(c))

    def chain(self, c: Children) -> ast.Expr:
        """Operands and operators by precedence; unary ones bind tighter, `not` above comparisons."""
        position = 0

        def operand() -> ast.Expr:
            nonlocal position
            item = c[position]
            position += 1
            if not is_token(item):
                found: ast.Expr = item
                return found
            inner = operand() if item == "-" else climb(LEVELS["=="])
            return ast.Unary(str(item), inner, self.between(item.start_pos, inner.span.end))

        def climb(level: int) -> ast.Expr:
            nonlocal position
            left = operand()
            while position < len(c) and LEVELS[str(c[position])] >= level:
                op = str(c[position])
                position += 1
                right = climb(LEVELS[op] + 1)
                left = ast.Binary(op, left, right, self.between(left.span.start, right.span.end))
            return left

        return climb(0)

    def name(self, c: Children) -> ast.Name:
        return ast.Name(str(c[0]), self.over(c))

    def number(self, c: Children) -> ast.Number:
        return ast.Number(self.integer(c[0]), self.over(c))

    def coefficient(self, c: Children) -> ast.Binary:
        number = ast.Number(self.integer(c[0]), self.over(c[:1]))
        return ast.Binary("*", number, ast.Name(str(c[1]), self.over(c[1:])), self.over(c))

    def blank(self, c: Children) -> ast.Blank:
        return ast.Blank(self.over(c))

    def group(self, c: Children) -> Any:
        return c[1]

    def read(self, c: Children) -> ast.Read:
        return ast.Read(str(c[0]), tuple(nodes(c)), self.over(c))

    def call(self, c: Children) -> ast.Call:
        """Options may stand in braces or among the arguments; a second pair of parentheses holds
        the arguments proper."""
        hole = c[0].type == "QUESTION"
        options: list[ast.Option] = []
        arguments: list[ast.Expr] = []
        for item in nodes(c):
            for one in item if isinstance(item, Several) else (item,):
                (options if isinstance(one, ast.Option) else arguments).append(one)
        name = str(c[1] if hole else c[0])
        return ast.Call(name, hole, tuple(options), tuple(arguments), self.over(c))

    def second(self, c: Children) -> Several:
        return self.several(c)

    def named(self, c: Children) -> ast.Option:
        return ast.Option(str(c[0]), c[2], self.over(c))

    def fold(self, c: Children) -> ast.Fold:
        return ast.Fold(operation_of(c), c[-1], None, self.over(c))

    def multiset(self, c: Children) -> ast.Fold | ast.Multiset:
        """`fold{a, b}`, or with `length=n` in the braces and an argument, a fold of parts of rows."""
        span = self.over(c)
        found = nodes(c)
        options = [x for x in found if isinstance(x, ast.Option)]
        elements = [x for x in found if not isinstance(x, ast.Option)]
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

    def list(self, c: Children) -> ast.List:
        return ast.List(tuple(nodes(c)), self.over(c))

    def ellipsis(self, c: Children) -> ast.Ellipsis:
        return ast.Ellipsis(c[1] if len(c) > 1 else None, self.over(c))

    def comprised(self, c: Children) -> ast.Comprised:
        return ast.Comprised(str(c[0]), c[2], self.over(c))

    def comprehension(self, c: Children) -> ast.Comprehension:
        *variables, body = nodes(c)
        return ast.Comprehension(tuple(variables), body, self.over(c))

    def block(self, c: Children) -> ast.Block:
        *definitions, result = nodes(c)
        return ast.Block(tuple(definitions), result, self.over(c))

    # Places

    def integer(self, token: Any) -> int:
        if len(token) > LONGEST_NUMBER:
            raise error(f"numbers have at most {LONGEST_NUMBER} digits", self.over([token]))
        return int(token)

    def several(self, c: Children) -> Several:
        found = Several(nodes(c))
        found.span = self.over(c)
        return found

    def between(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def over(self, c: Children) -> Span:
        """From the first child to the last."""
        first, last = c[0], c[-1]
        start = first.start_pos if is_token(first) else first.span.start
        end = last.end_pos if is_token(last) else last.span.end
        return Span(self.source, start, end)


class Marked:
    """A list of the head of a set, and which."""

    def __init__(self, kind: str, items: tuple[Any, ...], span: Span) -> None:
        self.kind = kind
        self.items = items
        self.span = span


def is_token(x: object) -> bool:
    """Tokens are the only strings among the children."""
    return isinstance(x, str)


def nodes(c: Children) -> list[Any]:
    return [x for x in c if not is_token(x)]


def operation_of(c: Children) -> str:
    """The operation of a fold: `+` of `fold(+)`; empty without one."""
    token = c[1]
    return str(token)[1:-1].strip() if is_token(token) and token.type == "OPERATION" else ""

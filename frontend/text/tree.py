"""Builds the syntax tree from the parser's: one method for each rule of `hb.lark`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from hbc.frontend.text import ast
from hbc.ir.ground.diag import Diagnostic
from hbc.ir.ground.source import Source, Span

if TYPE_CHECKING:
    from lark import ParseTree

# What a method gets: the tokens and the results of the rules below, in order. Tokens are strings
# with `type`, `start_pos` and `end_pos`; Lark is imported late, so they are not named here.
Children = list[Any]

# Longer literals overflow every type; Python itself refuses to read integers of 4300 digits.
LONGEST_NUMBER = 60


class TreeBuilder:
    """Holds the source that spans point into and the mistakes that only the rules can see."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.mistakes: list[Diagnostic] = []

    def build(self, tree: ParseTree) -> ast.File:
        return cast(ast.File, self.fold_tree(tree))

    def fold_tree(self, tree: ParseTree) -> Any:
        """Bottom-up with a stack of its own: the tree may be deeper than Python's."""
        made: list[Any] = []
        stack: list[tuple[Any, bool]] = [(tree, False)]
        while stack:
            node, seen = stack.pop()
            if seen:
                count = len(node.children)
                args = made[len(made) - count :]
                del made[len(made) - count :]
                made.append(getattr(self, node.data)(args))
            elif is_token(node):
                made.append(node)
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))
        return made[0]

    def file(self, c: Children) -> ast.File:
        return ast.File(tuple(x for x in c if not is_token(x)), self.source)

    # Statements

    def kernel(self, c: Children) -> ast.Kernel:
        return ast.Kernel(self.ident(c[1]), self.over(c))

    def sizes(self, c: Children) -> ast.Sizes:
        return ast.Sizes(self.idents(c), self.over(c))

    def param(self, c: Children) -> ast.Param:
        return ast.Param(self.ident(c[1]), self.ident(c[3]), c[5], self.over(c))

    def type_param(self, c: Children) -> ast.TypeParam:
        return ast.TypeParam(self.ident(c[1]), self.ident(c[3]), self.over(c))

    def input(self, c: Children) -> ast.Input:
        return ast.Input(self.ident(c[1]), self.ident(c[3]), c[4][0], self.over(c))

    def output(self, c: Children) -> ast.Output:
        return ast.Output(self.ident(c[1]), self.ident(c[3]), c[4][0], self.over(c))

    def table(self, c: Children) -> ast.Table:
        variables = None if is_token(c[5]) else c[5][0]
        name, type_ = self.ident(c[1]), self.ident(c[3])
        return ast.Table(name, type_, c[4][0], variables, c[-1], self.over(c))

    def require(self, c: Children) -> ast.Require:
        message = str(c[3])[1:-1] if len(c) > 2 else None
        return ast.Require(c[1], message, self.over(c))

    def bound(self, c: Children) -> ast.Bound:
        return ast.Bound(self.ident(c[1]), c[3], self.over(c))

    def reduce(self, c: Children) -> ast.Reduce:
        return ast.Reduce(trees(c), self.over(c))

    def domain(self, c: Children) -> ast.Domain:
        return ast.Domain(self.ident(c[0]), c[2], self.over(c))

    def interval(self, c: Children) -> ast.Interval:
        start = c[0] if len(c) > 1 else None
        return ast.Interval(start, c[-1], self.over(c))

    def definition(self, c: Children) -> ast.Definition:
        in_family = not is_token(c[1]) and (not is_token(c[2]) or c[2].type == "COLON")
        members = c[1][0] if in_family else ()
        whole, c = c, [c[0], *c[2:]] if in_family else c
        typed = c[1].type == "COLON" if is_token(c[1]) else False
        at = 3 if typed else 1
        condition = c[at + 4] if len(c) > at + 3 else None
        return ast.Definition(
            self.ident(c[0]), self.ident(c[2]) if typed else None,
            c[at][0], str(c[at + 1]), c[at + 2], condition, self.over(whole), members,
        )  # fmt: skip

    def alias(self, c: Children) -> ast.Alias:
        return ast.Alias(self.ident(c[0]), c[2], self.over(c))

    def function(self, c: Children) -> ast.Function:
        end = next(i for i, x in enumerate(c) if is_token(x) and x.type == "RPAR")
        variables = None if is_token(c[end + 1]) else c[end + 1][0]
        name, *parameters = self.idents(c)
        return ast.Function(name, tuple(parameters), variables, c[-1], self.over(c))

    def import_file(self, c: Children) -> ast.Import:
        return ast.Import(self.text([c[1]]), self.over(c))

    def each(self, c: Children) -> ast.Each:
        parts = trees(c)
        domains = tuple(p for p in parts if isinstance(p, ast.Domain))
        return ast.Each(domains, parts[len(domains) :], self.over(c))

    def range(self, c: Children) -> ast.Range:
        start, *stop = trees(c)
        return ast.Range(start, stop[0] if stop else None, self.over(c))

    def cells(self, c: Children) -> ast.Cells:
        return ast.Cells(trees(c), self.over(c))

    # Schedules and examples

    def schedule(self, c: Children) -> ast.Schedule:
        targets = self.idents(c)[1:]
        lines = trees(c) if str(c[-1]) == "}" else None
        return ast.Schedule(self.ident(c[1]), targets, lines, self.over(c))

    def line(self, c: Children) -> ast.Line:
        if not isinstance(c[1], ast.Range | tuple):
            return ast.Line(self.ident(c[0]), trees(c), self.over(c))
        members = c[1] if isinstance(c[1], ast.Range) else c[1][0]
        return ast.Line(self.ident(c[0]), trees(c[2:]), self.over(c), members)

    def step(self, c: Children) -> ast.Step:
        args = trees(c) if len(c) > 2 else None
        return ast.Step(self.ident(c[1]), args, self.over(c))

    def option(self, c: Children) -> ast.Option:
        return ast.Option(self.ident(c[0]), c[2], self.over(c))

    def example(self, c: Children) -> ast.Example:
        name = self.ident(c[1]) if c[1].type == "NAME" else None
        return ast.Example(name, trees(c), self.over(c))

    def setting(self, c: Children) -> ast.Setting:
        return ast.Setting(self.ident(c[0]), c[2], self.over(c))

    # Expressions

    def let(self, c: Children) -> ast.Let:
        return ast.Let(self.ident(c[1]), c[3], c[5], self.over(c))

    def chain(self, c: Children) -> ast.Expr:
        return self.fold(c)

    def name(self, c: Children) -> ast.Name:
        return ast.Name(str(c[0]), self.over(c))

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

    def text(self, c: Children) -> ast.Text:
        return ast.Text(str(c[0])[1:-1], self.over(c))

    def group(self, c: Children) -> ast.Expr:
        inner: ast.Expr = replace(c[1], span=self.over(c))
        return inner

    def access(self, c: Children) -> ast.Access:
        return ast.Access(self.ident(c[0]), c[1][0], self.over(c))

    def member_access(self, c: Children) -> ast.MemberAccess:
        return ast.MemberAccess(self.ident(c[0]), c[1][0], c[2][0], self.over(c))

    def call(self, c: Children) -> ast.Call:
        return ast.Call(self.ident(c[0]), self.arguments(c), self.over(c))

    def edge_access(self, c: Children) -> ast.EdgeAccess:
        return ast.EdgeAccess(self.ident(c[0]), self.arguments(c[:-1]), c[-1][0], self.over(c))

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

    def indices(self, c: Children) -> tuple[tuple[ast.Expr, ...], Span]:
        return trees(c), self.over(c)

    def fold(self, c: Children) -> ast.Expr:
        """A flat chain of operands and operators as a tree, by precedence, without recursion."""
        operands: list[ast.Expr] = []
        operators: list[tuple[Any, bool, int]] = []  # token, is it a prefix, precedence

        def reduce_above(level: int) -> None:
            while operators and operators[-1][2] >= level:
                token, prefix, _ = operators.pop()
                op = ast.SPELLINGS.get(token, str(token))
                a = operands.pop()
                if prefix:
                    operands.append(ast.Unary(op, a, self.between(token.start_pos, a.span.end)))
                else:
                    left = operands.pop()
                    span = self.between(left.span.start, a.span.end)
                    operands.append(ast.Binary(op, left, a, span))

        expect_operand = True
        for x in c:
            if not is_token(x):
                operands.append(x)
                expect_operand = False
                continue
            op = ast.SPELLINGS.get(x, str(x))
            if expect_operand:
                operators.append((x, True, ast.PREFIX[op]))
                continue
            level = ast.PRECEDENCE[op]
            reduce_above(level + 1)
            if level == ast.COMPARISON and operators and operators[-1][2] == level:
                self.chained(operators[-1][0], x)
            reduce_above(level)
            operators.append((x, False, level))
            expect_operand = True
        reduce_above(0)
        return operands[0]

    def chained(self, first: Any, second: Any) -> None:
        self.mistakes.append(
            Diagnostic(
                f"comparisons do not chain: `{second}` follows `{first}`",
                self.between(second.start_pos, second.end_pos),
                f"write `a {first} b and b {second} c`",
            )
        )

    # Spans and names

    def between(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def over(self, c: Children) -> Span:
        """From the first child to the last."""
        first, last = c[0], c[-1]
        start = first.start_pos if is_token(first) else span_of(first).start
        end = last.end_pos if is_token(last) else span_of(last).end
        return Span(self.source, start, end)

    def ident(self, token: Any) -> ast.Ident:
        return ast.Ident(str(token), self.between(token.start_pos, token.end_pos))

    def idents(self, c: Children) -> tuple[ast.Ident, ...]:
        return tuple(self.ident(x) for x in c if is_token(x) and x.type == "NAME")


def is_token(x: object) -> bool:
    """Tokens are the only strings among the children."""
    return isinstance(x, str)


def span_of(x: Any) -> Span:
    """The span of a node, or of the pair that `indices` makes."""
    span: Span = x[1] if isinstance(x, tuple) else x.span
    return span


def trees(c: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(x for x in c if not is_token(x))

"""Builds a syntax tree from the parser's, of kernels, descriptions and sketches.

A rule of a grammar makes the class of its name, whose fields take the names, strings and trees below in
their order. What does otherwise is a method of a builder, and what is only a list is one of its `LISTS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from itertools import takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hbc.frontend.text import ast
from hbc.frontend.text.slips import slip_at
from hbc.ir.ground.diag import Diagnostic
from hbc.ir.ground.source import Source, Span
from hbc.ir.ground.tree import ByClass, How, how

if TYPE_CHECKING:
    from lark import ParseTree

# What a method gets: the tokens and the results of the rules below, in order. Tokens are strings
# with `type`, `start_pos` and `end_pos`; Lark is imported late, so they are not named here.
Children = list[Any]


class Several(tuple[Any, ...]):
    """What a rule makes that is only a list, with its name and its place."""

    rule: str
    span: Span


class Builder:
    """Holds the source that spans point into and the mistakes that only the rules can see. `MODULES`: where
    the classes are. `NAMES`: of those whose rule is called otherwise. How tightly operators bind: as in
    `ast`; those of the level `COMPARISON` do not chain, those of `RIGHTWARD` associate to the right."""

    MODULES: ClassVar[tuple[ModuleType, ...]]
    LISTS: ClassVar[frozenset[str]]
    NAMES: ClassVar[Mapping[str, str]] = {}
    PRECEDENCE: ClassVar[Mapping[str, int]] = ast.PRECEDENCE
    PREFIX: ClassVar[Mapping[str, int]] = ast.PREFIX
    COMPARISON: ClassVar[int | None] = ast.COMPARISON
    RIGHTWARD: ClassVar[int | None] = ast.POWER

    def __init__(self, source: Source) -> None:
        self.source = source
        self.mistakes: list[Diagnostic] = []

    def build(self, tree: ParseTree) -> Any:
        """Bottom-up with a stack of its own: the tree may be deeper than Python's."""
        made: list[Any] = []
        stack: list[tuple[Any, bool]] = [(tree, False)]
        while stack:
            node, seen = stack.pop()
            if seen:
                count = len(node.children)
                args = made[len(made) - count :]
                del made[len(made) - count :]
                made.append(self.made(node.data, args))
            elif is_token(node):
                made.append(node)
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))
        return made[0]

    def made(self, rule: str, c: Children) -> Any:
        """What the rule makes of what is below."""
        method = getattr(self, rule, None)
        if method is not None:
            return method(c)
        if rule in self.LISTS:
            several = Several(trees(c))
            several.rule, several.span = rule, self.over(c)
            return several
        name = self.NAMES.get(rule) or rule.title().replace("_", "")
        return self.filled(_class(self.MODULES, name), c)

    def filled(self, cls: type[Any], c: Children) -> Any:
        """The class with its fields in the order of what is below. A list is one of `LISTS`, or as many
        as later fields leave."""
        words = [x for x in c if is_token(x) and x.type in ("NAME", "STRING")]
        below = [x for x in c if not is_token(x)]
        values: list[Any] = []
        for of, amount, later in _PLANS[cls]:
            if of in ("Span", "Source"):
                values.append(self.over(c) if of == "Span" else self.source)
                continue
            queue = words if of else below
            first = queue[0] if queue else None
            if isinstance(first, Several) and amount in (How.MANY, How.MIXED):
                values.append(tuple(queue.pop(0)))
            elif amount is How.MANY:
                taken = [*takewhile(lambda x: not isinstance(x, Several), queue)]
                taken = taken[: len(queue) - later]
                del queue[: len(taken)]
                values.append(tuple(self.word(x, of) for x in taken))
            elif amount is How.ONE or (amount is How.OPTIONAL and len(queue) > later):
                values.append(self.word(queue.pop(0), of))
            else:
                values.append(None)
        assert not words and not below, cls
        return cls(*values)

    def word(self, x: Any, of: str) -> Any:
        """A token as a field has it; trees as they are."""
        if of == "Ident":
            return self.ident(x)
        return self.string(x) if of == "Text" else unquoted(x) if of else x

    def chain(self, c: Children) -> Any:
        """A flat chain of operands and operators as a tree, by precedence, without recursion."""
        operands: list[Any] = []
        operators: list[tuple[Any, bool, int]] = []  # token, is it a prefix, precedence
        tree = self.MODULES[-1]

        def reduce_above(level: int) -> None:
            while operators and operators[-1][2] >= level:
                token, prefix, _ = operators.pop()
                op = ast.SPELLINGS.get(token, str(token))
                a = operands.pop()
                if prefix:
                    span = self.between(token.start_pos, a.span.end)
                    operands.append(tree.Unary(op, a, span))
                else:
                    left = operands.pop()
                    span = self.between(left.span.start, a.span.end)
                    operands.append(tree.Binary(op, left, a, span))

        expect_operand = True
        for x in c:
            if not is_token(x):
                operands.append(x)
                expect_operand = False
                continue
            op = ast.SPELLINGS.get(x, str(x))
            if expect_operand:
                operators.append((x, True, self.PREFIX[op]))
                continue
            level = self.PRECEDENCE[op]
            reduce_above(level + 1)
            if level == self.COMPARISON and operators and operators[-1][2] == level:
                self.chained(operators[-1][0], x)
            if level != self.RIGHTWARD:
                reduce_above(level)
            operators.append((x, False, level))
            expect_operand = True
        reduce_above(0)
        return operands[0]

    def chained(self, first: Any, second: Any) -> None:
        before = self.source.text[: second.start_pos].rstrip()
        self.mistakes.append(
            slip_at(self.source, second.start_pos, before)
            or Diagnostic(
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
        start = first.start_pos if is_token(first) else first.span.start
        end = last.end_pos if is_token(last) else last.span.end
        return Span(self.source, start, end)

    def ident(self, token: Any) -> ast.Ident:
        return ast.Ident(str(token), self.between(token.start_pos, token.end_pos))

    def idents(self, c: Children) -> tuple[ast.Ident, ...]:
        return tuple(self.ident(x) for x in c if is_token(x) and x.type == "NAME")

    def string(self, token: Any) -> ast.Text:
        return ast.Text(unquoted(token), self.over([token]))


def is_token(x: object) -> bool:
    """Tokens are the only strings among the children."""
    return isinstance(x, str)


def trees(c: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(x for x in c if not is_token(x))


def unquoted(token: Any) -> str:
    """The text of a name, or of a string without its quotes."""
    return str(token)[1:-1] if token.type == "STRING" else str(token)


@cache
def _class(modules: tuple[ModuleType, ...], name: str) -> type[Any]:
    node_class: type[Any] = next(getattr(m, name) for m in modules if hasattr(m, name))
    return node_class


def _plan(cls: type[Any]) -> tuple[tuple[str, How, int], ...]:
    """Of each field without a default: what it takes, which is a word of that kind or, if empty, trees; how
    many; and how many of these later fields need."""
    plan: list[tuple[str, How, int]] = []
    for f in reversed([f for f in fields(cls) if f.default is MISSING]):
        text = str(f.type)
        kinds = set(re.findall(r"\w+", text)) - {"None", "tuple", "ast"}
        (of,) = kinds if kinds <= {"Ident", "Text", "str", "Span", "Source"} else [""]
        needed = sum(amount is How.ONE and bool(o) == bool(of) for o, amount, _ in plan
                     if o not in ("Span", "Source"))  # fmt: skip
        plan.append((of, how(text), needed))
    return tuple(reversed(plan))


_PLANS: Final = ByClass(_plan)

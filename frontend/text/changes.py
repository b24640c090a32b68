"""Parses a text where it differs from one that was parsed before: the other statements are those of before.

A statement means what it says wherever it stands among others. It ends where the first token of the next
one cannot continue it: so the last statement before a change is parsed again, and behind a change parsing
ends at the first token of a statement that was one before. What lies between is all that is looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hbc.frontend.text import ast
from hbc.frontend.text.walk import moved
from hbc.ir.ground.source import Source

if TYPE_CHECKING:
    from lark import Lark, ParseTree


@dataclass(frozen=True, slots=True)
class Kept:
    """Statements of before, and how many characters later they stand now."""

    statements: Sequence[ast.Statement] = ()
    later: int = 0

    def now(self, source: Source) -> tuple[ast.Statement, ...]:
        return tuple(moved(s, source, self.later) for s in self.statements)


def parse_changed(parser: Lark, text: str, before: ast.File) -> tuple[Kept, ParseTree, Kept]:
    """What stays of the beginning, the tree of what lies between, and what stays of the end. Lark's
    UnexpectedInput for what it would be raised for where the whole text is parsed."""
    from lark import TextSlice
    from lark.exceptions import UnexpectedInput

    old, statements = before.source.text, before.statements
    later = len(text) - len(old)
    first = agreeing(old, text)
    last = len(old) - agreeing(old[first:][::-1], text[first:][::-1])
    head = max(bisect_left(statements, first, key=lambda s: s.span.end) - 1, 0)
    start = statements[head].span.start if head else 0
    again = {s.span.start + later: n for n, s in enumerate(statements) if s.span.start >= last}
    reading: Any = parser.parse_interactive(TextSlice(text, start, len(text)))
    token = None
    try:
        for token in reading.lexer_thread.lex(reading.parser_state):
            reading.feed_token(token)
            tail = again.get(token.start_pos)
            if tail is not None and _begins_statement(reading.parser_state.value_stack):
                reading.parser_state.value_stack.pop()
                reading.parser_state.state_stack.pop()
                break
        else:
            tail = len(statements)
        tree: ParseTree = reading.feed_eof(token)
    except UnexpectedInput as unexpected:
        unexpected.interactive_parser = reading  # as Lark.parse does
        raise
    return Kept(statements[:head]), tree, Kept(statements[tail:], later)


def _begins_statement(stack: Sequence[object]) -> bool:
    """Whether the last token of a parser's stack does: those before it are in trees of their own. Tokens are
    strings."""
    return not any(isinstance(item, str) for item in stack[:-1])


def agreeing(one: str, other: str) -> int:
    """How many characters both begin with."""
    shorter = range(min(len(one), len(other)))
    return bisect_left(shorter, True, key=lambda n: one[: n + 1] != other[: n + 1])

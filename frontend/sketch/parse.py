"""Parses `.sf` text into its syntax tree, or says what is wrong with its syntax."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from hbc.frontend.sketch import ast
from hbc.frontend.sketch.tree import SketchBuilder
from hbc.frontend.text.giants import refuse_giants
from hbc.frontend.text.grammar import load_parser
from hbc.frontend.text.version import misplaced, refuse_newer
from hbc.ir.ground.diag import Diagnostic, HbcError, did_you_mean
from hbc.ir.ground.source import Source, Span

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

# How each statement is written, by the token that begins it.
FORMS = {
    "PARAM": "param s = 5",
    "IMPORT": 'import "prelude.sf"',
    "GOAL": "goal out == [i in 4] fold(+) [j in 3] x[i + j]",
    "SET": "set turns(a: [n]) = \\i. a[(i + c) % n] for c in 0 .. n",
    "GATHER": "gather swapped(a: [n, m]) -> [m, n] = \\i, j. a[j, i]",
    "NAME": "sums: [32] = fold(+) received",
}
BEGIN = frozenset(FORMS)
OPTIONS_OF_FOLD = re.compile(r"(\bfold\s*(?:\([^()\n]*\))?\s*\{[^{}]*\})[ \t]*\Z")
# Terminals in words, in the order in which a message lists them.
WORDS = {
    "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`",
    "COMMA": "`,`", "COLON": "`:`", "EQUAL": "`=`", "EQUALS": "`==`", "DOT": "`.`", "DOTS": "`..`",
    "IN": "`in`", "THEN": "`then`", "ELSE": "`else`", "STRING": "a string", "NAME": "a name",
    "NUMBER": "a number",
}  # fmt: skip


def parse_sketch(source: Source) -> ast.File:
    """The tree of `source`. Raises HbcError with the first syntax error."""
    from lark.exceptions import UnexpectedInput

    refuse_giants(source)
    refuse_newer(source)
    try:
        tree = load_parser("sf").parse(source.text)
    except UnexpectedInput as unexpected:
        raise HbcError(explain(unexpected, source)) from None
    file: ast.File = SketchBuilder(source).build(tree)
    return file


def explain(unexpected: UnexpectedInput, source: Source) -> Diagnostic:
    """What was found, what could stand there, how it is written."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    if isinstance(unexpected, UnexpectedCharacters):
        at = cast(int, unexpected.pos_in_stream)
        character = source.text[at]
        shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
        return Diagnostic(f"{shown} has no meaning here", Span(source, at, at + 1))
    assert isinstance(unexpected, UnexpectedToken)
    token: Any = unexpected.token
    parser: Any = unexpected.interactive_parser
    at_end = token.type == "$END"
    at = len(source.text.rstrip()) if at_end else token.start_pos
    span = Span(source, at, at + 1 if at_end else token.end_pos)
    met = "the end of the file" if at_end else f"`{token}`"
    stack: list[Any] = list(parser.parser_state.value_stack)
    accepts: set[str] = parser.accepts()
    late = misplaced(stack, token.type, source)
    if late is not None:
        return late
    bare = without_parentheses(stack, source)
    if bare is not None:
        return bare
    return Diagnostic(f"expected {expected(accepts)}, found {met}", span, hint(stack, token))


def without_parentheses(stack: list[Any], source: Source) -> Diagnostic | None:
    """A fold with options whose array stands behind them as that of one without does: the array begins a new
    statement, of which the rest is missing."""
    name: Any = stack[-1] if stack else None
    if getattr(name, "type", "") != "NAME":
        return None
    found = OPTIONS_OF_FOLD.search(source.text, 0, name.start_pos)
    if found is None:
        return None
    return Diagnostic(
        "a fold with options has its array in parentheses",
        Span(source, name.start_pos, name.end_pos), f"write `{found[1]}({name})`",
    )  # fmt: skip


def expected(accepts: set[str]) -> str:
    """What could stand there, in words."""
    if accepts >= {"NUMBER", "LPAR"}:
        closing = [WORDS[t] for t in ("RPAR", "RSQB", "RBRACE") if t in accepts]
        return " or ".join(["an expression", *closing])
    if accepts >= {"PARAM", "GOAL"}:
        return "an operator or a new statement" if "BINARY" in accepts else "a statement"
    words = [word for terminal, word in WORDS.items() if terminal in accepts]
    if "BINARY" in accepts:
        words.append("an operator")
    return " or ".join(words[-4:]) if words else "something else"


def hint(stack: list[Any], token: Any) -> str | None:
    """How the statement is written in which the parser stopped, or the keyword that was meant."""
    last = stack[-1] if stack else None
    if getattr(last, "type", "") == "NAME" and token.type == "NAME":
        close = did_you_mean(str(last), (word.lower() for word in FORMS))
        if close:
            return close
    for item in reversed(stack):
        kind = getattr(item, "type", "")
        if kind in FORMS and kind != "NAME":
            return f"it is written `{FORMS[kind]}`"
    return f"it is written `{FORMS['NAME']}`" if stack else None

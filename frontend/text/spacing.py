"""Tokens of the source with their comments and line breaks, and the blanks between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hbc.frontend.text.ast import SPELLINGS
from hbc.frontend.text.syntax import KEYWORDS
from hbc.ir.ground.record import record

TOKEN = re.compile(
    r"(?P<newline>\n)"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<text>\"[^\"\n]*\")"
    r"|(?P<number>0[xX][0-9a-fA-F_]+|(?:\d[\d_]*(?:\.(?!\.)[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)"
    r"|(?P<update>(?:min|max)=(?!=))"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<mark>\.\.|&&|\|\||(?:<<|>>|[-+*/%|&^])=(?!=)|[=!<>]=|<<|>>|\*\*|[^\s])"
)
UPDATES = frozenset(
    {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "min=", "max=", "|=", "&=", "^="}
)
TIGHT_AFTER = frozenset({"(", "[", "."})
TIGHT_BEFORE = frozenset({")", "]", ",", ";", ".", ":"})


@record
class Token:
    """`kind` is a group of TOKEN; `breaks` counts the line breaks since the token before."""

    kind: str
    text: str
    start: int
    breaks: int


def tokens(text: str) -> Iterator[Token]:
    """All tokens and comments, in order, operators in their first spelling."""
    breaks = 0
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "newline":
            breaks += 1
            continue
        shown = match[0].rstrip() if kind == "comment" else SPELLINGS.get(match[0], match[0])
        yield Token(kind, shown, match.start(), breaks)
        breaks = 0


def joined(row: list[Token]) -> str:
    """The tokens of one line with canonical blanks."""
    out = ""
    before: Token | None = None
    prefix = dotted = False  # is the token before a sign, a name after a dot?
    declares = (
        False  # between `:` and `=`, where the variables of a table stand apart from its extents
    )
    depth = 0
    for token in row:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        declares = token.text != "=" and (declares or (token.text == ":" and depth == 0))
        adjoins = before is not None and before.text == "]" and token.text == "[" and not declares
        if before is not None and not adjoins and blank(before, token, prefix, dotted):
            out += " "
        out += token.text
        prefix = token.text in ("-", "~") and opens_operand(before)
        dotted = before is not None and before.text == "."
        before = token
    return out


def blank(before: Token, after: Token, prefix: bool, dotted: bool) -> bool:
    """Does a blank stand between the two?"""
    a, b = before.text, after.text
    if a in TIGHT_AFTER or b in TIGHT_BEFORE or prefix:
        return False
    if b in ("(", "["):
        callee = before.kind == "word" and (dotted or a not in KEYWORDS)
        return not (callee or (a in (")", "]") and b == "(") or (a == ")" and b == "["))
    return not (a == "{" and b == "}")


def opens_operand(before: Token | None) -> bool:
    """Is a `-` after this token a sign?"""
    if before is None or before.kind == "update":
        return True
    if before.kind == "word":
        return before.text in KEYWORDS and before.text not in ("true", "false")
    return before.kind == "mark" and before.text not in (")", "]", "}")

"""The tokens of the IR's text form, and a cursor over them."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final

from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.record import mutable, record
from hbc.ir.ground.source import Source, Span

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<comment>\#[^\n]*)
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`\\]|\\.)*`)
    | (?P<call>[A-Za-z_]\w*(?:<[^<>()\s]*>)?\()
    | (?P<name>[A-Za-z_]\w*)
    | (?P<number>\d+(?:\.\d*)?(?:e[+-]?\d+)?)
    | (?P<sign><<|>>|<=|>=|==|!=|[-+*/%&|^~<>=()\[\]{},:.])
    | (?P<end>\Z)
    | (?P<wrong>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


@record
class Token:
    """`kind` is a group of the pattern above; the text of a call is its name with any `<..>`."""

    kind: str
    text: str
    start: int


@mutable
class Cursor:
    """A text and how far it has been read."""

    source: Source
    tokens: list[Token]
    at: int = field(default=0)

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def is_(self, *texts: str) -> bool:
        """Is the next token one of these signs or plain names?"""
        return self.next.kind in ("sign", "name") and self.next.text in texts

    def accept(self, text: str) -> bool:
        if self.is_(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.wrong(f"`{text}`")

    def name(self) -> str:
        """A plain or quoted name."""
        if self.next.kind not in ("name", "quoted"):
            raise self.wrong("a name")
        return self.take().text

    def number(self) -> int:
        minus = self.accept("-")
        if self.next.kind != "number" or not self.next.text.isdigit():
            raise self.wrong("an integer")
        value = int(self.take().text)
        return -value if minus else value

    def wrong(self, wanted: str) -> HbcError:
        """What was expected here."""
        token = self.next
        met = "the end" if token.kind == "end" else f"`{token.text}`"
        span = Span(self.source, token.start, token.start + max(1, len(token.text)))
        return error(f"expected {wanted}, found {met}", span)


def tokens(text: str) -> Cursor:
    """A cursor at the beginning of the text. HbcError for a character that starts no token."""
    source = Source("<ir>", text)
    read: list[Token] = []
    at = 0
    while not read or read[-1].kind != "end":
        match = _TOKEN.match(text, at)
        assert match is not None and match.lastgroup is not None  # `wrong` matches any character
        kind, start = match.lastgroup, match.start(match.lastgroup)
        body = match.group(kind)
        if kind == "wrong":
            raise error(f"unexpected `{body}`", Span(source, start, start + 1))
        if kind == "call":
            body = body[:-1]
        elif kind == "quoted":
            body = unescape(body[1:-1])
        read.append(Token(kind, body, start))
        at = match.end()
    return Cursor(source, read)


def unescape(text: str) -> str:
    r"""Without the backslashes that `show` puts before \ and `, and with \n as a newline."""
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)

"""Text of unknown origin as terminals and editors may be given it: control characters are shown escaped,
and so are those that change the direction of writing, by which code looks like other code."""

from __future__ import annotations

import re

# C0 without tab and newline, DEL, C1; directional marks, embeddings, overrides and isolates (UAX 9); line
# and paragraph separators; characters without width; halves of surrogate pairs, which are bytes of file
# names that are no UTF-8.
_ESCAPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_LINE = re.compile("[\t\n]")


def printable(text: str) -> str:
    """The text with `\\x1b` for ESC, `\\u202e` for the right-to-left override; lines stay lines."""
    return text if text.isascii() and text.isprintable() else _ESCAPED.sub(_escape, text)


def printable_line(text: str) -> str:
    """The same for what is shown in one line, such as the name of a file."""
    return _LINE.sub(_escape, printable(text))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

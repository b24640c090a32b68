"""Loads the LALR parsers of kernels, instruction descriptions and sketches; their tables are cached."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbc.ir.host.cache_folder import keep, kept

if TYPE_CHECKING:
    from lark import Lark

FRONTEND = Path(__file__).parents[1]
# The files of each language, the start symbol last. Descriptions continue the grammar of kernels, which
# stays as it is: its tables and its keywords do not grow.
LANGUAGES = {
    "hb": ("text/hb.lark", "file"),
    "isa": ("text/hb.lark", "isa/isa.lark", "descriptions"),
    "sf": ("sketch/sf.lark", "sketch"),
}


@cache
def load_parser(language: str = "hb") -> Lark:
    """The parser: from the cache when there is an intact copy, else made from the grammar.

    An unreadable or unwritable cache only costs time (some 60 ms)."""
    from lark import Lark, __version__

    *files, start = LANGUAGES[language]
    grammar = "\n".join((FRONTEND / file).read_text(encoding="utf-8") for file in files)
    key = sha256(f"{__version__}\n{grammar}".encode()).hexdigest()[:16]
    name = f"{language}-{key}.tables"
    stored = kept(name)
    if stored is not None:
        try:
            return _loaded(json.loads(stored, object_hook=_with_numbers))
        except (ValueError, TypeError, KeyError, AttributeError):
            pass  # intact, and still none: it is made again
    parser = Lark(
        grammar, parser="lalr", lexer="contextual", start=start,
        keep_all_tokens=True, maybe_placeholders=False,
    )  # fmt: skip
    keep(name, json.dumps(_parts(parser), separators=(",", ":")).encode())
    return parser


def _parts(parser: Lark) -> dict[str, Any]:
    """What Lark.save writes, which is a pickle: reading one may execute anything."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = parser.memo_serialize([TerminalDef, Rule])
    return {"data": data, "memo": memo}


def _loaded(parts: dict[str, Any]) -> Lark:
    """What Lark.load makes of them, which takes a dictionary in place of a file."""
    from lark import Lark

    parser: Lark = Lark.__new__(Lark)._load(parts)
    return parser


def _with_numbers(read: dict[str, Any]) -> dict[Any, Any]:
    """With the numbers that JSON has made texts of, as keys."""
    return {int(key) if key.isdecimal() else key: value for key, value in read.items()}

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
    name = f"{language}-{key}.parts"
    stored = kept(name)
    if stored is not None:
        try:
            return _loaded(stored)
        except (ValueError, TypeError, KeyError, AttributeError):
            pass  # intact, and still none: it is made again
    parser = Lark(
        grammar, parser="lalr", lexer="contextual", start=start,
        keep_all_tokens=True, maybe_placeholders=False,
    )  # fmt: skip
    stored = json.dumps(_with_pairs(_parts(parser)), separators=(",", ":")).encode()
    keep(name, stored)
    return _loaded(stored)


def _parts(parser: Lark) -> dict[str, Any]:
    """What Lark.save writes, which is a pickle: reading one may execute anything."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = parser.memo_serialize([TerminalDef, Rule])
    return {"data": data, "memo": memo}


def _loaded(stored: bytes) -> Lark:
    """What Lark.load makes of them, which takes a dictionary in place of a file."""
    from lark import Lark

    from hbc.frontend.text.lexer import SharingLexer

    parts = json.loads(stored, object_hook=_without_pairs)
    parser: Lark = Lark.__new__(Lark)._load(parts, _plugins={"ContextualLexer": SharingLexer})
    return parser


# What JSON has no dictionaries for, those with numbers as keys, as a list of keys and one of values.
NUMBERED = "#"


def _with_pairs(part: Any) -> Any:
    if isinstance(part, dict):
        values = [_with_pairs(value) for value in part.values()]
        if any(isinstance(key, int) for key in part):
            return {NUMBERED: [list(part), values]}
        return dict(zip(part, values, strict=True))
    return [_with_pairs(item) for item in part] if isinstance(part, (list, tuple)) else part


def _without_pairs(read: dict[str, Any]) -> dict[Any, Any]:
    return dict(zip(*read[NUMBERED], strict=True)) if NUMBERED in read else read

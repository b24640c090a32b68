"""Loads the LALR parsers of kernels, instruction descriptions and sketches; their tables are cached."""

from __future__ import annotations

import io
import os
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

HERE = Path(__file__).parent
# The files of each language, the start symbol last. Descriptions continue the grammar of kernels, which
# stays as it is: its tables and its keywords do not grow.
LANGUAGES = {
    "hb": ("hb.lark", "file"),
    "isa": ("hb.lark", "isa.lark", "descriptions"),
    "sf": ("sf.lark", "sketch"),
}
DIGEST_BYTES = 32


@cache
def load_parser(language: str = "hb") -> Lark:
    """The parser: from the cache when there is an intact copy, else made from the grammar.

    An unreadable or unwritable cache only costs time (some 60 ms)."""
    from lark import Lark, __version__

    *files, start = LANGUAGES[language]
    grammar = "\n".join((HERE / file).read_text(encoding="utf-8") for file in files)
    key = sha256(f"{__version__}\n{grammar}".encode()).hexdigest()[:16]
    kept = cache_folder() / f"{language}-{key}.tables"
    try:
        stored = kept.read_bytes()
    except OSError:
        stored = b""
    digest, tables = stored[:DIGEST_BYTES], stored[DIGEST_BYTES:]
    if sha256(tables).digest() == digest:
        return Lark.load(io.BytesIO(tables))
    parser = Lark(
        grammar, parser="lalr", lexer="contextual", start=start,
        keep_all_tokens=True, maybe_placeholders=False,
    )  # fmt: skip
    written = io.BytesIO()
    parser.save(written)
    keep(kept, written.getvalue())
    return parser


def cache_folder() -> Path:
    """Where hbc keeps what it can make again; HBC_CACHE overrides the system's place."""
    named = os.environ.get("HBC_CACHE")
    if named:
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("hbc")


def keep(kept: Path, tables: bytes) -> None:
    """Writes beside and renames, so that a reader sees all of it or nothing."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=kept.parent, prefix=kept.stem)
        with os.fdopen(handle, "wb") as file:
            file.write(sha256(tables).digest() + tables)
        Path(beside).replace(kept)
    except OSError:
        return

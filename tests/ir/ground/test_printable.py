"""Pins what is shown escaped, and that the caret stands under what it means."""

import unicodedata

from hbc.codegen.text.writer import Writer
from hbc.ir.ground.diag import Diagnostic
from hbc.ir.ground.printable import printable, printable_line
from hbc.ir.ground.source import Source, Span


def test_all_of_unicode() -> None:
    """Controls, directions of writing, separators of lines, and halves of pairs; nothing that is seen."""
    directions = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for code in range(0x110000):
        character = chr(code)
        kind = unicodedata.category(character)
        bad = kind in ("Cc", "Cs", "Zl", "Zp") and character not in "\t\n"
        bad |= unicodedata.bidirectional(character) in directions
        if bad:
            assert printable(character).isascii(), hex(code)
            assert printable(character).isprintable(), hex(code)
        elif kind[0] in "LMNPS":
            assert printable(character) == character, hex(code)


def test_names_are_one_line() -> None:
    assert printable_line("a\nb\t\x1b[31m\udcff") == r"a\x0ab\x09\x1b[31m\udcff"


def test_the_caret_follows() -> None:
    text = "a \x1b[31m = \u202eq * b"
    at = text.index("b")
    shown = Diagnostic("no `b`", Span(Source("x\x1b.hb", text), at, at + 1)).render().splitlines()
    assert shown[0] == r"x\x1b.hb:1:16: error: no `b`"
    assert shown[1][shown[2].index("^")] == "b"
    assert "\x1b" not in "".join(shown)


def test_comments_of_c() -> None:
    out = Writer()
    out.comment("a \x1b[31m \u202e b\\\nc ??/")
    assert out.text() == "// a /x1b[31m /u202e b/ c ?? /\n"

"""The descriptions in docs/instructions.md are read, and its messages are those that hbc gives.

Blocks marked `isa` are good, `isa wrong` is followed by its message in `isa error`. Run as a program,
this file brings the messages up to date.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import describe, read_source
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.instruction import InstructionSet

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "instructions.md"
BLOCK = re.compile(r"^```(isa(?: \w+)?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(m[1], m[2], m.span(2)) for m in BLOCK.finditer(DOCUMENT.read_text(encoding="utf-8"))]


def read(text: str) -> InstructionSet:
    """The text together with the descriptions that hbc brings."""
    return describe([*map(read_source, builtin_descriptions()), Source("mine.hb", text)])


def message(text: str) -> str:
    with pytest.raises(HbcError) as refused:
        read(text)
    return str(refused.value).rstrip() + "\n"


@pytest.mark.parametrize("text", [text for mark, text, _ in BLOCKS if mark == "isa"])
def test_descriptions_are_good(text: str) -> None:
    known = len(read("").instructions)
    assert len(read(text).instructions) > known


def test_messages() -> None:
    found = list(itertools.pairwise(BLOCKS))
    wrong = [(a[1], b) for a, b in found if a[0] == "isa wrong"]
    assert wrong
    for text, (mark, said, _) in wrong:
        assert (mark, said) == ("isa error", message(text))


def rewrite() -> None:
    """Brings every message up to date, the last one first."""
    document = DOCUMENT.read_text(encoding="utf-8")
    for at in reversed(range(len(BLOCKS) - 1)):
        if BLOCKS[at][0] == "isa wrong":
            start, end = BLOCKS[at + 1][2]
            document = document[:start] + message(BLOCKS[at][1]) + document[end:]
    DOCUMENT.write_text(document, encoding="utf-8")


if __name__ == "__main__":
    rewrite()

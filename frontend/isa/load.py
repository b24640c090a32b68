"""Loads instruction descriptions from files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hbc.frontend.isa.ast import Descriptions
from hbc.frontend.isa.check import check_descriptions
from hbc.frontend.isa.parse import parse_descriptions
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.printable import printable
from hbc.ir.ground.source import Source, Span
from hbc.ir.host.file_bytes import file_bytes
from hbc.ir.lang.instruction import InstructionSet

MOST_BYTES = 1 << 26


def load_instructions(paths: Sequence[Path]) -> InstructionSet:
    """What the files describe together. Raises HbcError with every mistake in any of them."""
    return describe([read_source(path) for path in paths])


def describe(sources: Sequence[Source]) -> InstructionSet:
    """What the texts describe together."""
    files: list[Descriptions] = []
    mistakes: list[Diagnostic] = []
    for source in sources:
        mistakes += unprintable(source)
        try:
            files.append(parse_descriptions(source))
        except HbcError as failure:
            mistakes += failure.diagnostics
    if mistakes:
        raise HbcError(mistakes)
    return check_descriptions(files)


def unprintable(source: Source) -> list[Diagnostic]:
    """The first character that is shown as something else than it is: templates and headers go into C
    as they stand, and who reads that should see what is compiled."""
    if printable(source.text) == source.text:
        return []
    for at, character in enumerate(source.text):
        if printable(character) != character:
            message = f"U+{ord(character):04X} has no place in a description"
            return [Diagnostic(message, Span(source, at, at + 1), "remove it")]
    return []


def read_source(path: Path) -> Source:
    """The text of a file, which must be UTF-8, lines ending in `\\n`."""
    try:
        text = file_bytes(path, MOST_BYTES).decode("utf-8-sig")
        return Source(str(path), text.replace("\r\n", "\n").replace("\r", "\n"))
    except OSError as failure:
        raise HbcError(Diagnostic(f"cannot read `{path}`: {failure.strerror}")) from failure
    except UnicodeDecodeError as failure:
        raise HbcError(Diagnostic(f"`{path}` is not UTF-8 text")) from failure

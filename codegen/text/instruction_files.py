"""Where the instruction descriptions lie that hbc brings."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "isa"


def builtin_descriptions() -> list[Path]:
    """The files, in the order of their names. They refer to each other: load all of them."""
    return sorted(FOLDER.glob("*.hb"))

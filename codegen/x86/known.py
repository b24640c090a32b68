"""Shuffles of one instruction that the library of movements has: its text, with registers of constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.permute import unpacked
from hbc.codegen.x86.types import cast_register, setr
from hbc.ir.lang.target import X86
from hbc.ir.lang.types import I8, DType
from hbc.ir.movement.library import WIDTHS, known_step, library_of
from hbc.ir.vectors.take import integer

CONSTANTS = re.compile(r"\[(\d+): ([^\]]*)\]")


def known_shuffle(
    texts: Sequence[str], sources: Sequence[Sequence[int]], t: DType, unit: Unit
) -> str | None:
    """Lane i of the result is lane `sources[j][i]` of register j, for the one j where that is not -1. None
    where no entry has an instruction for it."""
    lanes = len(sources[0])
    if len(texts) > 2 or lanes * t.bits not in WIDTHS[X86]:
        return None
    if (plain := unpacked(list(texts), [list(s) for s in sources], t)) is not None:
        return plain
    for order in permutations(range(len(texts))):
        row = [-1] * lanes
        for position, j in enumerate(order):
            row = [
                position * lanes + s if s >= 0 else r for r, s in zip(row, sources[j], strict=True)
            ]
        text = known_step(t.bits, tuple(row), library_of(unit.target))
        if text is not None:
            whole = [cast_register(texts[j], t, I8, lanes) for j in order]
            return cast_register(written_step(text, whole), I8, t, lanes * t.bits // 8)
    return None


def written_step(text: str, operands: Sequence[str]) -> str:
    """The C of a step, of registers of integers."""

    def register(m: re.Match[str]) -> str:
        values = m[2].split()
        return setr(integer(int(m[1])), len(values), values)

    text = CONSTANTS.sub(register, text)
    return text.replace("{u}", operands[0]).replace("{v}", operands[-1])

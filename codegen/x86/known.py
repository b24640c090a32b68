"""Shuffles of one instruction that the library of movements has: its text, with registers of constants."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import permutations

from hbc.codegen.text.registers import Piece
from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.permute import unpacked
from hbc.codegen.x86.types import cast_register, prefix, setr
from hbc.ir.lang.target import X86
from hbc.ir.lang.types import I8, U8, DType
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


def widened_bytes(
    pieces: Mapping[Piece, str], picks: Sequence[int], s: DType, t: DType, unit: Unit
) -> str | None:
    """The bytes with these numbers, each in an integer of more bits: picked from one or two registers as long
    as the result, under a mask that clears what is between. None without such an instruction."""
    size, times, lanes = len(picks) * t.bits // 8, t.bits // 8, len(picks)
    used = [p for p in sorted(pieces) if any(p[0] <= pick < p[0] + p[1] for pick in picks)]
    if (
        s != U8
        or not unit.target.permutes_bytes
        or len(used) > 2
        or any(p[1] != size for p in used)
    ):
        return None
    places = [
        pick - p[0] + size * n
        for pick in picks
        for n, p in enumerate(used)
        if p[0] <= pick < p[0] + size
    ]
    order = setr(I8, size, [str(v) for place in places for v in (place, *[0] * (times - 1))])
    kept = sum(1 << times * lane for lane in range(lanes))
    mask = f"UINT64_C({kept:#x})" if size > 32 else f"{kept:#x}"
    first, *second = (pieces[p] for p in used)
    head = f"{prefix(I8, size)}_maskz_permute"
    if second:
        return f"{head}x2var_epi8({mask}, {first}, {order}, {second[0]})"
    return f"{head}xvar_epi8({mask}, {order}, {first})"


def written_step(text: str, operands: Sequence[str]) -> str:
    """The C of a step, of registers of integers."""

    def register(m: re.Match[str]) -> str:
        values = m[2].split()
        return setr(integer(int(m[1])), len(values), values)

    text = CONSTANTS.sub(register, text)
    return text.replace("{u}", operands[0]).replace("{v}", operands[-1])

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
    as the result, with zeros between. None where no instructions do that."""
    size, times, lanes = len(picks) * t.bits // 8, t.bits // 8, len(picks)
    used = [p for p in sorted(pieces) if any(p[0] <= pick < p[0] + p[1] for pick in picks)]
    if s != U8 or len(used) > 2 or any(p[1] != size for p in used):
        return None
    places = [
        pick - p[0] + size * n
        for pick in picks
        for n, p in enumerate(used)
        if p[0] <= pick < p[0] + size
    ]
    if not unit.target.permutes_bytes:
        return _widened_in_blocks([pieces[p] for p in used], places, t, unit)
    order = setr(I8, size, [str(v) for place in places for v in (place, *[0] * (times - 1))])
    kept = sum(1 << times * lane for lane in range(lanes))
    mask = f"UINT64_C({kept:#x})" if size > 32 else f"{kept:#x}"
    first, *second = (pieces[p] for p in used)
    head = f"{prefix(I8, size)}_maskz_permute"
    if second:
        return f"{head}x2var_epi8({mask}, {first}, {order}, {second[0]})"
    return f"{head}xvar_epi8({mask}, {order}, {first})"


def _widened_in_blocks(
    texts: Sequence[str], places: Sequence[int], t: DType, unit: Unit
) -> str | None:
    """By `pshufb` in each block, which makes zeros where the highest bit is set; AVX-512 puts what the second
    register has under a mask, AVX2 joins both."""
    times, p = t.bits // 8, prefix(t, len(places))
    size = times * len(places)
    if any(place % size // 16 != lane * times // 16 for lane, place in enumerate(places)):
        return None

    def order(of: Sequence[int]) -> str:
        """Of the places in one register, or -1."""
        zeros = ["-128"] * (times - 1)
        return setr(I8, size, [x for v in of for x in (str(v % 16) if v >= 0 else "-128", *zeros)])

    if len(texts) == 1:
        return f"{p}_shuffle_epi8({texts[0]}, {order(places)})"
    if unit.target.vector_bits == 512:
        second = sum(1 << times * lane for lane, v in enumerate(places) if v >= size)
        mask = f"UINT64_C({second:#x})" if size > 32 else f"{second:#x}"
        first = f"{p}_shuffle_epi8({texts[0]}, {order(places)})"
        return f"{p}_mask_shuffle_epi8({first}, {mask}, {texts[1]}, {order(places)})"
    own = [[v - n * size if v // size == n else -1 for v in places] for n in range(2)]
    parts = [f"{p}_shuffle_epi8({x}, {order(o)})" for x, o in zip(texts, own, strict=True)]
    return f"{p}_or_si{8 * size}({', '.join(parts)})"


def written_step(text: str, operands: Sequence[str]) -> str:
    """The C of a step, of registers of integers."""

    def register(m: re.Match[str]) -> str:
        values = m[2].split()
        return setr(integer(int(m[1])), len(values), values)

    text = CONSTANTS.sub(register, text)
    return text.replace("{u}", operands[0]).replace("{v}", operands[-1])

"""Bytes looked up in a table of up to 256: `pshufb` in each block of 16, of which the high bits choose.

Neighbours are merged by a bit of the index, then pairs by the next one, and so on: AVX-512 under masks,
AVX2 by `pblendvb`, which goes by the highest bit of each byte.
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.byte_permutes import halved, looked_up_by_permutes
from hbc.codegen.x86.types import (
    register_bits,
    setr,
    side_by_side,
    vector_type,
    width_prefix,
)  # fmt: skip
from hbc.ir.ground.record import record
from hbc.ir.lang.types import I8, U8, DType
from hbc.ir.vectors.byte_table import BLOCK

LEAST_LANES = 8  # fewer are loaded one by one
FEW = 4  # blocks that as few lanes are worth


@record
class _Merge:
    """`bit` of the index `i` as what chooses; then b where it is 1, else a: of blocks, which are looked up at
    once, and of what was merged."""

    bit: str
    blocks: str
    merged: str


_BY_MASK = _Merge(
    "const __mmask{lanes} m{bit} = {p}_test_epi8_mask(i, {p}_set1_epi8({signed}));",
    "{p}_mask_shuffle_epi8({p}_shuffle_epi8({a}, {low}), m{bit}, {b}, {low})",
    "{p}_mask_mov_epi8({a}, m{bit}, {b})",
)
_BY_SIGN = _Merge(
    "const {v} m{bit} = {p}_slli_epi16(i, {up});",
    "{p}_blendv_epi8({p}_shuffle_epi8({a}, {low}), {p}_shuffle_epi8({b}, {low}), m{bit})",
    "{p}_blendv_epi8({a}, {b}, m{bit})",
)


def looked_up(
    table: str, extent: int, places: Sequence[str], t: DType, lanes: int, unit: Unit
) -> str | None:
    """The lanes of `table` (of `extent` bytes) at `places`, vectors that are all inside."""
    bits, blocks = register_bits(U8, lanes), -(-extent // BLOCK)
    if bits > unit.target.vector_bits or lanes < LEAST_LANES:
        return None
    if lanes < BLOCK and blocks > FEW:
        return None
    if unit.target.permutes_bytes and blocks > 1:
        return looked_up_by_permutes(table, extent, places, t, lanes, unit)
    name, v = f"look_up_{t}x{lanes}_in_{extent}", vector_type(U8, lanes)
    lines = [f"const {v} t{k} = {_block(k, extent, bits)};" for k in range(blocks)]
    lines += _merged(extent, v, bits, _BY_MASK if unit.target.vector_bits == 512 else _BY_SIGN)
    body = "".join(f"    {line}\n" for line in lines)
    text = f"static inline {v} {name}(const {c_type(t)} *p, {v} i)\n{{\n{body}}}\n"
    return f"{unit.prelude.add(name, text)}({table}, {side_by_side(places, U8, lanes)})"


def _block(k: int, extent: int, bits: int) -> str:
    """16 bytes in each block of the register, from the k-th ones on. No element behind the table is read."""
    start = min(k * BLOCK, extent - BLOCK)
    if start < 0:
        loaded = setr(I8, BLOCK, [f"(char)p[{n}]" if n < extent else "0" for n in range(BLOCK)])
    else:
        loaded = f"_mm_loadu_si128((const __m128i *)(p + {start}))"
        before = k * BLOCK - start
        loaded = f"_mm_bsrli_si128({loaded}, {before})" if before else loaded
    if bits == 128:
        return loaded
    return {256: "_mm256_broadcastsi128_si256", 512: "_mm512_broadcast_i32x4"}[bits] + f"({loaded})"


def _merged(extent: int, v: str, bits: int, how: _Merge) -> list[str]:
    p, blocks = width_prefix(bits), -(-extent // BLOCK)
    words = {"p": p, "v": v, "lanes": bits // 8, "low": "i"}
    lines = []
    if extent > 8 * BLOCK:  # `pshufb` gives 0 where the highest bit is 1
        words["low"] = "low"
        lines.append(f"const {v} low = {p}_and_si{bits}(i, {p}_set1_epi8(127));")
    for n in range((blocks - 1).bit_length()):
        bit = BLOCK << n
        own = {"bit": bit, "up": 3 - n, "signed": (bit ^ 128) - 128}
        lines.append(how.bit.format(**words, **own))

    def choose(n: int, a: str, b: str) -> str:
        template = how.blocks if n == 0 else how.merged
        return template.format(**words, bit=BLOCK << n, a=a, b=b)

    values = [f"t{k}" for k in range(blocks)]
    if blocks % 2:  # which has no neighbour
        values[-1] = f"{p}_shuffle_epi8({values[-1]}, {words['low']})"
    return [*lines, *halved(values, v, choose)]

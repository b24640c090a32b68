"""Elements looked up in a table of up to 256 bytes: `pshufb` in each block of 16, of which the high bits
choose; those of 16 bits are two bytes each, those of 32 are looked up by `vpermd` in each 8.

Neighbours are merged by a bit of the index, then pairs by the next one, and so on: AVX-512 under masks,
AVX2 by `pblendvb`, which goes by the highest bit of each byte.
"""

from __future__ import annotations

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import Printed
from hbc.codegen.x86.table_permutes import halved, looked_up_by_permutes
from hbc.codegen.x86.types import (
    cast_register,
    register_bits,
    setr,
    side_by_side,
    vector_type,
    width_prefix,
)  # fmt: skip
from hbc.ir.ground.record import record
from hbc.ir.lang.types import I8, U8, DType
from hbc.ir.vectors.small_table import BLOCK, MOST_OF_BYTES, PLACES
from hbc.ir.vectors.take import integer

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
    table: str, extent: int, places: Printed, t: DType, lanes: int, unit: Unit
) -> str | None:
    """The lanes of `table` (of `extent` elements) at `places`, vectors that are all inside."""
    if t.bits * lanes > unit.target.vector_bits or lanes < LEAST_LANES:
        return None
    if unit.target.vector_bits == 512 and (t.bits > U8.bits or extent > MOST_OF_BYTES):
        return looked_up_by_permutes(table, extent, places(), t, lanes, unit)
    bits, blocks = register_bits(t, lanes), -(-extent * t.bytes // BLOCK)
    if lanes * t.bytes < BLOCK and blocks > FEW:
        return None
    if unit.target.permutes_bytes and blocks > 1:
        return looked_up_by_permutes(table, extent, places(), t, lanes, unit)
    name, v = f"look_up_{t}x{lanes}_in_{extent}", vector_type(integer(t.bits), lanes)
    if t.bits == 32:
        lines = _by_eights(extent)
    else:
        size = extent * t.bytes
        lines = [f"const {v} t{k} = {_block(k, size, bits)};" for k in range(blocks)]
        lines += _merged(size, v, bits, _BY_MASK if unit.target.vector_bits == 512 else _BY_SIGN)
        if t.bits == 16:
            lines = [*_bytes_of_pairs(v, bits), *lines]
    body = "".join(f"    {line}\n" for line in lines)
    given = f"q, {v} x" if t.bits == 16 else f"p, {v} i"
    text = f"static inline {v} {name}(const {c_type(t)} *{given})\n{{\n{body}}}\n"
    call = (
        f"{unit.prelude.add(name, text)}({table}, {side_by_side(places(), PLACES[t.bits], lanes)})"
    )
    return cast_register(call, integer(t.bits), t, lanes)


def _bytes_of_pairs(v: str, bits: int) -> list[str]:
    """The table as bytes, and the places of both bytes of each element."""
    p = width_prefix(bits)
    both = f"{p}_mullo_epi16(x, {p}_set1_epi16(0x202))"
    return [
        "const uint8_t *p = (const uint8_t *)q;",
        f"const {v} i = {p}_add_epi16({both}, {p}_set1_epi16(0x100));",
    ]


def _by_eights(extent: int) -> list[str]:
    """The eight elements of each of two registers at most."""
    tables = []
    for k in range(-(-extent // 8)):
        left = extent - 8 * k
        loaded = f"_mm256_loadu_si256((const __m256i *)(p + {8 * k}))"
        if left < 8:
            live = ", ".join("-1" if n < left else "0" for n in range(8))
            loaded = f"_mm256_maskload_epi32((const int *)(p + {8 * k}), _mm256_setr_epi32({live}))"
        tables.append(f"_mm256_permutevar8x32_epi32({loaded}, i)")
    if len(tables) == 1:
        return [f"return {tables[0]};"]
    a, b = (f"_mm256_castsi256_ps({x})" for x in tables)
    chosen = "_mm256_castsi256_ps(_mm256_slli_epi32(i, 28))"
    return [f"return _mm256_castps_si256(_mm256_blendv_ps({a}, {b}, {chosen}));"]


def _block(k: int, extent: int, bits: int) -> str:
    """16 bytes in each block of the register, from the k-th ones on. No byte behind the table is read."""
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

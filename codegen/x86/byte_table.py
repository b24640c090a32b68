"""Bytes looked up in a table of up to 128: `pshufb` in each block of 16, of which the high bits choose.

AVX-512 merges under masks. AVX2 adds to each index what makes its highest bit 1 but in the right block, for
which `pshufb` gives 0.
"""

from __future__ import annotations

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.types import register_bits, vector_type, width_prefix
from hbc.ir.lang.types import U8, DType
from hbc.ir.vectors.byte_table import BLOCK


def looked_up(table: str, extent: int, places: str, t: DType, lanes: int, unit: Unit) -> str | None:
    """The lanes of `table` (of `extent` bytes) at `places`, a vector of u8 that are all inside."""
    bits = register_bits(U8, lanes)
    if bits != lanes * 8 or bits > unit.target.vector_bits:
        return None
    name, v, p = f"look_up_{t}x{lanes}_in_{extent}", vector_type(U8, lanes), width_prefix(bits)
    blocks = range(extent // BLOCK)
    lines = [f"const {v} t{k} = {_block(f'p + {k * BLOCK}', bits)};" for k in blocks]
    lines += (_merged if unit.target.vector_bits == 512 else _joined)(len(blocks), v, p, bits)
    body = "".join(f"    {line}\n" for line in lines)
    text = f"static inline {v} {name}(const {c_type(t)} *p, {v} i)\n{{\n{body}}}\n"
    return f"{unit.prelude.add(name, text)}({table}, {places})"


def _block(at: str, bits: int) -> str:
    """16 bytes in each block of the register."""
    loaded = f"_mm_loadu_si128((const __m128i *)({at}))"
    if bits == 128:
        return loaded
    return {256: "_mm256_broadcastsi128_si256", 512: "_mm512_broadcast_i32x4"}[bits] + f"({loaded})"


def _merged(blocks: int, v: str, p: str, bits: int) -> list[str]:
    """Neighbours are merged by a bit of the index, then pairs by the next one, and so on."""
    lines, names, bit = [], [f"t{k}" for k in range(blocks)], BLOCK
    lanes = bits // 8
    shuffle = f"{p}_shuffle_epi8"
    while True:
        if len(names) > 1:
            chosen = f"{p}_test_epi8_mask(i, {p}_set1_epi8({bit}))"
            lines.append(f"const __mmask{lanes} m{bit} = {chosen};")
        made = []
        for a, b in zip(names[::2], [*names[1::2], ""], strict=False):
            first = f"{shuffle}({a}, i)" if bit == BLOCK else a
            if b and bit == BLOCK:
                first = f"{p}_mask_shuffle_epi8({first}, m{bit}, {b}, i)"
            elif b:
                first = f"{p}_mask_mov_epi8({a}, m{bit}, {b})"
            made.append(first)
        bit *= 2
        if len(made) == 1:
            return [*lines, f"return {made[0]};"]
        names = [f"r{bit}_{k}" for k in range(len(made))]
        lines += [f"const {v} {n} = {text};" for n, text in zip(names, made, strict=True)]


def _joined(blocks: int, v: str, p: str, bits: int) -> list[str]:
    """Index 16 k + j, seen from block k, is j + 0x70; from others it is 0x80 or more."""
    if blocks == 1:
        return [f"return {p}_shuffle_epi8(t0, i);"]
    lines = [f"const {v} high = {p}_set1_epi8(0x70);"]
    lines.append(f"{v} r = {p}_shuffle_epi8(t0, {p}_add_epi8(i, high));")
    for k in range(1, blocks):
        seen = f"{p}_add_epi8({p}_xor_si{bits}(i, {p}_set1_epi8({k * BLOCK})), high)"
        lines.append(f"r = {p}_or_si{bits}(r, {p}_shuffle_epi8(t{k}, {seen}));")
    return [*lines, "return r;"]

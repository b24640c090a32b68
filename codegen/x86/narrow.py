"""Integers narrowed with saturation on x86: PACKSS, PACKUS and VPMOVUS of the Intel SDM, vol. 2."""

from __future__ import annotations

from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.types import prefix, register_bits, set1, vector_type, zero
from hbc.ir.lang.types import DType, Kind
from hbc.ir.vectors.take import integer


def saturated_by_moves(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """AVX-512: where the sign goes, numbers below 0 are 0 first, and what is left is unsigned."""
    p = prefix(s, lanes)
    if t.kind is s.kind:
        return f"{p}_cvt{'us' if t.kind is Kind.UINT else 's'}epi{s.bits}_epi{t.bits}({text})"
    return f"{p}_cvtusepi{s.bits}_epi{t.bits}({p}_max_epi{s.bits}({text}, {zero(s, lanes)}))"


def saturated_by_packs(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str | None:
    """AVX2: the halves of a register side by side. They are taken as signed, whence the limit of unsigned
    ones."""
    if s.bits == 64:
        return None
    if s.kind is Kind.UINT:
        text = f"{prefix(s, lanes)}_min_epu{s.bits}({text}, {set1(s, lanes, str(t.limits[1]))})"
    while s.bits > t.bits:
        half = t if s.bits == 2 * t.bits else integer(s.bits // 2)
        text = f"{_pack(s, half, lanes, unit)}({text})"
        s = half
    return text


def _pack(s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """The C function for half the width."""
    name = f"saturate_i{s.bits}_{t}x{lanes}"
    pack = f"_mm_pack{'us' if t.kind is Kind.UINT else 's'}_epi{s.bits}"
    low = high = "x"
    if register_bits(s, lanes) == 256:
        low, high = "_mm256_castsi256_si128(x)", "_mm256_extracti128_si256(x, 1)"
    head = f"static inline {vector_type(t, lanes)} {name}({vector_type(s, lanes)} x)"
    return unit.prelude.add(name, f"{head}\n{{\n    return {pack}({low}, {high});\n}}\n")

"""x86 vector registers: C types and prefixes for element types and lane counts."""

from __future__ import annotations

from hbc.ir.types import DType, Kind


def register_bits(t: DType, lanes: int) -> int:
    """128, 256 or 512: narrower vectors lie in the low lanes of 128 bits."""
    return max(128, t.bits * lanes)


def vector_type(t: DType, lanes: int) -> str:
    """The C type of a vector, masks excluded."""
    size = register_bits(t, lanes)
    suffix = {"f32": "", "f64": "d"}.get(t.name, "i")
    return f"__m{size}{suffix}"


def prefix(t: DType, lanes: int) -> str:
    """`_mm`, `_mm256` or `_mm512`."""
    size = register_bits(t, lanes)
    return "_mm" if size == 128 else f"_mm{size}"


def zero(t: DType, lanes: int) -> str:
    size = register_bits(t, lanes)
    suffix = {"f32": "ps", "f64": "pd"}.get(t.name, f"si{size}")
    return f"{prefix(t, lanes)}_setzero_{suffix}()"


def is_half(t: DType) -> bool:
    return t.bits == 16 and t.kind in (Kind.FLOAT, Kind.BFLOAT)

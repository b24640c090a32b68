"""x86 vector registers: C types, prefixes and suffixes for element types and lane counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from hbc.codegen.text.spelling import constant
from hbc.codegen.text.unit import Registers
from hbc.ir.lang.types import BOOL, I8, DType, Kind


def register_bits(t: DType, lanes: int) -> int:
    """128, 256 or 512: narrower vectors lie in the low lanes of 128 bits."""
    return max(128, t.bits * lanes)


def vector_type(t: DType, lanes: int) -> str:
    """The C type of a vector; bools are k-masks here (AVX-512)."""
    if t == BOOL:
        return mask_type(lanes)
    suffix = {"f32": "", "f64": "d"}.get(t.name, "i")
    return f"__m{register_bits(t, lanes)}{suffix}"


def mask_bits(lanes: int) -> int:
    """Bits of the k-mask type for so many lanes."""
    return max(8, lanes)


def mask_type(lanes: int) -> str:
    return f"__mmask{mask_bits(lanes)}"


def all_lanes(lanes: int) -> str:
    """The k-mask with every lane set."""
    value = (1 << lanes) - 1
    return f"UINT64_C({value:#x})" if lanes > 32 else f"{value:#x}"


def width_prefix(bits: int) -> str:
    """`_mm`, `_mm256` or `_mm512`."""
    return "_mm" if bits == 128 else f"_mm{bits}"


def prefix(t: DType, lanes: int) -> str:
    return width_prefix(register_bits(t, lanes))


def suffix(t: DType, *, signless: bool = True) -> str:
    """`ps`, `pd`, `epi32`, or `epu32` where the sign matters and the type has none."""
    if t.name in ("f32", "f64"):
        return "ps" if t.bits == 32 else "pd"
    unsigned = t.kind is Kind.UINT and not signless
    return f"ep{'u' if unsigned else 'i'}{t.bits}"


def whole(t: DType, lanes: int) -> str:
    """The suffix of operations on whole registers: `ps`, `pd`, `si256`."""
    return suffix(t) if t.name in ("f32", "f64") else f"si{register_bits(t, lanes)}"


@cache
def words(t: DType, lanes: int) -> Mapping[str, object]:
    """What templates (`ops.py`) may name."""
    p, s, bits = prefix(t, lanes), suffix(t), register_bits(t, lanes)
    partial = lanes * t.bits < 128
    return {
        "p": p, "s": s, "u": suffix(t, signless=False), "w": whole(t, lanes), "b": t.bits,
        "bits": bits, "x": f"{s}x" if s == "epi64" and bits < 512 else s,
        "round": "roundscale" if bits == 512 else "round", "m": mask_type(lanes),
        "all": all_lanes(lanes), "masked": "mask_" if partial else "",
        "inside": f"{all_lanes(lanes)}, " if partial else "",
        "sr": "srl" if t.kind is Kind.UINT else "sra",
        "least": {8: "-128", 16: "-32768", 32: "INT32_MIN", 64: "INT64_MIN"}.get(t.bits, ""),
    }  # fmt: skip


@cache
def cast_words(s: DType, t: DType, lanes: int) -> Mapping[str, object]:
    """The same for casts from s to t."""
    return {"p": width_prefix(max(register_bits(s, lanes), register_bits(t, lanes)))}


def zero(t: DType, lanes: int) -> str:
    return "0" if t == BOOL else f"{prefix(t, lanes)}_setzero_{whole(t, lanes)}()"


def set1(t: DType, lanes: int, value: str) -> str:
    """All lanes alike."""
    name = suffix(t)
    if name == "epi64" and register_bits(t, lanes) < 512:
        name = "epi64x"
    return f"{prefix(t, lanes)}_set1_{name}({value})"


def broadcast(t: DType, lanes: int, text: str) -> str:
    """All lanes one C value of the type."""
    if text == constant(0, t):
        return zero(t, lanes)
    if t.is_narrow:
        text = f"({'short' if t.bits == 16 else 'char'}){operand(text)}"
    elif t.kind is Kind.UINT:
        signed = {8: "char", 16: "short", 32: "int", 64: "long long"}[t.bits]
        text = f"({signed}){text if text.isalnum() else f'({text})'}"
    return set1(t, lanes, text)


def operand(text: str) -> str:
    """What a cast stands before: more than a name, a number, a call or an element is in parentheses."""
    depth = 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if depth == 0 and not (c.isalnum() or c in "_.)]"):
            return f"({text})"
    return text


def lane_value(element: str, t: DType) -> str:
    """An element as the signed integer that set1 takes, without a sign-conversion warning."""
    if (t.is_float and t.bits >= 32) or t.kind is Kind.INT:
        return element
    signed = {8: "char", 16: "short", 32: "int", 64: "long long"}[t.bits]
    return f"({signed}){operand(element)}"


def setr(t: DType, lanes: int, values: Sequence[str]) -> str:
    """Lane by lane, the first first; lanes that the vector does not have are 0."""
    bits, name = register_bits(t, lanes), suffix(t)
    values = [*values] + ["0"] * (bits // t.bits - lanes)
    if bits == 512 and t.bits < 32:
        return f"_mm512_set_{name}({', '.join(reversed(values))})"
    if name == "epi64" and bits == 128:
        return f"_mm_set_epi64x({', '.join(reversed(values))})"
    if name == "epi64" and bits == 256:
        name = "epi64x"
    return f"{width_prefix(bits)}_setr_{name}({', '.join(values)})"


def cast_register(text: str, t: DType, to: DType, lanes: int) -> str:
    """The same bits seen as another element type of the same width."""
    a, b = (suffix_group(t), suffix_group(to))
    if a == b:
        return text
    bits = register_bits(t, lanes)
    names = {"ps": "ps", "pd": "pd", "si": f"si{bits}"}
    return f"{width_prefix(bits)}_cast{names[a]}_{names[b]}({text})"


def suffix_group(t: DType) -> str:
    return {"f32": "ps", "f64": "pd"}.get(t.name, "si")


def resize(text: str, t: DType, bits: int, to: int) -> str:
    """The low part of a register, or the register as the low part of a wider one."""
    if bits == to:
        return text
    kind = suffix_group(t)
    a, b = (f"{kind}{bits}", f"{kind}{to}")
    return f"{width_prefix(max(bits, to))}_cast{a}_{b}({text})"


def joined(low: str, high: str, t: DType, half: int) -> str:
    """Two vectors of `half` lanes as one of twice as many."""
    size = t.bits * half
    if size == 128:
        name = {"f32": "", "f64": "d"}.get(t.name, "i")
        return f"_mm256_set_m128{name}({high}, {low})"
    if size < 128:
        if t.is_float:
            return f"_mm_movelh_ps({low}, {high})"
        return f"_mm_unpacklo_epi{size}({low}, {high})"
    insert = {"f32": "insertf32x8", "f64": "insertf64x4"}.get(t.name, "inserti64x4")
    return f"_mm512_{insert}({resize(low, t, 256, 512)}, {high}, 1)"


def side_by_side(parts: Sequence[str], t: DType, lanes: int) -> str:
    """Parts of a vector of so many lanes, all alike, a power of two of them."""
    while len(parts) > 1:
        half = lanes // len(parts)
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [joined(low, high, t, half) for low, high in pairs]
    return parts[0]


def block_of(text: str, t: DType, lanes: int, part: int, number: int) -> str:
    """So many lanes of a longer register: the number-th run of them, of 128 or 256 bits."""
    bits, size = register_bits(t, lanes), part * t.bits
    if number == 0:
        return resize(text, t, bits, size)
    whole = cast_register(text, t, I8, lanes)
    name = {
        (256, 128): "_mm256_extracti128_si256", (512, 128): "_mm512_extracti32x4_epi32",
        (512, 256): "_mm512_extracti64x4_epi64",
    }[bits, size]  # fmt: skip
    return cast_register(f"{name}({whole}, {number})", I8, t, size // 8)


def register_lanes(t: DType, lanes: int) -> int:
    """Lanes of the whole register that holds the vector."""
    return register_bits(t, lanes) // t.bits


def spill(t: DType, lanes: int, array: str, value: str) -> str:
    """Stores the whole register into an array of `register_lanes`."""
    bits = register_bits(t, lanes)
    if t.name in ("f32", "f64"):
        return f"{prefix(t, lanes)}_storeu_{suffix(t)}({array}, {value})"
    return f"{prefix(t, lanes)}_storeu_si{bits}((__m{bits}i *){array}, {value})"


def fill(t: DType, lanes: int, array: str) -> str:
    """Loads the whole register from an array of `register_lanes`."""
    bits = register_bits(t, lanes)
    if t.name in ("f32", "f64"):
        return f"{prefix(t, lanes)}_loadu_{suffix(t)}({array})"
    return f"{prefix(t, lanes)}_loadu_si{bits}((const __m{bits}i *){array})"


X86_REGISTERS = Registers(vector_type, zero, register_lanes, spill, fill)

"""Casts between x86 vectors: an instruction, or a small function."""

from __future__ import annotations

from collections.abc import Callable
from string import Template

from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.cast import convert
from hbc.codegen.vector.machine import Cast
from hbc.codegen.x86.float8 import narrowed, widened
from hbc.codegen.x86.types import (
    cast_register,
    prefix,
    register_bits,
    set1,
    suffix,
    vector_type,
    width_prefix,
)  # fmt: skip
from hbc.ir.lang.types import BF16, DTYPES, F32, F64, I32, DType, Kind


def _narrow(s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """AVX2: the low bytes of each lane, gathered within 128 bits, then joined."""
    name = f"narrow_i{s.bits}_i{t.bits}x{lanes}"
    size, kept = s.bits // 8, t.bits // 8
    picks = [lane * size + k for lane in range(16 // size) for k in range(kept)]
    order = picks + [-1] * (16 - len(picks))
    together = {1: "epi8", 2: "epi16", 4: "epi32", 8: "epi64"}[len(picks)]
    wide = register_bits(s, lanes) == 256
    registers = 32 if wide else 16
    shuffle = f"{width_prefix(registers * 8)}_shuffle_epi8"
    bytes_ = ", ".join(str(p) for p in order * (registers // 16))
    lines = [f"const __m{registers * 8}i low = {shuffle}(x, "
             f"{width_prefix(registers * 8)}_setr_epi8({bytes_}));"]  # fmt: skip
    if wide:
        lines.append(f"return _mm_unpacklo_{together}(_mm256_castsi256_si128(low),")
        lines.append(f"{' ' * 26}_mm256_extracti128_si256(low, 1));")
    else:
        lines.append("return low;")
    body = "\n".join(f"    {line}" for line in lines)
    head = f"static inline {vector_type(t, lanes)} {name}({vector_type(s, lanes)} x)"
    return unit.prelude.add(name, f"{head}\n{{\n{body}\n}}\n")


_TO_BF16 = """\
static inline $H $name($F x)
{
    const $I bits = ${p}_cast${f}_$si(x);
    const $I odd = ${p}_and_$si(${p}_srli_epi32(bits, 16), ${p}_set1_epi32(1));
    const $I near = ${p}_add_epi32(bits, ${p}_add_epi32(odd, ${p}_set1_epi32(0x7fff)));
    const $I quiet = ${p}_or_$si(bits, ${p}_set1_epi32(0x400000));  // what NaN becomes
    const $I high = ${p}_srli_epi32($select, 16);
    return $narrow;
}
"""
_FROM_BF16 = """\
static inline $F $name($H x)
{
    return ${p}_cast${si}_ps(${p}_slli_epi32(${p}_cvtepu16_epi32(x), 16));
}
"""


def _bfloat(s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """f32 to bf16 (nearest even) and back."""
    if s == BF16:
        name = f"f32_from_bf16x{lanes}"
        text = Template(_FROM_BF16).substitute(
            H=vector_type(BF16, lanes), F=vector_type(F32, lanes), name=name,
            p=prefix(F32, lanes), si=f"si{register_bits(F32, lanes)}",
        )  # fmt: skip
        return unit.prelude.add(name, text)
    name = f"bf16_from_f32x{lanes}"
    bits = register_bits(F32, lanes)
    nan = f"_mm{'' if bits == 128 else bits}_cmp_ps"
    if unit.target.vector_bits == 512:
        unordered = f"{nan}_mask(x, x, _CMP_UNORD_Q)"
        chosen = f"{prefix(I32, lanes)}_mask_blend_epi32({unordered}, near, quiet)"
    else:
        unordered = f"{prefix(I32, lanes)}_castps_si{bits}({nan}(x, x, _CMP_UNORD_Q))"
        chosen = f"{prefix(I32, lanes)}_blendv_epi8(near, quiet, {unordered})"
    text = Template(_TO_BF16).substitute(
        H=vector_type(BF16, lanes), F=vector_type(F32, lanes), I=vector_type(I32, lanes),
        name=name, p=prefix(F32, lanes), f="ps", si=f"si{bits}", select=chosen,
        narrow=convert("high", DTYPES["u32"], DTYPES["u16"], lanes, unit),
    )  # fmt: skip
    return unit.prelude.add(name, text)


def _clamp(s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """f32 to i32 within the limits of an 8- or 16-bit type. max gives its second operand for NaN:
    the lower limit, which is 0 for unsigned types; signed ones clear those lanes first."""
    name = f"clamp_{t}_f32x{lanes}"
    low, high = t.limits
    p = prefix(F32, lanes)
    value = "x"
    if t.kind is Kind.INT:
        value = _numbers_only("x", F32, lanes, unit)
    least, most = (set1(F32, lanes, f"{float(v)}f") for v in (low, high))
    body = (
        f"    return {p}_cvttps_epi32({p}_min_ps({p}_max_ps({value}, {least}),\n        {most}));\n"
    )
    head = f"static inline {vector_type(I32, lanes)} {name}({vector_type(F32, lanes)} x)"
    return unit.prelude.add(name, f"{head}\n{{\n{body}}}\n")


def _numbers_only(x: str, t: DType, lanes: int, unit: Unit) -> str:
    """x with NaN lanes 0."""
    p, s = prefix(t, lanes), suffix(t)
    if unit.target.vector_bits == 512:
        return f"{p}_maskz_mov_{s}({p}_cmp_{s}_mask({x}, {x}, _CMP_ORD_Q), {x})"
    return f"{p}_and_{s}({x}, {p}_cmp_{s}({x}, {x}, _CMP_ORD_Q))"


def _truncate(s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """f32 or f64 to i32. The instruction gives INT32_MIN for all it cannot hold, which is right
    below; f32 above is turned into INT32_MAX by flipping every bit, f64 can be clamped exactly."""
    name = f"i32_from_{s}x{lanes}"
    p, f = prefix(s, lanes), suffix(s)
    head = f"static inline {vector_type(I32, lanes)} {name}({vector_type(s, lanes)} x)"
    number = _numbers_only("x", s, lanes, unit)
    if s == F64:
        high = set1(F64, lanes, "2147483647.0")
        low = set1(F64, lanes, "-2147483648.0")
        body = (
            f"    const {vector_type(s, lanes)} number = {number};\n"
            f"    return {p}_cvttpd_epi32({p}_max_pd({p}_min_pd(number, {high}), {low}));\n"
        )
        return unit.prelude.add(name, f"{head}\n{{\n{body}}}\n")
    limit = set1(F32, lanes, "2147483648.0f")
    whole = f"{p}_cvttps_epi32({number})"
    bits = register_bits(F32, lanes)
    if unit.target.vector_bits == 512:
        above = f"{p}_cmp_{f}_mask(x, {limit}, _CMP_GE_OQ)"
        value = f"{p}_mask_mov_epi32({whole}, {above}, {set1(I32, lanes, 'INT32_MAX')})"
    else:
        above = cast_register(f"{p}_cmp_{f}(x, {limit}, _CMP_GE_OQ)", F32, I32, lanes)
        value = f"{p}_xor_si{bits}({whole}, {above})"
    return unit.prelude.add(name, f"{head}\n{{\n    return {value};\n}}\n")


def _call(function: Callable[[DType, DType, int, Unit], str]) -> Cast:
    """A cast by the C function that this defines and names."""
    return lambda text, s, t, lanes, unit: f"{function(s, t, lanes, unit)}({text})"


def _small(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """f32 to integers of 8 and 16 bits, whose limits are applied first."""
    return convert(f"{_clamp(s, t, lanes, unit)}({text})", I32, t, lanes, unit)


_INTEGERS = [(sign, bits) for bits in (8, 16, 32) for sign in "iu"]
AVX2_CASTS: dict[tuple[str, str], Cast] = {
    **{
        (f"{sign}{a}", f"{to}{b}"): f"{{p}}_cvtep{sign}{a}_epi{b}({{0}})"
        for sign, a in _INTEGERS
        for b in (16, 32, 64)
        for to in "iu"
        if a < b
    },
    **{
        (f"{sign}{b}", f"{low}{a}"): _call(_narrow)
        for sign in "iu"
        for b in (16, 32, 64)
        for low, a in _INTEGERS
        if a < b
    },
    ("i32", "f32"): "{p}_cvtepi32_ps({0})", ("i32", "f64"): "{p}_cvtepi32_pd({0})",
    ("f32", "f64"): "{p}_cvtps_pd({0})", ("f64", "f32"): "{p}_cvtpd_ps({0})",
    ("f16", "f32"): "{p}_cvtph_ps({0})",
    ("f32", "f16"): "{p}_cvtps_ph({0}, _MM_FROUND_TO_NEAREST_INT)",
    ("f32", "bf16"): _call(_bfloat), ("bf16", "f32"): _call(_bfloat),
    **{("f32", t): narrowed for t in ("f8e4m3", "f8e5m2")},
    **{(t, "f32"): widened for t in ("f8e4m3", "f8e5m2")},
    **{("f32", t): _small for t in ("i8", "u8", "i16", "u16")},
    ("f32", "i32"): _call(_truncate), ("f64", "i32"): _call(_truncate),
}  # fmt: skip
AVX512_CASTS: dict[tuple[str, str], Cast] = AVX2_CASTS | {
    **{
        (f"{sign}{b}", f"{low}{a}"): f"{{p}}_cvtepi{b}_epi{a}({{0}})"
        for sign in "iu"
        for b in (16, 32, 64)
        for low, a in _INTEGERS
        if a < b
    },
    ("u32", "f32"): "{p}_cvtepu32_ps({0})", ("i64", "f32"): "{p}_cvtepi64_ps({0})",
    ("u64", "f32"): "{p}_cvtepu64_ps({0})", ("u64", "f64"): "{p}_cvtepu64_pd({0})",
    ("u32", "f64"): "{p}_cvtepu32_pd({0})", ("i64", "f64"): "{p}_cvtepi64_pd({0})",
}  # fmt: skip

# Casts in two steps, neither of which rounds (or only the last).
VIA: dict[tuple[str, str], str] = {
    **{(a, b): "i32" for a in ("i8", "u8", "i16", "u16") for b in ("f32", "f64")},
    **{(a, b): "f32" for a in ("i8", "u8", "i16", "u16") for b in ("f16", "bf16")},
    ("i32", "f16"): "f32", ("f16", "f64"): "f32", ("bf16", "f64"): "f32",
    ("f16", "bf16"): "f32", ("bf16", "f16"): "f32",
    **{(a, "f64"): "f32" for a in ("f8e4m3", "f8e5m2")},
}  # fmt: skip

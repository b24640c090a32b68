"""Casts between f32 and floats of 8 bits on x86 vectors, by way of f16 and of integers.

What each line does is in `codegen/text/float8.py`.
"""

from __future__ import annotations

from string import Template

from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.cast import convert
from hbc.codegen.x86.types import prefix, register_bits, vector_type
from hbc.ir.lang.types import F8E5M2, F32, I8, I16, I32, U8, U16, U32, DType

# An f16 whose exponent is 8 less, and of a NaN the greatest.
_FROM_E4M3 = """\
static inline $F $name(__m128i x)
{
    const $W bits = ${w}_slli_epi16($wide, 7);
    const $W half = ${w}_and_$si(bits, ${w}_set1_epi16((short)0xbf80));
    const $W most = ${w}_set1_epi16(0x3f80);
    const $W nan = ${w}_cmpeq_epi16(${w}_and_$si(half, most), most);
    const $W marked = ${w}_or_$si(half, ${w}_and_$si(nan, ${w}_set1_epi16(0x4000)));
    return ${p}_mul_ps(${p}_cvtph_ps(marked), ${p}_set1_ps(256.0f));
}
"""
_FROM_E5M2 = """\
static inline $F $name(__m128i x)
{
    return ${p}_cvtph_ps(${w}_slli_epi16($wide, 8));
}
"""
_TO_E4M3 = """\
static inline __m128i $name($F x)
{
    const $I bits = ${p}_castps_$s(x);
    const $I sign = ${p}_and_$s(${p}_srli_epi32(bits, 24), ${p}_set1_epi32(0x80));
    // 480 has the bits of NaN.
    const $I size = ${p}_min_epi32(${p}_and_$s(bits, ${p}_set1_epi32(0x7fffffff)),
        ${p}_set1_epi32(0x43f00000));
    const $I odd = ${p}_and_$s(${p}_srli_epi32(size, 20), ${p}_set1_epi32(1));
    const $I near = ${p}_add_epi32(size, ${p}_add_epi32(odd, ${p}_set1_epi32(0x7ffff)));
    const $I normal = ${p}_sub_epi32(${p}_srli_epi32(near, 20), ${p}_set1_epi32(0x3c0));
    const $I units = ${p}_castps_$s(${p}_add_ps(${p}_cast${s}_ps(size), ${p}_set1_ps(16384.0f)));
    const $I subnormal = ${p}_sub_epi32(units, ${p}_set1_epi32(0x46800000));
    const $I code = $chosen;
    const $I result = ${p}_or_$s(sign, code);
    return $narrow;
}
"""
_TO_E5M2 = """\
static inline __m128i $name($F x)
{
    const $I bits = ${p}_castps_$s(x);
    const $I sign = ${p}_and_$s(${p}_srli_epi32(bits, 24), ${p}_set1_epi32(0x80));
    const $I whole = ${p}_and_$s(bits, ${p}_set1_epi32(0x7fffffff));
    const $I size = ${p}_min_epi32(whole, ${p}_set1_epi32(0x47800000));  // infinity
    const $I odd = ${p}_and_$s(${p}_srli_epi32(size, 21), ${p}_set1_epi32(1));
    const $I near = ${p}_add_epi32(size, ${p}_add_epi32(odd, ${p}_set1_epi32(0xfffff)));
    const $I normal = ${p}_sub_epi32(${p}_srli_epi32(near, 21), ${p}_set1_epi32(0x1c0));
    const $I units = ${p}_castps_$s(${p}_add_ps(${p}_cast${s}_ps(size), ${p}_set1_ps(128.0f)));
    const $I subnormal = ${p}_sub_epi32(units, ${p}_set1_epi32(0x43000000));
    const $I code = $chosen;
    const $I result = ${p}_or_$s(sign, $marked);
    return $narrow;
}
"""


def widened(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """A float of 8 bits as f32."""
    name = f"f32_from_{s}x{lanes}"
    w, source = register_bits(I16, lanes), U8 if s == F8E5M2 else I8
    unit.prelude.add(
        name,
        Template(_FROM_E5M2 if s == F8E5M2 else _FROM_E4M3).substitute(
            F=vector_type(F32, lanes), W=f"__m{w}i", name=name, p=prefix(F32, lanes),
            w=prefix(I16, lanes), si=f"si{w}", wide=convert("x", source, U16, lanes, unit),
        ),
    )  # fmt: skip
    return f"{name}({text})"


def narrowed(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """f32 as a float of 8 bits: nearest even."""
    name, p = f"{t}_from_f32x{lanes}", prefix(F32, lanes)
    least, nan = ("0x38800000", "0x7f800000") if t == F8E5M2 else ("0x3c800000", "")
    if unit.target.vector_bits == 512:
        below = f"{p}_cmplt_epi32_mask(size, {p}_set1_epi32({least}))"
        chosen = f"{p}_mask_blend_epi32({below}, normal, subnormal)"
        beyond = f"{p}_cmpgt_epi32_mask(whole, {p}_set1_epi32({nan}))"
        marked = f"{p}_mask_or_epi32(code, {beyond}, code, {p}_set1_epi32(2))"
    else:
        si = f"si{register_bits(I32, lanes)}"
        below = f"{p}_cmpgt_epi32({p}_set1_epi32({least}), size)"
        chosen = f"{p}_blendv_epi8(normal, subnormal, {below})"
        beyond = f"{p}_cmpgt_epi32(whole, {p}_set1_epi32({nan}))"
        marked = f"{p}_or_{si}(code, {p}_and_{si}({beyond}, {p}_set1_epi32(2)))"
    unit.prelude.add(
        name,
        Template(_TO_E5M2 if t == F8E5M2 else _TO_E4M3).substitute(
            F=vector_type(F32, lanes), I=vector_type(I32, lanes), name=name, p=p,
            s=f"si{register_bits(I32, lanes)}", chosen=chosen, marked=marked,
            narrow=convert("result", U32, U8, lanes, unit),
        ),
    )  # fmt: skip
    return f"{name}({text})"

"""Casts between NEON vectors, as chains of conversions that keep, double or halve the lane width.

    i8 -> f32   vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(x))))
    f32 -> u8   vqmovn_u16(vcombine_u16(y, y)), y = vqmovn_u32(vcvtq_u32_f32(x))

FCVTZS and FCVTZU saturate and give 0 for NaN, and SQXTN and UQXTN saturate: what a cast means.
"""

from __future__ import annotations

from hbc.codegen.neon.float8 import FUNCTIONS
from hbc.codegen.neon.types import kind, reinterpret
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.cast import convert
from hbc.codegen.vector.machine import Cast
from hbc.ir.lang.types import DTYPES, F32, DType

# The steps between lanes of one width.
_SAME = {
    ("s32", "f32"): "vcvt", ("u32", "f32"): "vcvt", ("f32", "s32"): "vcvt", ("f32", "u32"): "vcvt",
    ("s64", "f64"): "vcvt", ("u64", "f64"): "vcvt", ("f64", "s64"): "vcvt", ("f64", "u64"): "vcvt",
}  # fmt: skip


def saturate(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """Integers narrowed with saturation."""
    return _saturated(text, kind(s), kind(t), lanes)


_TO_BF16 = """\
/* Rounded to nearest, ties to even. */
static inline uint16x4_t bf16_from_f32x4(float32x4_t x)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t near = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    const uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));  // what NaN becomes
    return vshrn_n_u32(vbslq_u32(vceqq_f32(x, x), near, quiet), 16);
}
"""


def same(text: str, s: str, t: str, lanes: int) -> str:
    """A conversion between lanes of one width, by suffix."""
    wide = "q" if int(s[1:]) * lanes > 64 else ""
    return f"{_SAME[s, t]}{wide}_{t}_{s}({text})"


def resized(text: str, s: str, t: str, lanes: int) -> str:
    """Integers, by suffix: widened as their sign says, or their low bits."""
    bits, wanted, sign = int(s[1:]), int(t[1:]), s[0]
    while bits < wanted:
        text = f"vmovl_{sign}{bits}({text})"
        bits *= 2
        text = _low(text, f"{sign}{bits}", lanes)
    while bits > wanted:
        text = f"vmovn_{sign}{bits}({_whole(text, f'{sign}{bits}', lanes)})"
        bits //= 2
    return reinterpret(text, f"{sign}{bits}", t, 64 if bits * lanes <= 64 else 128)


def _saturated(text: str, s: str, t: str, lanes: int) -> str:
    """Integers narrowed with saturation, by suffix: SQXTN, UQXTN, or SQXTUN where the sign goes."""
    bits, sign = int(s[1:]), s[0]
    while bits > int(t[1:]):
        stem = "vqmovn" if sign == t[0] else "vqmovun"
        text = f"{stem}_{sign}{bits}({_whole(text, f'{sign}{bits}', lanes)})"
        bits, sign = bits // 2, t[0]
    return text


def _low(text: str, suffix: str, lanes: int) -> str:
    """128 bits that a widening made, or the low half when the vector needs no more."""
    return f"vget_low_{suffix}({text})" if int(suffix[1:]) * lanes <= 64 else text


def _whole(text: str, suffix: str, lanes: int) -> str:
    """The vector in the low lanes of 128 bits, for a narrowing."""
    if int(suffix[1:]) * lanes > 64:
        return text
    return f"vcombine_{suffix}({text}, vdup_n_{suffix}(0))"


def _integers(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    return resized(text, kind(s), kind(t), lanes)


def _to_integer(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    own = f"{kind(t)[0]}{s.bits}"
    return _saturated(same(text, kind(s), own, lanes), own, kind(t), lanes)


def _same_width(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    return same(text, kind(s), kind(t), lanes)


def _f64_to_half(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """By way of an f32 that is rounded to odd."""
    return convert(f"vcvtx_f32_f64({text})", F32, t, lanes, unit)


def _from_f16(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    return _low(f"vcvt_f32_f16(vreinterpret_f16_u16({text}))", "f32", lanes)


def _to_f16(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    return f"vreinterpret_u16_f16(vcvt_f16_f32({_whole(text, 'f32', lanes)}))"


def _from_bf16(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    return _low(f"vreinterpretq_f32_u32(vshll_n_u16({text}, 16))", "f32", lanes)


def _to_bf16(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    return f"{unit.prelude.add('bf16_from_f32x4', _TO_BF16)}({_whole(text, 'f32', lanes)})"


def _from_f8(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    name = f"f32_from_{s}x4"
    return _low(f"{unit.prelude.add(name, FUNCTIONS[name])}({text})", "f32", lanes)


def _to_f8(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    name = f"{t}_from_f32x4"
    return f"{unit.prelude.add(name, FUNCTIONS[name])}({_whole(text, 'f32', lanes)})"


_INTEGERS = [t for t in DTYPES.values() if t.is_int]
CASTS: dict[tuple[str, str], Cast] = {
    **{(s.name, t.name): _integers for s in _INTEGERS for t in _INTEGERS if s.bits != t.bits},
    **{("f32", t.name): _to_integer for t in _INTEGERS if t.bits <= 32},
    **{("f64", t.name): _to_integer for t in _INTEGERS},
    ("i32", "f32"): _same_width, ("u32", "f32"): _same_width, ("i64", "f64"): _same_width,
    ("u64", "f64"): _same_width,
    ("f32", "f64"): "vcvt_f64_f32({0})",
    ("f64", "f32"): "vcvt_f32_f64({0})", ("f64", "f16"): _f64_to_half, ("f64", "bf16"): _f64_to_half,
    ("f16", "f32"): _from_f16, ("f32", "f16"): _to_f16,
    ("bf16", "f32"): _from_bf16, ("f32", "bf16"): _to_bf16,
    **{(t, "f32"): _from_f8 for t in ("f8e4m3", "f8e5m2")},
    **{("f32", t): _to_f8 for t in ("f8e4m3", "f8e5m2")},
    **{("f64", t): _f64_to_half for t in ("f8e4m3", "f8e5m2")},
}  # fmt: skip
# Casts in several steps, of which none or only the last rounds.
VIA: dict[tuple[str, str], str] = {
    **{(a, b): "i32" for a in ("i8", "i16") for b in ("f32", "f64")},
    **{(a, b): "u32" for a in ("u8", "u16") for b in ("f32", "f64")},
    **{(a, b): "f32" for a in ("i8", "u8", "i16", "u16") for b in ("f16", "bf16")},
    ("i32", "f64"): "i64", ("u32", "f64"): "u64", ("i32", "f16"): "f32", ("u32", "f16"): "f32",
    ("f16", "f64"): "f32", ("bf16", "f64"): "f32", ("f16", "bf16"): "f32", ("bf16", "f16"): "f32",
    **{(t, "f64"): "f32" for t in ("f8e4m3", "f8e5m2")},
    ("f32", "i64"): "f64", ("f32", "u64"): "f64",
}  # fmt: skip

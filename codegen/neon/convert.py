"""Casts between NEON vectors, as chains of conversions that keep, double or halve the lane width.

    i8 -> f32   vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(x))))
    f32 -> u8   vqmovn_u16(vcombine_u16(y, y)), y = vqmovn_u32(vcvtq_u32_f32(x))

FCVTZS and FCVTZU saturate and give 0 for NaN, and SQXTN and UQXTN saturate: what a cast means.
"""

from __future__ import annotations

from hbc.codegen.neon.types import kind, reinterpret
from hbc.codegen.text.lanewise import lane_operand, lanewise
from hbc.codegen.text.unit import Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import BF16, DTYPES, F16, F32, F64, DType, Kind

# The steps between lanes of one width.
_SAME = {
    ("s32", "f32"): "vcvt", ("u32", "f32"): "vcvt", ("f32", "s32"): "vcvt", ("f32", "u32"): "vcvt",
    ("s64", "f64"): "vcvt", ("u64", "f64"): "vcvt", ("f64", "s64"): "vcvt", ("f64", "u64"): "vcvt",
}  # fmt: skip
# Conversions in several steps, of which none or only the last rounds. f64 goes to halves by way of
# an f32 that is rounded to odd.
_VIA: dict[tuple[str, str], str] = {
    **{(a, b): "i32" for a in ("i8", "i16") for b in ("f32", "f64")},
    **{(a, b): "u32" for a in ("u8", "u16") for b in ("f32", "f64")},
    **{(a, b): "f32" for a in ("i8", "u8", "i16", "u16") for b in ("f16", "bf16")},
    ("i32", "f64"): "i64", ("u32", "f64"): "u64", ("i32", "f16"): "f32", ("u32", "f16"): "f32",
    ("f16", "f64"): "f32", ("bf16", "f64"): "f32", ("f16", "bf16"): "f32", ("bf16", "f16"): "f32",
    ("f32", "i64"): "f64",
}  # fmt: skip


def convert(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """`text`, a vector of s, as a vector of t with as many lanes."""
    if s == t:
        return text
    if s.is_int and t.is_int:
        return resized(text, kind(s), kind(t), lanes)
    if s.is_float and t.is_int and s.bits >= 32 and t.bits <= s.bits:
        own = f"{kind(t)[0]}{s.bits}"
        return _saturated(same(text, kind(s), own, lanes), own, kind(t), lanes)
    row = (s.name, t.name)
    if row in _VIA:
        return _through(_VIA[row], text, s, t, lanes, unit)
    if (kind(s), kind(t)) in _SAME and s.bits == t.bits:
        return same(text, kind(s), kind(t), lanes)
    step = _float_step(text, s, t, lanes, unit)
    if step is not None:
        return step
    function = lanewise(
        f"cast_{s}_{t}x{lanes}", ir.Cast(t(1), lane_operand(0, s)), (s,), lanes, unit
    )
    return f"{function}({text})"


def clamped(e: ir.Expr, t: DType) -> ir.Expr | None:
    """x, when `e` is x brought within the limits of a narrower integer type, as a narrowing with
    saturation does by itself."""
    s = e.type.element
    if not (s.is_int and t.is_int and t.bits < s.bits and (s.kind is t.kind or s.kind is Kind.INT)):
        return None
    bounds: dict[ir.Op, int | float | bool] = {}
    while isinstance(e, ir.Binary) and e.op in (ir.Op.MIN, ir.Op.MAX) and e.op not in bounds:
        limit = const_value(e.b)
        if limit is None:
            return None
        bounds[e.op] = limit
        e = e.a
    low, high = t.limits
    if s.kind is Kind.UINT:
        bounds.setdefault(ir.Op.MAX, 0)
    return e if bounds == {ir.Op.MAX: low, ir.Op.MIN: high} else None


def saturate(text: str, s: DType, t: DType, lanes: int) -> str:
    """Integers narrowed with saturation."""
    return _saturated(text, kind(s), kind(t), lanes)


def _through(middle: str, text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    if middle == "u64":  # no type of the language
        return same(resized(text, kind(s), "u64", lanes), "u64", kind(t), lanes)
    m = DTYPES[middle]
    return convert(convert(text, s, m, lanes, unit), m, t, lanes, unit)


def _float_step(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str | None:
    """Between floats whose widths differ by a factor of two, or None."""
    if (s, t) == (F32, F64):
        return f"vcvt_f64_f32({text})"
    if (s, t) == (F64, F32):
        return f"vcvt_f32_f64({text})"
    if s == F64 and t.bits == 16:
        return convert(f"vcvtx_f32_f64({text})", F32, t, lanes, unit)
    if (s, t) == (F16, F32):
        return _low(f"vcvt_f32_f16(vreinterpret_f16_u16({text}))", "f32", lanes)
    if (s, t) == (F32, F16):
        return f"vreinterpret_u16_f16(vcvt_f16_f32({_whole(text, 'f32', lanes)}))"
    if (s, t) == (BF16, F32):
        return _low(f"vreinterpretq_f32_u32(vshll_n_u16({text}, 16))", "f32", lanes)
    if (s, t) == (F32, BF16):
        return f"{unit.prelude.add('bf16_from_f32x4', _TO_BF16)}({_whole(text, 'f32', lanes)})"
    return None


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

"""The small C functions that generated code may need, written out only where they are used.

A name is a family and one or two element types: `div_i32` floors, `i32_from_f32` saturates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from string import Template

from hbc.codegen.spelling import c_type, int_type, unsigned_type
from hbc.ir.diag import InternalError
from hbc.ir.types import DTYPES, DType, Kind

_TYPES = "|".join(DTYPES)
_NAME = re.compile(rf"\b(?:(?:{_TYPES})_from|[a-z]+)_(?:{_TYPES})(?:_(?:{_TYPES}))?\b")

# Signed arithmetic that wraps: C leaves overflow of signed integers undefined.
_WRAP = """\
static inline $T ${family}_$t($T a, $T b)
{
    return ($T)(($W)a $op ($W)b);
}
"""
_NEG = """\
static inline $T neg_$t($T a)
{
    return ($T)(0u - ($W)a);
}
"""
_ABS = """\
static inline $T abs_$t($T a)
{
    return a < 0 ? ($T)(0u - ($W)a) : a;
}
"""

# Integer division rounds down, and gives 0 for a zero divisor.
_DIV_SIGNED = """\
static inline $T div_$t($T a, $T b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return ($T)(0u - ($W)a);
    const $T quotient = ($T)(a / b);
    return ($T)(quotient - (a % b != 0 && (a < 0) != (b < 0)));
}
"""
_MOD_SIGNED = """\
static inline $T mod_$t($T a, $T b)
{
    if (b == 0 || b == -1)
        return 0;
    const $T rest = ($T)(a % b);
    return ($T)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
"""
_DIV_UNSIGNED = """\
static inline $T ${family}_$t($T a, $T b)
{
    return ($T)(b == 0 ? 0 : a $op b);
}
"""
_MOD_FLOAT = """\
static inline $T mod_$t($T a, $T b)
{
    const $T rest = fmod$f(a, b);
    if (rest == 0)
        return copysign$f(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
"""
# Shift amounts count modulo the width; signed values shift arithmetically.
_SHL = """\
static inline $T shl_$t($T a, $T n)
{
    return ($T)(($W)a << ((unsigned)n & ${last}u));
}
"""
_SHR = """\
static inline $T shr_$t($T a, $T n)
{
    return ($T)(a >> ((unsigned)n & ${last}u));
}
"""
_LEAST = """\
static inline $T ${family}_$t($T a, $T b)
{
    return a $op b ? a : b;
}
"""
# A NaN operand is the result, as in NumPy.
_LEAST_FLOAT = """\
static inline $T ${family}_$t($T a, $T b)
{
    return a $op b || a != a ? a : b;
}
"""
# The same where b is a number: one instruction.
_LEAST_NUMBER = """\
static inline $T ${family}_$t($T a, $T b)
{
    return b $op a ? b : a;
}
"""
# Truncates, saturates, and gives 0 for NaN.
_SATURATE_SIGNED = """\
static inline $T ${t}_from_$s($S x)
{
    if (x >= $high)
        return $MAX;
    if (x > -$high)
        return ($T)x;
    return x <= -$high ? $MIN : 0;
}
"""
_SATURATE_UNSIGNED = """\
static inline $T ${t}_from_$s($S x)
{
    if (x >= $high)
        return $MAX;
    return x > 0 ? ($T)x : 0;
}
"""
_BITS = """\
static inline $T bits_${t}_$s($S x)
{
    $T y;
    memcpy(&y, &x, sizeof y);
    return y;
}
"""

# Half precision and bfloat16 are stored as uint16_t; both round to nearest, ties to even.
_FIXED = {
    "f32_from_bf16": """\
static inline float f32_from_bf16(uint16_t x)
{
    return bits_f32_u32((uint32_t)x << 16);
}
""",
    "bf16_from_f32": """\
static inline uint16_t bf16_from_f32(float x)
{
    const uint32_t bits = bits_u32_f32(x);
    if (x != x)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
""",
    "f32_from_f16": """\
static inline float f32_from_f16(uint16_t x)
{
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, magnitude = (uint32_t)(x & 0x7fff) << 13;
    if (magnitude >= 0x0f800000)  // infinity, NaN
        return bits_f32_u32(sign | 0x7f800000 | magnitude);
    if (magnitude >= 0x00800000)
        return bits_f32_u32(sign | (magnitude + 0x38000000));
    const float subnormal = (float)(magnitude >> 13) * 0x1p-24f;
    return sign ? -subnormal : subnormal;
}
""",
    "f16_from_f32": """\
static inline uint16_t f16_from_f32(float x)
{
    const uint32_t bits = bits_u32_f32(x), magnitude = bits & 0x7fffffff;
    const uint32_t sign = bits >> 16 & 0x8000;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x47800000)  // 65536: infinity
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000)  // subnormal: the units of 0.5 + x are those of the result
        return (uint16_t)(sign | (bits_u32_f32(bits_f32_u32(magnitude) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | ((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - 0x1c000);
}
""",
    "odd_f32_f64": """\
/* Rounded to odd: rounding that once more, to fewer bits, is rounding x once. */
static inline float odd_f32_f64(double x)
{
    const float near = (float)x;
    const uint32_t bits = bits_u32_f32(near);
    if (x != x || (double)near == x)
        return near;
    return bits_f32_u32((bits - (fabs((double)near) > fabs(x))) | 1);
}
""",
    "f16_from_f64": """\
static inline uint16_t f16_from_f64(double x)
{
    return f16_from_f32(odd_f32_f64(x));
}
""",
    "bf16_from_f64": """\
static inline uint16_t bf16_from_f64(double x)
{
    return bf16_from_f32(odd_f32_f64(x));
}
""",
    "bf16_from_i64": """\
static inline uint16_t bf16_from_i64(int64_t x)
{
    // Beyond 2^32 the low bits only say whether there is more: then x is exact in double.
    if (x >= INT64_C(4294967296) || x <= -INT64_C(4294967296))
        x = (x & ~INT64_C(0xffff)) | ((x & 0xffff) != 0);
    return bf16_from_f64((double)x);
}
""",
}
_F16C = {
    "f32_from_f16": """\
static inline float f32_from_f16(uint16_t x)
{
    return _cvtsh_ss(x);
}
""",
    "f16_from_f32": """\
static inline uint16_t f16_from_f32(float x)
{
    return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}
""",
}
_WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
_DIVISION = {"div": "/", "mod": "%"}
_EXTREME = {"min": "<", "max": ">"}
_EXTREME_NUMBER = {"least": "<", "most": ">"}


@dataclass(slots=True)
class Prelude:
    """The functions used so far, in the order in which C needs them."""

    simd: bool = False
    texts: dict[str, str] = field(default_factory=dict)

    def use(self, name: str) -> str:
        """Marks the function (and those it calls) as used; returns its name."""
        if name not in self.texts:
            self.add(name, self._text(name))
        return name

    def add(self, name: str, text: str) -> str:
        """A function of a backend's own, after those of ours that its text calls."""
        if name not in self.texts:
            for used in dict.fromkeys(m.group(0) for m in _NAME.finditer(text)):
                if used != name:
                    self.use(used)
            self.texts[name] = text
        return name

    def _text(self, name: str) -> str:
        if self.simd and name in _F16C:
            return _F16C[name]
        if name in _FIXED:
            return _FIXED[name]
        if match := re.fullmatch(rf"({_TYPES})_from_({_TYPES})", name):
            return _saturate(DTYPES[match.group(1)], DTYPES[match.group(2)])
        if match := re.fullmatch(rf"bits_({_TYPES})_({_TYPES})", name):
            t, s = DTYPES[match.group(1)], DTYPES[match.group(2)]
            return Template(_BITS).substitute(t=t, s=s, T=c_type(t), S=c_type(s))
        family, _, type_name = name.rpartition("_")
        if type_name not in DTYPES:
            raise InternalError(f"codegen: no helper `{name}`")
        return _arithmetic(family, DTYPES[type_name])


def _arithmetic(family: str, t: DType) -> str:
    signed = t.kind is Kind.INT
    template = {
        "neg": _NEG,
        "abs": _ABS,
        "div": _DIV_SIGNED if signed else _DIV_UNSIGNED,
        "mod": _MOD_FLOAT if t.is_float else _MOD_SIGNED if signed else _DIV_UNSIGNED,
        "shl": _SHL,
        "shr": _SHR,
        **dict.fromkeys(_WRAPPING, _WRAP),
        **dict.fromkeys(_EXTREME, _LEAST_FLOAT if t.is_float else _LEAST),
        **dict.fromkeys(_EXTREME_NUMBER, _LEAST_NUMBER),
    }[family]
    operators = {**_WRAPPING, **_DIVISION, **_EXTREME, **_EXTREME_NUMBER}
    return Template(template).substitute(
        family=family, t=t, T=c_type(t), W=unsigned_type(max(t.bits, 32)), last=t.bits - 1,
        op=operators.get(family, ""), f="f" if t.bits == 32 else "",
    )  # fmt: skip


def _saturate(t: DType, s: DType) -> str:
    high = float(t.limits[1] + 1) if t.bits < 64 else 2.0**63
    signed = t.kind is Kind.INT
    limit = int_type(t.bits, signed=signed).removesuffix("_t").upper()
    return Template(_SATURATE_SIGNED if signed else _SATURATE_UNSIGNED).substitute(
        t=t, s=s, T=c_type(t), S=c_type(s), high=f"{high!r}{'f' if s.bits == 32 else ''}",
        MAX=f"{limit}_MAX", MIN=f"{limit}_MIN",
    )  # fmt: skip


ALLOCATE = """\
/* Memory for `count` elements, aligned to 64 bytes; NULL when there is not that much. */
static void *allocate(int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > (SIZE_MAX / 2 - 64) / size)
        return NULL;
    return aligned_alloc(64, ((size_t)count * size + 64) / 64 * 64);
}
"""

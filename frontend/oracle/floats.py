"""Floats with error bounds: every legal way to compute at the declared type lies within.

Legal are: fused multiply-add anywhere, math functions within the ulps below, and (see
`oracle_fold`) any order of a reduction. f32 products stay unrounded in `x`, because a fused
operation never rounds them. Narrow floats round after every operation and are never fused: the hull
of the rounded interval, which is a single value nearly everywhere, keeps them tight.
"""

from __future__ import annotations

import numpy as np

from hbc.frontend.oracle.value import Value, tidy, uncertain_where, uncertainty, work_dtype
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BF16, F8E4M3, F8E5M2, F16, F32, F64, DType, widen
from hbc.ir.meaning import arith
from hbc.ir.meaning.arith_cast import round_to
from hbc.ir.meaning.numpy_types import Array

MATH_ULPS = 4
"""Largest error of exp, log, sin, cos and tanh, in units of the last place of the declared type
(f32 for narrow floats, which round once more)."""

RSQRT_ULPS = 2

LARGEST = {
    F16: 65504.0,
    BF16: 2.0**127 * (2 - 2.0**-7),
    F8E4M3: 448.0,
    F8E5M2: 57344.0,
    F32: float(np.finfo(np.float32).max),
    F64: float(np.finfo(np.float64).max),
}
_LEAST_NORMAL = {F32: 2.0**-126, F64: 2.0**-1022}
LEAST = {
    F32: 2.0**-149,
    F64: 5e-324,
    F16: 2.0**-24,
    BF16: 2.0**-133,
    F8E4M3: 2.0**-9,
    F8E5M2: 2.0**-16,
}
_WORK_ROUNDOFF = {F32: 2.0**-53, F64: float(np.finfo(np.longdouble).eps) / 2}


def roundoff(element: DType) -> float:
    """Largest relative error of one rounding to the type, the oracle's own error included."""
    return 2.0**-element.precision + _WORK_ROUNDOFF.get(element, 2.0**-53)


def binary(op: ir.Op, element: DType, a: Value, b: Value) -> Value:
    """`a op b`, not a comparison."""
    if a.e is None and b.e is None:
        return _exact_binary(op, element, a, b)
    ea, eb = uncertainty(a, element), uncertainty(b, element)
    x = np.asarray(arith.binary(op, element)(a.x, b.x))
    anything = uncertain_where(ea, eb)
    match op:
        case ir.Op.ADD | ir.Op.SUB:
            e = ea + eb
            if not element.is_narrow:
                anything = anything | _opposed(a.x, b.x, x)
        case ir.Op.MUL:
            e = np.abs(a.x) * eb + np.abs(b.x) * ea + ea * eb
            anything = anything | _sign_unknown(a.x, ea, b.x) | _sign_unknown(b.x, eb, a.x)
            if not element.is_narrow and (over := np.abs(x) > LARGEST[element]).any():
                anything = anything | (_fusable(x, element) & over)
        case ir.Op.DIV:
            certain = np.abs(b.x) > eb
            e = (ea + np.abs(x) * eb) / (np.abs(b.x) - eb)
            e = np.where(certain | (eb == 0), e, np.inf)
            anything = anything | (~certain & (eb > 0)) | _sign_unknown(a.x, ea, b.x)
        case ir.Op.MIN | ir.Op.MAX:
            e = _extremum(op, a, b, ea, eb)
            return tidy(x, np.where(_either_zero(a.x, b.x), np.maximum(e, LEAST[element]), e))
        case _:
            e = np.where(ea + eb == 0, roundoff(element), 1.0) * np.abs(b.x) + ea + eb
    return rounded(x, e, anything, element)


def _exact_binary(op: ir.Op, element: DType, a: Value, b: Value) -> Value:
    narrow = arith.binary(op, element)(round_to(a.x, element), round_to(b.x, element))
    result = np.asarray(narrow).astype(work_dtype(element))
    if op in (ir.Op.MIN, ir.Op.MAX) and (either := _either_zero(a.x, b.x)).any():
        return tidy(result, np.where(either, LEAST[element], 0.0))
    if op in (ir.Op.ADD, ir.Op.SUB) and not element.is_narrow:
        opposed = _opposed(a.x, b.x, result)
        return tidy(result, np.where(opposed, np.inf, 0.0)) if opposed.any() else Value(result)
    if op is not ir.Op.MUL or element.is_narrow:
        return Value(result)
    product = np.multiply(a.x, b.x)
    finite = np.isfinite(result)
    if finite.all():
        return tidy(np.asarray(product), np.asarray(np.abs(product - result), np.float64))
    fused = np.where(finite, product, result)
    e = np.where(finite, np.abs(fused - result), 0.0).astype(np.float64)
    return tidy(fused, np.where(_fusable(product, element) & ~finite, np.inf, e))


def _fusable(product: Array, element: DType) -> Array:
    """Where a product is beyond the range, but not after a fused addition of what is within."""
    return np.asarray(np.abs(product) < 2 * np.longdouble(LARGEST[element]))


def _opposed(a: Array, b: Array, sum: Array) -> Array:
    """Where infinities cancel to NaN: one of them may be a product that a fused addition does not round, and
    leaves the other as it is."""
    return np.asarray(np.isnan(sum) & ~np.isnan(a) & ~np.isnan(b))


def _extremum(op: ir.Op, a: Value, b: Value, ea: Array, eb: Array) -> Array:
    """The error of the one that it is, or of both where it may be either."""
    first = (a.x + ea < b.x - eb) if op is ir.Op.MIN else (a.x - ea > b.x + eb)
    second = (b.x + eb < a.x - ea) if op is ir.Op.MIN else (b.x - eb > a.x + ea)
    return np.where(first, ea, np.where(second, eb, np.maximum(ea, eb)))


def _either_zero(a: Array, b: Array) -> Array:
    """Where one is 0.0 and the other -0.0: minimum and maximum may be either, and a number with an error has
    no certain sign. What it divides is anything."""
    return np.asarray((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)))


def _sign_unknown(x: Array, e: Array, other: Array) -> Array:
    """Where `x` may be zero or of either sign and meets an infinity (or, divided, a zero)."""
    return np.asarray(np.isinf(other) & (e > 0) & (np.abs(x) <= e))


def rounded(x: Array, e: Array, anything: Array, element: DType) -> Value:
    """A result with propagated error `e`, rounded to the type once more."""
    if element.is_narrow:
        return narrowed(x, e, anything, element)
    u = roundoff(element)
    e = np.asarray(e + (u * (np.abs(x) + e) + LEAST[element]), np.float64)
    return _settle(x, e, anything, element)


def _settle(x: Array, e: Array, anything: Array, element: DType) -> Value:
    """Values beyond the range become infinite, surely or perhaps; NaN and infinity are exact."""
    finite = np.isfinite(x)
    top = np.abs(x) + e
    if finite.all() and not anything.any() and (top <= LARGEST[element]).all():
        return tidy(x, e)
    over = finite & ~(top <= LARGEST[element])
    surely = over & (np.abs(x) - e > LARGEST[element] * (1 + 2 * roundoff(element)))
    x = np.where(surely, np.copysign(np.inf, x), x)
    e = np.where(surely | ~finite, 0.0, np.where(over | np.isnan(e), np.inf, e))
    return tidy(x, np.where(anything, np.inf, e))


def narrowed(x: Array, e: Array, anything: Array, element: DType) -> Value:
    """The hull of x - e .. x + e rounded to a narrow float."""
    wide = np.float64
    middle = round_to(np.asarray(x, wide), element).astype(wide)
    lo = round_to(np.asarray(x - e, wide), element).astype(wide)
    hi = round_to(np.asarray(x + e, wide), element).astype(wide)
    spread = np.maximum(hi - middle, middle - lo)
    spread = np.where(np.isfinite(x), np.where(np.isnan(spread), np.inf, spread), 0.0)
    alike = (hi == lo) | (np.isnan(hi) & np.isnan(lo) & (e < np.abs(x)))
    spread = np.where(alike & np.isfinite(x), 0.0, spread)
    return tidy(middle, np.where(anything, np.inf, spread))


def convert(v: Value, source: DType, target: DType) -> Value:
    """A cast between float types."""
    x = v.x.astype(work_dtype(target))
    if widen(source, target) == target:
        return Value(x, v.e)
    if v.e is None:
        return Value(round_to(v.x, target).astype(work_dtype(target)))
    return rounded(x, v.e, np.isinf(v.e), target)


def call(name: ir.MathOp, element: DType, v: Value) -> Value:
    """A math function, REINTERPRET excepted."""
    meaning = arith.MATH[name]
    inside = F32 if element.is_narrow else element
    x = np.asarray(meaning(v.x))
    e = np.zeros(()) if v.e is None else _spread(name, v.x, v.e, x)
    anything = np.zeros((), np.bool_) if v.e is None else np.isinf(v.e) | np.isinf(e)
    match name:
        case ir.MathOp.FLOOR | ir.MathOp.CEIL | ir.MathOp.ROUND | ir.MathOp.TF32:
            return tidy(x, np.where(np.isfinite(x) | anything, e, 0.0))
        case ir.MathOp.SQRT if v.e is None:
            return Value(round_to(x, element).astype(x.dtype))
        case ir.MathOp.SQRT:
            return rounded(x, e, anything, element)
        case ir.MathOp.RSQRT:
            ulps = RSQRT_ULPS
        case _:
            ulps = MATH_ULPS
    e = e + (ulps * 2 * roundoff(inside) * np.abs(x) + _LEAST_NORMAL[inside])
    result = _settle(x, np.broadcast_to(e, x.shape).astype(np.float64), anything, inside)
    if not element.is_narrow:
        return result
    e = uncertainty(result, inside)
    return narrowed(result.x, e, np.isinf(e), element)


def _spread(name: ir.MathOp, x: Array, e: Array, middle: Array) -> Array:
    """How far the function may move when its argument moves by `e`: all are monotone on the way,
    but for the sine and cosine, whose slope is at most 1."""
    if name in (ir.MathOp.SIN, ir.MathOp.COS):
        return np.where(np.isinf(e), np.inf, np.minimum(e, 2.0))
    meaning = arith.MATH[name]
    up, down = np.abs(meaning(x + e) - middle), np.abs(middle - meaning(x - e))
    spread = np.where(e > 0, np.maximum(up, down), 0.0).astype(np.float64)
    return np.where(
        np.isnan(spread) & ~np.isnan(middle), np.inf, np.nan_to_num(spread, posinf=np.inf)
    )


def constant(value: float, element: DType) -> Value:
    """A literal, rounded to its type."""
    return Value(round_to(np.asarray(value, np.float64), element).astype(work_dtype(element)))

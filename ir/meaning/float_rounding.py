"""Exactly rounded products, sums and multiply-adds of float arrays, as machines compute them.

Types of at most 32 bits: products are exact in f64, and sums are computed in f64 rounded to odd, which
leaves enough to round once more as if the sum were exact (Boldo and Melquiond, "When double rounding is
odd", 2005). f64 multiply-adds go through fractions, an element at a time. NaNs are NaNs: their payloads
are not described.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hbc.ir.ground.record import record
from hbc.ir.lang.instruction import Mode, Subnormals
from hbc.ir.lang.types import F32, F64, DType, Kind
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

if TYPE_CHECKING:
    from fractions import Fraction

LEAST_EXPONENT = {  # of normal numbers
    "f8e4m3": -6, "f8e5m2": -14, "f16": -14, "bf16": -126, "f32": -126, "f64": -1022,
}  # fmt: skip
LARGEST_EXPONENT = {"f8e4m3": 8, "f8e5m2": 15, "f16": 15, "bf16": 127, "f32": 127, "f64": 1023}


@record
class Arithmetic:
    """Operations whose operands and results have the type `element`; arrays hold them as f64."""

    element: DType
    mode: Mode = Mode.NEAREST
    subnormals: Subnormals = Subnormals.KEPT

    def operand(self, x: Array) -> Array:
        """The values of an array of any type that `element` holds, ready to compute with."""
        with np.errstate(invalid="ignore"):  # signalling NaNs
            values = x.astype(np.float64)
        if self.subnormals is Subnormals.KEPT:
            return values
        tiny = np.abs(values) < 2.0 ** LEAST_EXPONENT[self.element.name]
        return np.where(tiny, np.copysign(0.0, values), values)

    def add(self, a: Array, b: Array) -> Array:
        """a + b, rounded."""
        with np.errstate(all="ignore"):
            return self._round(a + b if self.element == F64 else odd_sum(a, b))

    def multiply(self, a: Array, b: Array) -> Array:
        """a * b, rounded."""
        with np.errstate(all="ignore"):
            return self._round(a * b)

    def multiply_add(self, a: Array, b: Array, c: Array) -> Array:
        """a * b + c, rounded once."""
        with np.errstate(all="ignore"):
            if self.element == F64:
                return self._round(fused_f64(a, b, c))
            return self._round(odd_sum(a * b, c))

    def _round(self, exact: Array) -> Array:
        """An f64 that is exact, or exact rounded to odd, as a value of `element`."""
        name = self.element.name
        if self.element == F64:
            rounded = exact
        elif self.mode is Mode.ODD:
            rounded = round_to_odd(exact, self.element)
        else:
            if self.element.kind in (
                Kind.BFLOAT,
                Kind.FLOAT8,
            ):  # NumPy goes by f32 and would round to nearest twice
                exact = round_to_odd(exact, F32)
            rounded = exact.astype(numpy_dtype(self.element)).astype(np.float64)
        if self.subnormals is Subnormals.KEPT:
            return rounded
        # A result is tiny when, rounded as if exponents had no limit, it is below the normal numbers.
        least = 2.0 ** LEAST_EXPONENT[name]
        if self.mode is Mode.NEAREST and self.element != F64:
            least *= 1 - 2.0 ** -(self.element.precision + 1)
        return np.where(np.abs(exact) < least, np.copysign(0.0, exact), rounded)


def odd_sum(a: Array, b: Array) -> Array:
    """a + b in f64: truncated, and with the last bit set if that lost something."""
    total = a + b
    back = total - a
    error = (a - (total - back)) + (b - back)
    if not error.any():
        return np.asarray(total)
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0)
    even = (bits & 1) == 0
    # Where the sum was rounded to an even number, the odd one towards the exact sum.
    away = (error > 0) == (total > 0)
    return np.where(inexact & even, bits + np.where(away, 1, -1), bits).view(np.float64)


def round_to_odd(exact: Array, to: DType) -> Array:
    """The f64 values truncated to `to`'s precision, odd where inexact; too large ones are infinite."""
    name = to.name
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(exact)  # |exact| is in [2**(exponent - 1), 2**exponent)
        lowest = np.maximum(exponent - 1, LEAST_EXPONENT[name])
        unit = np.ldexp(1.0, lowest - (to.precision - 1))
        scaled = exact / unit
        whole = np.trunc(scaled)
        odd = np.where((whole != scaled) & (whole % 2 == 0), whole + np.sign(scaled), whole)
        rounded = np.copysign(odd * unit, exact)
        infinite = np.abs(exact) >= 2.0 ** (LARGEST_EXPONENT[name] + 1)
        rounded = np.where(infinite, np.copysign(np.inf, exact), rounded)
        return np.where(np.isfinite(exact), rounded, exact)


def fused_f64(a: Array, b: Array, c: Array) -> Array:
    """a * b + c in f64 with one rounding."""
    from fractions import Fraction

    plain = np.asarray(a * b + c)
    result = plain.copy()
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for at in np.argwhere(finite):
        n = tuple(at)
        exact = Fraction(a[n].item()) * Fraction(b[n].item()) + Fraction(c[n].item())
        if exact:
            result[n] = _nearest(exact)
        elif a[n] != 0 and b[n] != 0:
            result[n] = 0.0  # the sum cancels
    return result


def _nearest(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")

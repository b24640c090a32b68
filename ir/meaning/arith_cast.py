"""The NumPy meaning of casts: integers wrap, floats round once, float to integer saturates.

All functions work on arrays of any shape. Callers hold `np.errstate(all="ignore")`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from hbc.ir.lang.types import BF16, BOOL, DType, Kind
from hbc.ir.meaning.numpy_types import Array, is_of_ml_dtypes, numpy_dtype

_BY_WAY_OF_F32 = (Kind.BFLOAT, Kind.FLOAT8)
"""What NumPy has by ml_dtypes, which rounds an f32, and all else to one first."""


def cast(x: Array, source: DType, target: DType) -> Array:
    """Every element of `x`, held as `source`, as `target`."""
    if source == target:
        return x
    if target == BOOL:
        return np.not_equal(x, np.zeros((), x.dtype))
    if not source.is_float:
        return _from_integer(x, target)
    if target.is_float:
        return round_to(x, target)
    return saturate(x, target)


@cache
def casting(source: DType, target: DType) -> Callable[[Array], Array]:
    """`cast` between these types."""
    if source.is_float or target == BOOL or target.kind in _BY_WAY_OF_F32:
        return lambda x: cast(x, source, target)
    element = numpy_dtype(target)
    return lambda x: x.astype(element)


def round_to(x: Array, target: DType) -> Array:
    """Floats of any dtype rounded once, to nearest even, to the float type `target`."""
    x = np.asarray(x)
    if target.kind in _BY_WAY_OF_F32 and x.dtype.itemsize > 4:
        return _to_odd_float32(x).astype(numpy_dtype(target))
    if target.kind in _BY_WAY_OF_F32 or is_of_ml_dtypes(x.dtype):
        x = x.astype(np.float32)
    return x.astype(numpy_dtype(target))


def _to_odd_float32(x: Array) -> Array:
    """f64 as f32 rounded to odd: rounding that once more, to fewer bits, is rounding `x` once."""
    near = x.astype(np.float32)
    back = near.astype(x.dtype)
    inexact = (back != x) & ~np.isnan(x)
    away = inexact & (np.abs(back) > np.abs(x))
    bits = near.view(np.uint32) - away.astype(np.uint32)
    return np.asarray(bits | inexact.astype(np.uint32)).view(np.float32)


def _from_integer(x: Array, target: DType) -> Array:
    if target.kind is Kind.FLOAT8:  # what f32 does not hold is beyond their range
        return x.astype(np.float32).astype(numpy_dtype(target))
    if target != BF16:
        return x.astype(numpy_dtype(target))
    wide = x.astype(np.uint64 if x.dtype == np.uint64 else np.int64)
    # A sticky last bit: what is left fits f64 and still rounds to bf16 as the whole integer does.
    jammed = ((wide >> 16) | ((wide & 0xFFFF) != 0)) << 16
    large = np.abs(wide.astype(np.float64)) >= 1 << 32
    return round_to(np.where(large, jammed, wide).astype(np.float64), BF16)


def saturate(x: Array, target: DType) -> Array:
    """Floats truncated to an integer type, the nearest limit beyond it, 0 for NaN."""
    lo, hi = target.limits
    wide = np.trunc(np.asarray(x).astype(np.float64))
    above, below, none = wide >= float(hi), wide <= float(lo), np.isnan(wide)
    held = np.int64 if lo else np.uint64
    inside = np.where(above | below | none, 0.0, wide).astype(held)
    clamped = np.where(above, held(hi), np.where(below, held(lo), inside))
    return clamped.astype(numpy_dtype(target))

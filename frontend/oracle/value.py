"""What the oracle computes with: arrays of values and, for each element, how far off it may be.

`x` holds floats as f64 (f64 itself as long double), integers and bools as themselves. `e` is None
when the elements are exactly what any legal machine computes; otherwise a machine's value lies in
x - e .. x + e (f64; infinite: anything, NaN included), or for bools, `e` says where it may differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hbc.ir.lang.types import BOOL, F64, DType
from hbc.ir.meaning.numpy_types import Array, numpy_dtype


@dataclass(slots=True, eq=False)
class Value:
    """Elements with their uncertainty; `x` and `e` broadcast against each other."""

    x: Array
    e: Array | None = None


def work_dtype(element: DType) -> np.dtype[Any]:
    """What `Value.x` holds an element type as."""
    if not element.is_float:
        return numpy_dtype(element)
    return np.dtype(np.longdouble if element == F64 else np.float64)


def exact(data: Array, element: DType) -> Value:
    """Data of the declared type, known exactly."""
    return Value(np.asarray(data).astype(work_dtype(element)))


def declared(v: Value, element: DType) -> Array:
    """`x` rounded to the declared type; no rounding happens where `e` is None."""
    from hbc.ir.meaning.arith_cast import round_to

    return round_to(v.x, element) if element.is_float else v.x


def uncertainty(v: Value, element: DType) -> Array:
    """`e` as an array, zeros when there is none."""
    if v.e is not None:
        return v.e
    return np.zeros((), np.bool_ if element == BOOL else np.float64)


def may_hold(condition: Value) -> Array:
    """Where a condition is true or uncertain."""
    return condition.x if condition.e is None else condition.x | condition.e


def taken(v: Value, live: Array) -> Value:
    """The elements where `live` is true, in a row; `v` broadcasts against it."""
    x, e = (None if a is None else np.broadcast_to(a, live.shape)[live] for a in (v.x, v.e))
    return Value(np.asarray(x), e)


def tidy(x: Array, e: Array) -> Value:
    """Forgets an uncertainty that is zero everywhere."""
    return Value(x, e if e.any() else None)


def uncertain_where(*operands: Array) -> Array:
    """Where an operand may be anything at all."""
    uncertain = np.isinf(operands[0])
    for e in operands[1:]:
        uncertain = uncertain | np.isinf(e)
    return uncertain


def select(c: Value, a: Value, b: Value, element: DType) -> Value:
    """`a` where `c`, else `b`; either where `c` is uncertain."""
    x = np.where(c.x, a.x, b.x)
    if c.e is None and a.e is None and b.e is None:
        return Value(x)
    ea, eb = uncertainty(a, element), uncertainty(b, element)
    e = np.where(c.x, ea, eb)
    if c.e is None:
        return tidy(x, e)
    if element == BOOL:
        return tidy(x, np.where(c.e, ea | eb | (a.x != b.x), e))
    apart = np.abs(np.asarray(a.x, np.float64) - np.asarray(b.x, np.float64))
    hull = apart + np.maximum(ea, eb)
    return tidy(x, np.where(c.e, np.where(np.isnan(hull), np.inf, hull), e))


def compare(op: Any, a: Value, b: Value) -> Value:
    """A comparison (a NumPy ufunc) of two numbers: uncertain where they may be equal but are not
    both exact."""
    x = op(a.x, b.x)
    if a.e is None and b.e is None:
        return Value(x)
    zero = np.zeros(())
    s = (zero if a.e is None else a.e) + (zero if b.e is None else b.e)
    apart = np.abs(np.subtract(a.x, b.x, dtype=np.longdouble))
    return tidy(x, np.isinf(s) | ((s > 0) & (apart <= s)))

"""Compares what a machine computed with what the oracle says it must be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hbc.ir.ground.record import record
from hbc.ir.lang.types import DType
from hbc.ir.meaning.arith_cast import round_to
from hbc.ir.meaning.numpy_types import Array, numpy_dtype


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What an output must be. `exact` is the value before the last rounding (f64; long double for
    f64; integers and bools as they are); a right result lies within `bound` of it (f64, per element;
    infinite where anything goes, NaN included)."""

    element: DType
    exact: Array
    bound: Array

    @property
    def value(self) -> Array:
        """`exact` rounded to the declared type."""
        if not self.element.is_float:
            return self.exact
        with np.errstate(all="ignore"):
            return round_to(self.exact, self.element)


@record
class Comparison:
    """`max_error_over_bound`: the largest |got - want| / bound, infinite when an exact element
    differs; at most 1 when `ok`. `first` is the index of the first of `mismatches` elements, `got`
    and `want` its values there. `anything`: elements whose bound holds every value of the type."""

    ok: bool
    max_error_over_bound: float
    mismatches: int
    first: tuple[int, ...] | None = None
    got: int | float | bool | None = None
    want: int | float | bool | None = None
    bound: float | None = None
    anything: int = 0


def compare(got: Array, reference: Reference) -> Comparison:
    """Whether every element is within its bound. NaN equals NaN, -0 equals 0. Raises ValueError for
    another shape or dtype."""
    held = numpy_dtype(reference.element)
    if got.shape != reference.exact.shape or got.dtype != held:
        raise ValueError(f"compared {got.dtype} {got.shape} with {held} {reference.exact.shape}")
    with np.errstate(all="ignore"):
        ratio = _ratio(got, reference)
    wrong = ~(ratio <= 1)
    mismatches = int(np.count_nonzero(wrong))
    worst = float(ratio.max()) if ratio.size else 0.0
    anything = int(np.count_nonzero(reference.bound >= _widest(reference.element)))
    if not mismatches:
        return Comparison(True, worst, 0, anything=anything)
    first = tuple(int(n) for n in np.unravel_index(np.argmax(wrong), wrong.shape))
    want = reference.value[first]
    return Comparison(
        False, worst, mismatches, first, _plain(got[first]), _plain(want),
        float(reference.bound[first]), anything,
    )  # fmt: skip


def _ratio(got: Array, reference: Reference) -> Array:
    """|got - exact| / bound; 0 where they are equal, infinite where only one is NaN or infinite."""
    want, bound = reference.exact, reference.bound
    if reference.element.is_float:
        value = got.astype(want.dtype)
        equal = (value == want) | (np.isnan(value) & np.isnan(want))
        apart = np.abs(value - want)
    else:
        equal = np.asarray(got == want)
        apart = np.abs(got.astype(np.longdouble) - want.astype(np.longdouble))
    ratio = np.where(equal | np.isinf(bound), 0.0, (apart / bound).astype(np.float64))
    return np.where(np.isnan(ratio), np.inf, ratio)


def _widest(element: DType) -> float:
    """The bound from which on no value is wrong."""
    if not element.is_int:
        return math.inf
    low, high = element.limits
    return float(high - low)


def _plain(value: Array) -> int | float | bool:
    """A NumPy scalar as Python's int, float or bool."""
    if value.dtype.kind in "iub":
        plain: int | bool = value.item()
        return plain
    return float(value)

"""Accumulators of reductions whose order is free: their bounds hold for every order of the terms.

Any partial sum of any order is at most max(P, N), where P and N are the sums of the positive and of
the negative terms' magnitudes; each addition rounds by at most u times that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p

import numpy as np

from hbc.frontend.oracle import integers as oracle_integer
from hbc.frontend.oracle.expr import binary
from hbc.frontend.oracle.floats import LARGEST, LEAST, roundoff
from hbc.frontend.oracle.reach import reached
from hbc.frontend.oracle.store import Places
from hbc.frontend.oracle.value import Value, tidy, uncertainty, work_dtype
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType
from hbc.ir.meaning.float_rounding import LEAST_EXPONENT
from hbc.ir.meaning.numpy_types import Array


@dataclass(slots=True, eq=False)
class Sum:
    """x: the sum of the terms; size: of the finite ones' magnitudes (floats); e: of their uncertainties;
    nans: whether one is NaN."""

    x: Array
    size: Array
    e: Array
    nans: Array
    terms: int | Array = 0


def new_sum(shape: tuple[int, ...], element: DType) -> Sum:
    """No terms yet."""
    x = np.zeros(shape, work_dtype(element))
    own = shape if element.is_float else ()
    return Sum(x, np.zeros(own), np.zeros(shape), np.zeros(own, np.bool_))


def add_terms(total: Sum, v: Value, element: DType, shape: tuple[int, ...], folded: int) -> None:
    """Adds a term for every point of `shape`, of which the first `folded` axes are summed over."""
    axes = tuple(range(folded))
    count = int(np.prod(shape[:folded], dtype=np.int64))
    x = np.broadcast_to(v.x, shape) if folded else v.x
    total.x += np.sum(x, axis=axes, dtype=total.x.dtype) if folded else x
    if element.is_float:
        magnitude = _finite_magnitude(x)
        total.size += np.sum(magnitude, axis=axes) if folded else magnitude
        total.nans |= np.any(np.isnan(x), axis=axes) if folded else np.isnan(x)
    if v.e is not None:
        e = np.broadcast_to(v.e, shape)
        total.e += np.sum(e, axis=axes) if folded else e
    total.terms += count


def _finite_magnitude(x: Array) -> Array:
    """|x|, and 0 for NaN and infinity: they decide the sum whatever the order."""
    magnitude = np.abs(x).astype(np.float64)
    return np.where(np.isfinite(magnitude), magnitude, 0.0)


def add_scattered(
    total: Sum, at: tuple[Array, ...], v: Value, element: DType, inside: Array
) -> None:
    """Adds a term at each place of `at` (places may coincide) where `inside` holds."""

    def spread(x: Array) -> Array:
        return np.asarray(np.broadcast_to(x, inside.shape)[inside])

    at = tuple(i[inside] for i in at)
    np.add.at(total.x, at, spread(v.x))
    np.add.at(np.asarray(total.terms), at, 1)
    if element.is_float:
        np.add.at(total.size, at, spread(_finite_magnitude(v.x)))
        np.logical_or.at(total.nans, at, spread(np.isnan(v.x)))
    if v.e is not None:
        np.add.at(total.e, at, spread(v.e))


def unrounded(v: Value, element: DType) -> Value:
    """Products that were rounded to half floats, and may as well not have been."""
    e = uncertainty(v, element)
    more = roundoff(element) * (np.abs(v.x) + e) + LEAST[element]
    rounded_away = np.isinf(v.x) if element.has_infinity else np.isnan(v.x)
    return Value(v.x, np.where(rounded_away, np.inf, np.where(np.isnan(v.x), e, e + more)))


def add_perhaps(total: Sum, places: Places, v: Value, element: DType) -> None:
    """Adds terms in a row, each to its place or to another that it may belong to."""
    assert places.off is not None
    size = np.abs(np.asarray(v.x, np.longdouble)).astype(np.float64)
    size = np.where(np.isfinite(size), size, np.inf)
    most = size + uncertainty(v, element)
    np.add.at(total.x, places.at, np.where(np.isfinite(size), v.x, 0).astype(total.x.dtype))
    others = reached(places.at, places.off, total.x.shape)
    if others is None:
        total.e[...] = np.inf
        return
    every = [(np.ones(size.shape, np.bool_), places.at), *others]
    for there, at in every:
        np.add.at(total.e, at, most[there])
        np.add.at(np.asarray(total.terms), at, 1)
        if element.is_float:
            np.add.at(total.size, at, _finite_magnitude(most[there]))


def finish_sum(total: Sum, start: Value, element: DType) -> Value:
    """The accumulator's value after all terms were added to `start` in any order."""
    if not np.any(total.terms):
        return start
    if not element.is_float:
        return oracle_integer.binary(ir.Op.ADD, element, start, tidy(total.x, total.e))
    e = total.e + uncertainty(start, element)
    x = total.x + start.x
    size = total.size + _finite_magnitude(start.x)
    # Adding to an exact zero does not round.
    free = int(start.e is None and not np.asarray(start.x).any())
    rounds = np.maximum(total.terms - free, 0)
    partial = (size + np.where(np.isfinite(x), np.abs(x), size).astype(np.float64)) / 2 + e
    grown = np.expm1(rounds * log1p(roundoff(element)))
    bound = e + grown * partial + np.where(rounds > 0, 2.0**-52, 0.0) * size
    bound = np.asarray(bound, np.float64)
    # Infinities of both signs may be products beyond the range, of which a fused one is finite.
    opposed = np.isnan(x) & ~total.nans & ~np.isnan(start.x)
    return _ranged(x, bound, partial * (1 + grown), np.isinf(e) | opposed, element)


def _ranged(x: Array, e: Array, partial: Array, anything: Array, element: DType) -> Value:
    """Sums that may overflow on the way are uncertain, those that surely end beyond are infinite."""
    finite = np.isfinite(x)
    top = LARGEST[element]
    if finite.all() and (partial <= top).all():
        return tidy(x, e)
    beyond = finite & (np.abs(x) - e > top * (1 + 2 * roundoff(element)))
    surely = beyond & (partial - np.abs(x).astype(np.float64) <= top)
    # Beside an infinite term, the finite ones may make an infinity of the other sign, and NaN.
    perhaps = anything | (~np.isnan(x) & ~surely & ~(partial <= top))
    e = np.where(finite & ~surely, e, 0.0)
    beyond_all = np.copysign(np.inf if element.has_infinity else np.nan, x)
    return tidy(np.where(surely, beyond_all, x), np.where(perhaps, np.inf, e))


def fold_pairs(op: ir.Op, element: DType, v: Value, shape: tuple[int, ...], folded: int) -> Value:
    """The points of the first `folded` axes combined by `op`, halves first."""
    x = np.broadcast_to(v.x, shape).reshape(-1, *shape[folded:])
    e = None if v.e is None else np.broadcast_to(v.e, shape).reshape(-1, *shape[folded:])
    while len(x) > 1:
        half, rest = len(x) // 2, len(x) // 2 * 2
        a = Value(x[:half], None if e is None else e[:half])
        b = Value(x[half:rest], None if e is None else e[half:rest])
        paired = combine(op, element, a, b)
        x_rest, e_rest = x[rest:], None if e is None else e[rest:]
        x = np.concatenate([paired.x, x_rest])
        if paired.e is None and e is None:
            continue
        kept = uncertainty(Value(x_rest, e_rest), element)
        e = np.concatenate([
            np.broadcast_to(uncertainty(paired, element), paired.x.shape),
            np.broadcast_to(kept, x_rest.shape),
        ])  # fmt: skip
    return Value(x[0], None if e is None else e[0])


@dataclass(slots=True, eq=False)
class Reach:
    """Binary logarithms of the largest and the least partial product that some order makes."""

    up: Array
    down: Array


def reach_of(v: Value, shape: tuple[int, ...], folded: int) -> Reach:
    """Of the products over the first `folded` axes; zeros, infinities and NaN decide whatever the order."""
    size = np.abs(np.broadcast_to(v.x, shape)).astype(np.float64)
    size = np.where(size == 0, 1.0, np.where(np.isnan(size), np.inf, size))
    axes = tuple(range(folded))
    up, down = np.log2(np.maximum(size, 1.0)), np.log2(np.minimum(size, 1.0))
    return Reach(np.sum(up, axis=axes), np.sum(down, axis=axes))


def in_any_order(product: Value, reach: Reach, element: DType) -> Value:
    """A product of floats, uncertain where some order of the factors leaves the type's range."""
    top = np.log2(float(LARGEST[element]))
    least = LEAST_EXPONENT[element.name]
    outside = (reach.up >= top) | (reach.down <= least)
    if not outside.any():
        return product
    e = uncertainty(product, element)
    # NaN of finite factors: too large in this order, and then times zero.
    decided = np.isnan(product.x) & np.isinf(reach.up)
    return tidy(product.x, np.where(outside & ~decided, np.inf, e))


def combine(op: ir.Op, element: DType, a: Value, b: Value) -> Value:
    """One step of a reduction other than a sum of floats. Products of floats keep the bound that is
    the same for every order: each factor's magnitude grows by its uncertainty and one rounding."""
    if op is not ir.Op.MUL or not element.is_float:
        return binary(op, element, a, b)
    x = a.x * b.x
    ea, eb = uncertainty(a, element), uncertainty(b, element)
    most = np.asarray((np.abs(a.x) + ea) * (np.abs(b.x) + eb))
    least = LEAST[element]
    e = np.asarray(most * roundoff(element) + (most - np.abs(x)) + least, np.float64)
    # Too large here, the product may stay in range in another order, or meet a zero.
    large = ~np.isnan(x) & ~(most <= LARGEST[element])
    anything = np.isinf(ea) | np.isinf(eb) | large
    return tidy(x, np.where(anything, np.inf, np.where(np.isfinite(x), e, 0.0)))

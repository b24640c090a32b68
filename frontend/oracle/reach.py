"""Which elements an uncertain index may name: an integer that was a rounded float is one of several.

An index `x` with uncertainty `e` names one of x - e .. x + e. What is read there is the hull of all of
them; what is written there may be written to each of them, and to each of them not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from hbc.frontend.oracle.points import Stored
from hbc.frontend.oracle.value import Value, uncertainty
from hbc.ir.lang.types import BOOL
from hbc.ir.meaning.numpy_types import Array

MOST_REACHED = 256
"""Elements that an index may name. Of more, nothing is said but that they may be anything."""

At = tuple[Array, ...]


def distances(indices: tuple[Value, ...], shape: tuple[int, ...]) -> At:
    """How far each index may lie off, at points of that shape."""
    return tuple(
        np.broadcast_to(np.zeros(()) if i.e is None else i.e, shape).astype(np.float64)
        for i in indices
    )


def reached(at: At, off: At, shape: tuple[int, ...]) -> Iterator[tuple[Array, At]] | None:
    """For indices in rows, `at` with `off` around it: which of them name another element of the
    shape, and which element. None where they name too many."""
    most = [min(float(o.max(initial=0)), float(n - 1)) for o, n in zip(off, shape, strict=True)]
    if np.prod([2 * m + 1 for m in most]) > MOST_REACHED:
        return None
    steps = itertools.product(*(range(-int(m), int(m) + 1) for m in most))
    return (_one(at, off, shape, step) for step in steps if any(step))


def _one(at: At, off: At, shape: tuple[int, ...], step: tuple[int, ...]) -> tuple[Array, At]:
    there: Array = np.ones(at[0].shape, np.bool_)
    places = []
    for i, o, n, s in zip(at, off, shape, step, strict=True):
        there = there & (abs(s) <= o) & (i + s >= 0) & (i + s < n)
        places.append(i + s)
    return there, tuple(p[there] for p in places)


def read(stored: Stored, at: At, off: At) -> Array:
    """The uncertainty of what is read at `at`, all of it in rows and inside."""
    x = stored.value.x[at]
    known = uncertainty(stored.value, stored.element)
    spread = np.array(np.broadcast_to(known, stored.value.x.shape)[at])
    others = reached(at, off, stored.shape)
    if others is None:
        spread[:] = True if stored.element == BOOL else np.inf
        return spread
    for there, places in others:
        e = np.broadcast_to(known, stored.value.x.shape)[places]
        spread[there] = hull(x[there], spread[there], stored.value.x[places], e)
    return spread


def hull(x: Array, e: Array, y: Array, ey: Array) -> Array:
    """How far from `x`, already known but for `e`, something may be that is perhaps `y`."""
    if x.dtype == np.bool_:
        return np.asarray(e | ey | (x != y))
    same = (x == y) | (np.isnan(x) & np.isnan(y)) if x.dtype.kind == "f" else x == y
    apart = np.abs(np.asarray(x, np.longdouble) - np.asarray(y, np.longdouble)).astype(np.float64)
    apart = np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
    return np.asarray(np.maximum(e, apart + ey))


def write(stored: Stored, at: At, off: At, v: Value) -> None:
    """Writes values that may go elsewhere: there and here, the old one may stay."""
    shape = at[0].shape
    x = np.broadcast_to(v.x, shape)
    e = np.broadcast_to(uncertainty(v, stored.element), shape)
    errors = stored.raise_error(stored.shape)
    others = reached(at, off, stored.shape)
    if others is None:
        errors[...] = True if stored.element == BOOL else np.inf
        stored.value.x[at] = x
        return
    widen = np.logical_or.at if stored.element == BOOL else np.maximum.at
    for there, places in others:
        old = stored.value.x[places]
        widen(errors, places, hull(old, errors[places], x[there], e[there]))
    unsure = np.logical_or.reduce([o > 0 for o in off])
    errors[at] = np.where(unsure, hull(x, e, stored.value.x[at], errors[at]), e)
    stored.value.x[at] = x

"""Products of floats at places that may coincide: their bounds hold for every order of the factors."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p

import numpy as np

from hbc.frontend.oracle.floats import roundoff
from hbc.frontend.oracle.fold import Reach, in_any_order, reach_of
from hbc.frontend.oracle.value import Value, tidy, uncertainty, work_dtype
from hbc.ir.lang.types import DType
from hbc.ir.meaning.numpy_types import Array


@dataclass(slots=True, eq=False)
class Product:
    """x: the product of the factors; most: of their magnitudes with their uncertainties, as precise
    as x; factors: how many there were at each place."""

    x: Array
    most: Array
    factors: Array
    reach: Reach


def new_product(shape: tuple[int, ...], element: DType) -> Product:
    """No factors yet."""
    reach = Reach(np.zeros(shape), np.zeros(shape))
    x, most = np.ones((2, *shape), work_dtype(element))
    return Product(x, most, np.zeros(shape, np.int64), reach)


def multiply_scattered(
    total: Product, at: tuple[Array, ...], v: Value, element: DType, inside: Array
) -> None:
    """A factor at each place of `at` (places may coincide) where `inside` holds."""

    def spread(x: Array) -> Array:
        return np.asarray(np.broadcast_to(x, inside.shape)[inside])

    at = tuple(i[inside] for i in at)
    size = np.abs(v.x) + uncertainty(v, element)
    reach = reach_of(v, inside.shape, 0)
    np.multiply.at(total.x, at, spread(v.x))
    np.multiply.at(total.most, at, spread(size))
    np.add.at(total.factors, at, 1)
    np.add.at(total.reach.up, at, spread(reach.up))
    np.add.at(total.reach.down, at, spread(reach.down))


def finish_product(total: Product, start: Value, element: DType) -> Value:
    """The value after `start` was multiplied by all factors in any order."""
    x = start.x * total.x
    most = (np.abs(start.x) + uncertainty(start, element)) * total.most
    first = reach_of(start, x.shape, 0)
    reach = Reach(total.reach.up + first.up, total.reach.down + first.down)
    # The roundings apart from the rest: beside 1 their growth is within what a double rounds away.
    grown = most * np.expm1(total.factors * log1p(roundoff(element)))
    e = np.where(np.isfinite(x), grown + (most - np.abs(x)), 0.0).astype(np.float64)
    e = np.where(total.factors > 0, e, uncertainty(start, element))
    return in_any_order(tidy(x, np.maximum(e, 0.0)), reach, element)

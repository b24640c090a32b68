"""Swizzled arrays: every element has a place in its row, and columns lie in different banks."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from hbc.codegen.gpu.swizzle import LINE, split_place, swizzle_bits
from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.algebra.linear import linear, to_expr
from hbc.ir.lang.build import add, mul
from hbc.ir.lang.nodes import Expr, Swizzle, Var, const_index
from hbc.ir.lang.types import F16, F32, U8, DType

CASES = [
    (F16, 8, 16), (F16, 8, 32), (F16, 8, 64), (F16, 8, 128), (F16, 8, 512), (F16, 2, 32),
    (F32, 4, 8), (F32, 4, 32), (F32, 1, 32), (F32, 1, 64), (U8, 16, 32), (U8, 16, 256),
]  # fmt: skip


@pytest.mark.parametrize(("element", "unit", "row"), CASES)
def test_units_change_places_within_their_row(element: DType, unit: int, row: int) -> None:
    bits = swizzle_bits(Swizzle(unit, row), element)
    at = np.arange(32 * row)
    place = np.array([bits.place(int(n)) for n in at])
    assert np.array_equal(np.sort(place), at)
    assert np.array_equal(place // row, at // row)
    assert np.array_equal(place % unit, at % unit)


@pytest.mark.parametrize(("element", "unit", "row"), CASES)
def test_a_column_of_units_lies_in_all_banks(element: DType, unit: int, row: int) -> None:
    """As many rows as a line of banks has units: each has its unit in another part of the line."""
    bits = swizzle_bits(Swizzle(unit, row), element)
    line = LINE // element.bytes
    rows = line // unit
    for column in range(0, row, unit):
        places = {bits.place(r * row + column) % line // unit for r in range(rows)}
        assert len(places) == rows


@pytest.mark.parametrize(("element", "unit", "row"), CASES)
def test_split(element: DType, unit: int, row: int) -> None:
    """What stays as it is and what is moved add up to the place of the whole."""
    bits = swizzle_bits(Swizzle(unit, row), element)
    random = Random(row)
    for _ in range(20):
        index: Expr = const_index(random.randrange(4 * bits.period))
        for name in "abc":
            index = add(index, mul(Var(name), random.choice([1, unit, row, bits.period, 3 * row])))
        outside, inside = split_place(linear(index), bits)
        values = {name: np.int64(random.randrange(50)) for name in "abc"}
        total, stays, moved = (
            int(evaluated(to_expr(x), values)) for x in (linear(index), outside, inside)
        )
        assert bits.place(total) == stays + bits.place(moved)

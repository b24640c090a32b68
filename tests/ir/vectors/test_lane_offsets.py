"""What lanes of divided indices add to a scalar: the same as each lane by itself."""

from __future__ import annotations

import pytest

from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang.build import add, const_value
from hbc.ir.lang.nodes import const_index
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.walk import substitute
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import Take

DIVIDED = [
    "ramp(16 * x + 1, 1, 16) / x16(2)",
    "ramp(12 * x - 6 * y - 7, 5, 8) / x8(3)",
    "x8(4 * y) + ramp(16 * x + 1, 1, 8) % x8(4)",
    "ramp(8 * x + 3, -1, 8) % x8(8) - x8(x)",
    "x16(8 * x) + (ramp(1, 1, 16) >> x16(1))",
    "ramp(16 * x - 5, 1, 16) >> x16(2)",
    "x16(y) - (ramp(16 * x - 5, 1, 16) & x16(7))",
]


@pytest.mark.parametrize("text", DIVIDED)
def test_what_is_divided_evenly(text: str) -> None:
    e = read_expr(text)
    known = lane_offsets(e)
    assert known is not None
    for x, y in ((0, 0), (3, 5), (-7, 11)):
        given = {"x": const_index(x), "y": const_index(y)}
        for lane, offset in enumerate(known[1]):
            here, there = (
                substitute(v, given) for v in (Take()(e, (lane,)), add(known[0], offset))
            )
            assert const_value(simplify(here)) == const_value(simplify(there)) is not None


@pytest.mark.parametrize("text", ["ramp(9 * x, 1, 8) / x8(2)", "ramp(8 * x, 1, 8) & x8(6)"])
def test_what_is_not(text: str) -> None:
    assert lane_offsets(read_expr(text)) is None

"""One lane of a vector at a number that is not known: the same as taking that lane."""

from __future__ import annotations

import pytest

from hbc.ir.algebra.lane_at import NoLaneError, at_lane, by_distance
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang.build import const_value
from hbc.ir.lang.nodes import Const, Expr, const_index
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import substitute
from hbc.ir.vectors.lane_offsets import constant_lanes

INDICES = [
    "ramp(3, 2, 24)",
    "ramp(ramp(5, 1, 4), x4(8), 6)",
    "ramp(ramp(ramp(0, 2, 3), x3(1), 4), x12(64), 2)",
    "x4(ramp(7, 3, 6))",
    "ramp(x3(2), x3(5), 8)",
]
SWAPPED = "ramp(ramp(0, 8, 4), x4(1), 8)"


def number(n: int) -> Expr:
    return Const(n, INDEX)


@pytest.mark.parametrize("text", INDICES)
def test_lanes_of_indices(text: str) -> None:
    e = read_expr(text)
    lanes = constant_lanes(e)
    assert lanes is not None
    made = [const_value(simplify(at_lane(e, number(n)))) for n in range(len(lanes))]
    assert tuple(made) == lanes


@pytest.mark.parametrize("text", [*INDICES[:2], SWAPPED])
def test_order_goes_up(text: str) -> None:
    e = read_expr(text)
    lanes = constant_lanes(e)
    assert lanes is not None
    order = by_distance(e)
    taken = [const_value(simplify(order(number(n)))) for n in range(len(lanes))]
    assert sorted(int(n or 0) for n in taken) == list(range(len(lanes)))
    assert [lanes[int(n or 0)] for n in taken] == sorted(lanes)


def test_loads_and_masks() -> None:
    e = read_expr("A.f32x8[ramp(x, 2, 8) if ramp(0, 1, 8) < x8(5)]")
    one = substitute(at_lane(e, number(3)), {"x": const_index(10)})
    assert simplify(one) == read_expr("A.f32[16]")


def test_sums_have_no_lane() -> None:
    with pytest.raises(NoLaneError):
        at_lane(read_expr("reduce<+>(A.f32x8[ramp(0, 1, 8)], 4)"), number(0))

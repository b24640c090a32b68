"""Pins views of lanes: the right lanes, as strides wherever the expression has strides."""

from __future__ import annotations

from math import prod
from random import Random

import pytest
import trees
from hypothesis import given, settings

from hbc.ir.lang.nodes import Gather
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.show import show
from hbc.ir.vectors.lane_view import View, view


def random_view(r: Random, lanes: int) -> View:
    """Up to three dims that stay inside so many lanes."""
    dims: list[tuple[int, int]] = []
    room = lanes - 1
    for _ in range(r.randint(0, 3)):
        stride = r.choice([0, *(s for s in (1, 2, 3, 4, 6, 8) if s <= room)])
        most = 4 if stride == 0 else room // stride + 1
        extent = r.randint(1, most)
        dims.append((extent, stride))
        room -= (extent - 1) * stride
    return tuple(dims)


@settings(max_examples=500)
@given(trees.randoms)
def test_lanes_are_those_of_the_view(r: Random) -> None:
    e = trees.any_expr(r)
    dims = random_view(r, e.type.lanes)
    picks = [0]
    for extent, stride in dims:
        picks = [p + x * stride for p in picks for x in range(extent)]
    seen = view(e, dims)
    assert seen.type.lanes == prod(n for n, _ in dims)
    env = trees.values(r, e)
    expected = trees.value_of(Gather(e, tuple(picks)), env)
    assert trees.agree(expected, trees.value_of(seen, env)), f"{show(e)}\n{dims}\n{show(seen)}"


@pytest.mark.parametrize(
    ("text", "dims", "expected"),
    [
        # Transposed.
        ("ramp(ramp(a, 1, 4), x4(s), 3)", ((4, 1), (3, 4)), "ramp(ramp(a, s, 3), x3(1), 4)"),
        ("x3(ramp(a, 2, 4))", ((4, 1), (3, 4)), "ramp(x3(a), x3(2), 4)"),
        ("f32x8(A.u8x8[ramp(a, 1, 8)])", ((2, 1), (4, 2)),
         "f32x8(A.u8x8[ramp(ramp(a, 2, 4), x4(1), 2)])"),
        # Each lane several times.
        ("ramp(a, 1, 4) < x4(N)", ((4, 1), (3, 0)), "ramp(x3(a), x3(1), 4) < x12(N)"),
        # A dim that is cut in two by the strides.
        ("ramp(ramp(a, 1, 4), x4(s), 3)", ((12, 1),), "ramp(ramp(a, 1, 4), x4(s), 3)"),
        ("ramp(ramp(a, 1, 4), x4(s), 3)", ((6, 2), (2, 0)),
         "ramp(ramp(x2(a), x2(2), 2), x4(s), 3)"),
        ("reduce<+>(A.u8x12[ramp(a, 1, 12)], 4)", ((2, 1), (2, 2)),
         "reduce<+>(A.u8x12[ramp(ramp(ramp(a, 1, 3), x3(6), 2), x6(3), 2)], 4)"),
        # No strides of the view: a list of lanes.
        ("ramp(ramp(a, 1, 4), x4(s), 3)", ((3, 3),),
         "gather(ramp(ramp(a, 1, 4), x4(s), 3), [0, 3, 6])"),
    ],
)  # fmt: skip
def test_strides_are_kept(text: str, dims: View, expected: str) -> None:
    assert show(view(read_expr(text), dims)) == expected

"""Conditions on the summed variable and another: triangular and banded matrices, zeros in a factor."""

from __future__ import annotations

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled
from tensor_programs import LANES, TILES, changed, in_bytes

CONDITIONS = (
    "k <= i", "k < i", "k >= i", "k > j + 3", "k <= j and i < 30", "i - k < 5 and k <= i", "2 * k <= i + 7",
)  # fmt: skip
SIZES = ({"M": 40, "N": 17, "K": 70}, {"M": 3, "N": 33, "K": 5})


@pytest.mark.parametrize("where", CONDITIONS)
def test_tiles(where: str) -> None:
    text = changed(
        in_bytes(TILES), ("i32(B[k, j])", f"i32(B[k, j]) where {where}"), (", tail = exact", "")
    )
    p, kernels = compiled(text, "amx")
    assert_selected(kernels["select"])
    for stage in CHECKED:
        for sizes in SIZES:
            assert_agrees(p, kernels[stage], sizes)


@pytest.mark.parametrize("where", CONDITIONS[::3])
def test_lanes(where: str) -> None:
    p, kernels = compiled(
        changed(in_bytes(LANES), ("i32(B[k, j])", f"i32(B[k, j]) where {where}")), "avx512vnni"
    )
    for sizes in SIZES:
        assert_agrees(p, kernels["hoist"], sizes)


def test_floats_that_are_not_finite_are_left_out() -> None:
    """Where the condition leaves out a product, a number is multiplied by 0: infinity would be NaN."""
    text = changed(TILES, ("f32(B[k, j])", "f32(B[k, j]) where k <= i"))
    _, kernels = compiled(text, "amx")
    assert kernels["hoist"].assumes_finite

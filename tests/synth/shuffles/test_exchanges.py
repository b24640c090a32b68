"""Exchanges of bits of the index, against the same moves of random arrays by NumPy's transposition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbc.synth.shuffles.exchanges import composed, exchanges


@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_any_order_of_bits(order: list[int], turned: list[bool]) -> None:
    """An array of 2 x 2 x ... elements whose axes are transposed and reversed."""
    wanted = np.arange(64, dtype=np.int32).reshape((2,) * 6).transpose(order)
    wanted = np.flip(wanted, [axis for axis in range(6) if turned[axis]]).reshape(-1)
    steps = exchanges(wanted)
    if steps is None:
        assert sum(turned) + sum(a != b for a, b in enumerate(order)) <= 2
        return
    assert (composed(steps) == wanted).all()
    assert len(steps) <= 5 + sum(turned)
    for step in steps:
        distances = set(np.abs(step - np.arange(64)).tolist()) - {0}
        assert len(distances) == 1


@pytest.mark.parametrize(
    "row", [[0, 0, 2, 2], [0, 1, 3, 2], [1, 2, 3, 0], [0, 2, 1, -1], [-2, 1, 2, 3], [4, 5, 6, 7]]
)
def test_other_moves(row: list[int]) -> None:
    assert exchanges(np.array(row, dtype=np.int32)) is None

"""A GPU tests the `bound` of inputs before it reads by them, and leaves outputs alone where one is broken."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_library import CudaLibrary, library, poisoned

TAKE = """
kernel take
size M, H, W
input A: f32[M]
input at: i32[H, W]
output S: f32[H, W]
bound at in 0 .. M
S[y, x] = A[at[y, x]]
"""


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> CudaLibrary:
    return library(TAKE, tmp_path_factory.mktemp("take"))


def positions(m: int, h: int, w: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, m, (h, w), np.int32)


@pytest.mark.parametrize(("m", "h", "w"), [(5, 1, 1), (40, 7, 33), (9, 300, 257)])
@pytest.mark.parametrize("stream", [[], [None]])
def test_inside(take: CudaLibrary, m: int, h: int, w: int, stream: list[None]) -> None:
    values, at, out = np.arange(m, dtype=np.float32), positions(m, h, w), poisoned((h, w))
    assert take.call("_device" if stream else "", m, h, w, values, at, out, *stream) == 0
    np.testing.assert_array_equal(out, values[at])


@pytest.mark.parametrize("value", [-1, 40, -(2**31), 2**31 - 1])
@pytest.mark.parametrize("place", [(0, 0), (6, 32), (3, 20)])
@pytest.mark.parametrize("stream", [[], [None]])
def test_outside(take: CudaLibrary, value: int, place: tuple[int, int], stream: list[None]) -> None:
    values, at, out = np.arange(40, dtype=np.float32), positions(40, 7, 33), poisoned((7, 33))
    at[place] = value
    code = take.call("_device" if stream else "", 40, 7, 33, values, at, out, *stream)
    assert "a value of `at` is outside of its bound 0 .. M" in take.text("_strerror", code)
    assert (out.view(np.uint8) == 0xA5).all()


def test_rows_that_lie_apart(take: CudaLibrary) -> None:
    """What lies between the rows is no value of the array."""
    values, at, out = np.arange(6, dtype=np.float32), positions(6, 5, 4), poisoned((5, 4))
    at[:, 3] = 77
    assert take.call("_strided", 6, 5, 3, values, at, 4, out, 4) == 0
    np.testing.assert_array_equal(out[:, :3], values[at[:, :3]])

"""Arrays of ml_dtypes' int4 and uint4 in Python's calls, and bytes that hold two each."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import hbc

TEXT = """
kernel scaled
size N, K
input W: i4[N, K]
input U: u4[N, K]
output y: i32[N, K]
y[i, k] = i32(W[i, k]) * 100 + i32(U[i, k])
"""


def arrays(width: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(width)
    return rng.integers(-8, 8, (3, width)), rng.integers(0, 16, (3, width))


@pytest.fixture(scope="module")
def kernel() -> hbc.Kernel:
    return hbc.compile(TEXT, target="c")


@pytest.mark.parametrize("width", [1, 6, 7])
def test_calls(kernel: hbc.Kernel, width: int) -> None:
    w, u = arrays(width)
    own = w.astype(ml_dtypes.int4), u.astype(ml_dtypes.uint4)
    want = w * 100 + u
    assert np.array_equal(kernel(*own), want)
    assert np.array_equal(kernel(U=own[1], W=own[0]), want)
    held = []
    for values in (w, u):
        even = np.pad(values & 15, ((0, 0), (0, width % 2)), constant_values=9)
        held.append((even[:, ::2] + 16 * even[:, 1::2]).astype(np.uint8))
    assert np.array_equal(kernel(*held, K=width), want)


def test_types_are_told(kernel: hbc.Kernel) -> None:
    w, u = arrays(6)
    with pytest.raises(hbc.ArgumentError, match="`W` holds int8, but is declared i4") as told:
        kernel(w.astype(np.int8), u.astype(ml_dtypes.uint4))
    assert "ml_dtypes.int4" in str(told.value)
    with pytest.raises(hbc.ArgumentError, match="`U` holds int4, but is declared u4"):
        kernel(w.astype(ml_dtypes.int4), u.astype(ml_dtypes.int4))

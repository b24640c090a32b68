"""Arrays that begin in the middle of an element are served, by way of copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hbc

TWO = """
type T = f32
size N, M
input  A: T[N, M]
input  B: T[N, M]
output S: T[N, M]
output P: T[N]
S[i, j] = A[i, j] + B[i, j]
P[i] = A[i, 0]
"""
IN_PLACE = """
size N
input  A: f64[N]
output B: f64[N] aliases A
B[i] = A[i] + 1
"""
GUARD = 0xA5


def askew(values: Any, offset: int) -> tuple[Any, Any]:
    """The values from that byte on, and all bytes around them."""
    memory = np.full(values.nbytes + 16, GUARD, np.uint8)
    array = memory[offset : offset + values.nbytes].view(values.dtype).reshape(values.shape)
    array[...] = values
    return array, memory


@pytest.fixture(scope="module", params=["f32", "f64", "i16"])
def two(request: pytest.FixtureRequest) -> tuple[hbc.Kernel, Any]:
    dtype = {"f32": np.float32, "f64": np.float64, "i16": np.int16}[request.param]
    return hbc.compile(TWO, target="c", T=request.param), dtype


@pytest.mark.parametrize("offset", range(9))
def test_inputs_and_outputs(two: tuple[hbc.Kernel, Any], offset: int) -> None:
    kernel, dtype = two
    a, b = np.random.default_rng(offset).integers(-99, 99, (2, 5, 7)).astype(dtype)
    left, _ = askew(a, offset)
    found = kernel(left, b)
    assert np.array_equal(found["S"], a + b) and np.array_equal(found["P"], a[:, 0])
    s, around = askew(np.zeros_like(a), offset)
    p = np.zeros(5, dtype)
    for _ in range(2):  # the second has forms that are known
        s[...], p[...] = 0, 0
        found = kernel(B=b, A=left, out={"S": s, "P": p})
        assert found["S"] is s and found["P"] is p
        assert np.array_equal(s, a + b) and np.array_equal(p, a[:, 0])
        assert (around[:offset] == GUARD).all() and (around[offset + s.nbytes :] == GUARD).all()
    assert np.array_equal(left, a)


def test_rows_that_lie_apart(two: tuple[hbc.Kernel, Any]) -> None:
    kernel, dtype = two
    a, b = np.random.default_rng(1).integers(-99, 99, (2, 5, 9)).astype(dtype)
    left, _ = askew(a, 1)
    assert np.array_equal(kernel(left[:, 2:8], b[:, 1:7])["S"], a[:, 2:8] + b[:, 1:7])


def test_in_place() -> None:
    kernel = hbc.compile(IN_PLACE, target="c")
    a = np.arange(9.0)
    own, _ = askew(a, 3)
    assert kernel(own) is own
    assert np.array_equal(own, a + 1)
    out, _ = askew(np.zeros_like(a), 5)
    assert kernel(own, out=out) is out
    assert np.array_equal(out, a + 2) and np.array_equal(own, a + 1)


def test_what_is_wrong_besides_is_said(two: tuple[hbc.Kernel, Any]) -> None:
    kernel, dtype = two
    left, _ = askew(np.zeros((5, 7), dtype), 1)
    with pytest.raises(hbc.ArgumentError, match="sizes contradict each other"):
        kernel(left, np.zeros((5, 6), dtype))

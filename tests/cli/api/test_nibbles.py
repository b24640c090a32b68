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


def test_lengths_are_those_of_the_integers(kernel: hbc.Kernel) -> None:
    """35 and 36 of them lie in as many bytes."""
    w, u = arrays(35)
    own = w.astype(ml_dtypes.int4), u.astype(ml_dtypes.uint4)
    assert kernel(*own).shape == (3, 35)
    for wrong in (34, 36):
        with pytest.raises(hbc.ArgumentError, match=f"35 long in dimension 1, but must be {wrong}"):
            kernel(*own, K=wrong)
    with pytest.raises(hbc.ArgumentError, match="36 long in dimension 1, but must be 35"):
        kernel(*own, out=np.empty((3, 36), np.int32))
    with pytest.raises(hbc.ArgumentError, match="36 long in dimension 1, but must be 35"):
        kernel(own[0], np.zeros((3, 36), ml_dtypes.uint4))


@pytest.mark.parametrize(
    ("extent", "length", "wrong"), [("36", 36, 35), ("K + 1", 7, None), ("2 * K", 4, 7)]
)
def test_extents_of_any_form(extent: str, length: int, wrong: int | None) -> None:
    """What they say of sizes is found out; what contradicts them is refused."""
    size, read = ("", "36") if extent == "36" else (", K", "K")
    kernel = hbc.compile(
        f"size N{size}\ninput W: i4[N, {extent}]\noutput y: i8[N, {read}]\ny[i, k] = W[i, k]\n",
        target="c",
    )
    w, _ = arrays(8 if extent != "36" else 36)
    assert np.array_equal(kernel(w.astype(ml_dtypes.int4)), w[:, :length])
    if wrong is not None:
        with pytest.raises(hbc.ArgumentError, match=f"{wrong} long in dimension 1"):
            kernel(w[:, :wrong].astype(ml_dtypes.int4))


def test_packed_once() -> None:
    kernel = hbc.compile(
        "size N, K\ninput W: i4[N, K] constant\ninput x: i32[K]\noutput y: i32[N]\nreduce k in K\n"
        "y[i] = 0\ny[i] += i32(W[i, k]) * x[k]\n"
        "schedule s for c { y.update.reorder(k, i).vectorize(i, 8) }\n",
        target="c",
    )
    w, _ = arrays(5)
    x = np.arange(5, dtype=np.int32)
    held = kernel.pack(W=w.astype(ml_dtypes.int4))
    assert np.array_equal(kernel(held, x), w @ x)
    with pytest.raises(hbc.ArgumentError, match="6 long in dimension 0, but must be 5"):
        kernel(held, np.arange(6, dtype=np.int32))

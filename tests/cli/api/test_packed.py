"""Constant inputs from Python: packed once for each set of sizes."""

from typing import Any

import numpy as np
import pytest

import hbc

TEXT = """
kernel k
size M, N, K
input A: u8[M, K]
input B: i8[K, N] constant
input D: i32[N] constant
output C: i32[M, N]
reduce k in K
C[i, j] = D[j]
C[i, j] += i32(A[i, k]) * i32(B[k, j])
"""


@pytest.fixture(scope="module")
def kernel() -> Any:
    return hbc.compile(TEXT, target="c")


def arrays(m: int, n: int, k: int, seed: int = 1) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    return (
        random.integers(0, 256, (m, k), dtype=np.uint8),
        random.integers(-128, 128, (k, n), dtype=np.int8),
        random.integers(-(2**31), 2**31, n, dtype=np.int32),
    )


def product(a: Any, b: Any, d: Any) -> Any:
    return (a.astype(np.int64) @ b + d).astype(np.int32)


def test_several_inputs_at_several_sizes(kernel: Any) -> None:
    for n, k in ((5, 3), (17, 33)):
        a, b, d = arrays(4, n, k)
        kept = kernel.pack(B=b, D=d)
        assert list(kept) == ["B", "D"]
        exact = b.copy(), d.copy()
        for m in (1, 4, 9, 4):
            a, _, _ = arrays(m, n, k, seed=m)
            assert (kernel(a, kept["B"], kept["D"]) == product(a, *exact)).all()
        b[:] = 0
        assert (kernel(a, kept["B"], D=kept["D"]) == product(a, *exact)).all()


def test_one_packed_and_one_not(kernel: Any) -> None:
    a, b, d = arrays(4, 5, 3)
    kept = kernel.pack(B=b)
    out = np.empty((4, 5), np.int32)
    assert kernel(a, kept, d, out=out) is out
    assert (out == product(a, b, d)).all()
    d += 1  # it was not packed
    assert (kernel(a, kept, d) == product(a, b, d)).all()


def test_mistakes_are_named(kernel: Any) -> None:
    a, b, d = arrays(4, 5, 3)
    kept = kernel.pack(B=b)
    with pytest.raises(hbc.ArgumentError, match="`A` is no constant input"):
        kernel.pack(A=a)
    with pytest.raises(hbc.ArgumentError, match="stands where `D` of `k` is wanted"):
        kernel(a, b, kept)
    wide = np.zeros((4, 9), np.uint8)[:, :3]
    with pytest.raises(hbc.ArgumentError, match="rows of an array lie apart"):
        kernel(wide, kept, d)
    with pytest.raises(hbc.ArgumentError):
        kernel(arrays(4, 5, 4)[0], kept, d)  # another K
    other = hbc.compile(TEXT.replace("kernel k", "kernel other"), target="c")
    with pytest.raises(hbc.ArgumentError, match="of k> stands where `B` of `other`"):
        other(a, kept, d)

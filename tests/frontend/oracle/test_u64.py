"""Integers beyond the range of i64: against Python's own."""

from __future__ import annotations

import numpy as np
import pytest

import hbc

TEXT = """
size N
input A: u64[N]
input B: u64[N]
output O: u64[N]
output P: f64[N]
output Q: u64[N]
output R: i32[N]
O[i] = (A[i] * B[i] + 18446744073709551615) ^ (A[i] >> 7) ^ A[i] << (B[i] % 64)
P[i] = f64(A[i])
Q[i] = u64(f64(A[i]) * 2) / max(B[i], 3) + A[i] % 1000003 + min(A[i], B[i])
R[i] = select(A[i] < B[i], 1, i32(A[i]))
schedule s for c, avx2, avx512 { O.vectorize(i, 8); P.vectorize(i, 8); Q.vectorize(i, 8); R.vectorize(i, 8) }
"""


@pytest.mark.parametrize("schedule", ["none", "auto", "s"])
def test_beyond_i64(schedule: str) -> None:
    random = np.random.default_rng(1)
    ends = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    a = np.concatenate([np.repeat(ends, 5), random.integers(0, 2**64, 300, np.uint64)])
    b = np.concatenate([np.tile(ends, 5), random.integers(0, 2**64, 300, np.uint64)])
    found = hbc.compile(TEXT, target="c" if schedule == "none" else "auto", schedule=schedule)(a, b)
    whole = 1 << 64
    for n, (x, y) in enumerate(zip(map(int, a), map(int, b), strict=True)):
        assert found["O"][n] == ((x * y + whole - 1) ^ (x >> 7) ^ (x << y % 64)) % whole
        assert found["P"][n] == float(x)
        twice = min(int(float(x) * 2), whole - 1)
        assert found["Q"][n] == (twice // max(y, 3) + x % 1000003 + min(x, y)) % whole
        low = (x + 2**31) % 2**32 - 2**31
        assert found["R"][n] == (1 if x < y else low)

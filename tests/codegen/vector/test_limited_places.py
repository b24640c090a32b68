"""Lanes whose places are limited, under a mask: one loop in C, not a line for each lane."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import hbc

KERNEL = """
size N
input A: f32[N]
output B: f32[N]
B[i] = A[clamp(3 * i / 2 - 5, 0, N - 1)]
schedule s for avx512 { B.vectorize(i, 16) }
example { N = 40; A = random(1) }
"""


def test_a_loop_over_lanes(tmp_path: Path) -> None:
    file = tmp_path / "limited.hb"
    file.write_text(KERNEL, encoding="utf-8")
    kernel = hbc.compile(file, target="avx512")
    assert re.search(r"if \(i_tail > lane\)", kernel.source)
    assert not re.search(r"if \((i_tail|live\w*) > [1-9]\d*\)", kernel.source)
    a = np.random.default_rng(5).random(45, np.float32)
    want = a[np.clip(3 * np.arange(45) // 2 - 5, 0, 44)]
    np.testing.assert_array_equal(kernel(a), want)

"""Outputs of 4 bits: what is stored is what NumPy packs of the values, at every width and on every target;
the last four bits of an odd row are 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from packed_runs import built

from hbc.cli.runs.native import Native
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import Array

KERNEL = """
size N, K
input X: i16[N, K]
input W: u4[N, K]
output Q: i4[N, K]
output U: u4[K, N]
output B: i4[K]
reduce n in N
sums[k]  = 0
sums[k] += i8(W[n, k])
v[i, k]  = clamp(X[i, k] / 16, -8, 7)
Q[i, k]  = i8(v[i, k])
U[k, i]  = 15 - W[N - 1 - i, k]
B[k]     = sums[k]
schedule fast for avx2, avx512, arm_dot, rvv {
    Q.vectorize(k, 16)
    U.vectorize(i, 8)
    sums.compute_root().vectorize(k, 16)
    sums.update.reorder(n, k).vectorize(k, 16)
    B.vectorize(k, 32)
}
example { N = 3; K = 35; X = random(1); W = random(2) }
"""
WIDTHS = (1, 2, 15, 16, 33, 64, 77)


def inputs(rows: int, width: int) -> dict[str, Array]:
    rng = np.random.default_rng(width)
    return {
        "X": rng.integers(-256, 256, (rows, width), np.int16),
        "W": rng.integers(0, 256, (rows, (width + 1) // 2), np.uint8),
    }


def packed(values: Array) -> Array:
    """The low four bits of each, by the place that its power of 16 has."""
    even = np.zeros((*values.shape[:-1], values.shape[-1] + values.shape[-1] % 2), np.int64)
    even[..., : values.shape[-1]] = values % 16
    return (even.reshape(*values.shape[:-1], -1, 2) @ np.array([1, 16])).astype(np.uint8)


def expected(given: dict[str, Array], width: int) -> dict[str, Array]:
    w = np.stack([given["W"] % 16, given["W"] // 16], -1).reshape(len(given["W"]), -1)[:, :width]
    x = np.floor_divide(given["X"].astype(np.int64), 16)
    return {
        "Q": packed(np.minimum(np.maximum(x, -8), 7)),
        "U": packed(15 - w[::-1].T.astype(np.int64)),
        "B": packed(w.astype(np.int64).sum(0)),
    }


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("width", WIDTHS)
def test_oracle(width: int, rows: int) -> None:
    given = inputs(rows, width)
    got = evaluate(check(parse(Source("k.hb", KERNEL)), {}), {"N": rows, "K": width}, given)
    for name, array in expected(given, width).items():
        assert np.array_equal(np.asarray(got[name].value), array), name


@pytest.mark.parametrize("target", ["c", "avx2", "avx512", "arm_dot", "rvv"])
def test_native(target: str, tmp_path: Path) -> None:
    source, library = built(KERNEL, target, tmp_path)
    assert "output Q: i4[N, K], two in a byte: u8[N, (K + 1) / 2]\n" in source.header
    with Native(library, 1, 60.0) as native:
        for width in WIDTHS:
            given = inputs(3, width)
            want = expected(given, width)
            made = {n: (a.shape, DTYPES["u8"]) for n, a in want.items()}
            got = native.call("k", [3, width], given, made, guarded=True).outputs
            for name, array in want.items():
                assert np.array_equal(got[name], array), (name, width)

"""Inputs of 4 bits: what NumPy unpacks is what is read, through helpers, in vectors, at every width and on
every target; the last four bits of an odd row are anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from packed_runs import built

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.runs.native import Native
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import Array

KERNEL = """
size N, K
input W: i4[N, K]
input U: u4[K]
input t: f32[16]
input x: i8[K]
output plain: i8[N, K]
output looked: f32[N, K]
output beyond: i16[N, K]
output sums: i32[N]
reduce k in K
edge = clamp_edge(W)
plain[i, j]  = W[i, j]
looked[i, j]  = t[U[j]] * f32(W[i, j])
beyond[i, j] = i16(edge[i - 1, j + 3]) * 16 + i16(zero_edge(U)[j - 1]) + i16(W[i, K - 1 - j])
sums[i]      = 0
sums[i]     += i32(W[i, k]) * i32(x[k])
schedule fast for avx2, avx512, arm_dot, rvv {
    plain.vectorize(j, 32)
    looked.vectorize(j, 16)
    beyond.vectorize(j, 16)
    sums.update.rfactor(k, u)
    sums_u.compute_at(sums.update, i).vectorize(u, 16)
    sums_u.update.vectorize(u, 16)
}
example { N = 3; K = 35; W = random(1); U = random(2, 3, 9); t = random(3); x = random(4) }
"""
WIDTHS = (1, 2, 15, 16, 33, 64, 77)


def inputs(rows: int, width: int) -> dict[str, Array]:
    """All bits at random, those at the ends of odd rows too."""
    rng = np.random.default_rng(width)
    pairs = (width + 1) // 2
    return {
        "W": rng.integers(0, 256, (rows, pairs), np.uint8),
        "U": rng.integers(0, 256, pairs, np.uint8),
        "t": rng.random(16, np.float32),
        "x": rng.integers(-128, 128, width, np.int8),
    }


def unsigned(held: Array, width: int) -> Array:
    """By the bits of each byte, the lowest first."""
    bits = np.unpackbits(held, axis=-1, bitorder="little")
    four = bits.reshape(*held.shape[:-1], -1, 4)[..., :width, :]
    return (four @ np.array([1, 2, 4, 8])).astype(np.int64)


def signed(held: Array, width: int) -> Array:
    n = unsigned(held, width)
    return np.where(n >= 8, n - 16, n)


def expected(given: dict[str, Array], rows: int, width: int) -> dict[str, Array]:
    w, u = signed(given["W"], width), unsigned(given["U"], width)
    i, j = np.arange(rows)[:, None], np.arange(width)
    edge = w[np.maximum(i - 1, 0), np.minimum(j + 3, width - 1)]
    before = np.concatenate([[0], u[:-1]])
    return {
        "plain": w.astype(np.int8),
        "looked": given["t"][u] * w.astype(np.float32),
        "beyond": (edge * 16 + before + w[:, ::-1]).astype(np.int16),
        "sums": (w @ given["x"].astype(np.int64)).astype(np.int32),
    }


@pytest.mark.parametrize("width", WIDTHS)
def test_oracle(width: int) -> None:
    given = inputs(3, width)
    got = evaluate(check(parse(Source("k.hb", KERNEL)), {}), {"N": 3, "K": width}, given)
    for name, array in expected(given, 3, width).items():
        assert np.array_equal(np.asarray(got[name].value), array), name


@pytest.mark.parametrize("target", ["c", "avx2", "avx512", "arm_dot", "rvv"])
def test_native(target: str, tmp_path: Path) -> None:
    source, library = built(KERNEL, target, tmp_path)
    assert "const uint8_t *W" in source.header
    assert "input W: i4[N, K], two in a byte: u8[N, (K + 1) / 2]\n" in source.header
    if target in ("avx2", "avx512"):  # the 4 bits of eight lanes out of one word
        assert "load_bytes_u32x4(&W[" in source.text
    with Native(library, 1, 60.0) as native:
        for width in WIDTHS:
            given, shape = inputs(3, width), (3, width)
            made = {
                "plain": (shape, DTYPES["i8"]), "looked": (shape, DTYPES["f32"]),
                "beyond": (shape, DTYPES["i16"]), "sums": ((3,), DTYPES["i32"]),
            }  # fmt: skip
            got = native.call("k", [3, width], given, made, guarded=True).outputs
            for name, array in expected(given, 3, width).items():
                assert np.array_equal(got[name], array), (name, width)


def test_examples_fill_each_of_them() -> None:
    p = check(parse(Source("k.hb", KERNEL)), {})
    run = gather_inputs(p, {}, choose_example(p, None), {})
    assert run.inputs["W"].shape == (3, 18)
    assert set(signed(run.inputs["W"], 35).ravel().tolist()) == set(range(-8, 8))
    assert set(unsigned(run.inputs["U"], 35).tolist()) == set(range(3, 10))

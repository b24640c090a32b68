"""Powers and the updates that go step by step, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import hbc
from hbc.ir.meaning.numpy_types import Array

POWERS = """
size N
input x: f32[N]
input y: f32[N]
input h: f16[N]
input i: i32[N]
param n: i32 = 7
output real: f32[N]
output fixed: f32[N]
output root: f32[N]
output half: f16[N]
output whole: f32[N]
output inverse: f32[N]
output wrapped: i32[N]

real[k]    = x[k] ** y[k]
fixed[k]   = x[k] ** 2.4
root[k]    = x[k] ** 0.5
half[k]    = h[k] ** -1.5
whole[k]   = x[k] ** n
inverse[k] = x[k] ** -2
wrapped[k] = i[k] ** 5 - 2 ** 3 ** 2
schedule lanes for avx2, avx512 {
    real.vectorize(k, 8); fixed.vectorize(k, 8); root.vectorize(k, 8); half.vectorize(k, 16)
    whole.vectorize(k, 8); inverse.vectorize(k, 8); wrapped.vectorize(k, 8)
}
"""
NAMES = ("real", "fixed", "root", "half", "whole", "inverse")
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e-40, 3e38, np.inf, np.nan]


def bases_and_exponents() -> tuple[Array, Array]:
    """Every pair of the edges, whole exponents of both signs, and anything."""
    rng = np.random.default_rng(3)
    a, b = (g.ravel() for g in np.meshgrid(EDGES, [*EDGES, -np.inf, 2.5, -7.0, 1e30]))
    some = rng.uniform(-4, 4, 3000)
    return (
        np.concatenate([a, some, np.exp2(rng.uniform(-60, 60, 3000))]).astype(np.float32),
        np.concatenate([b, rng.integers(-9, 9, 3000), rng.uniform(-3, 3, 3000)]).astype(np.float32),
    )


def ulps(got: Array, want: Array) -> float:
    """How far `got` is from `want`, which is in f64, in units of the last place of its type."""
    with np.errstate(over="ignore"):
        nearest = want.astype(got.dtype)
    assert (np.isnan(got) == np.isnan(nearest)).all()
    finite = np.isfinite(nearest) & np.isfinite(got)
    assert (np.signbit(got) == np.signbit(nearest))[~np.isnan(got)].all()
    edge = ~finite & ~np.isnan(got) & (got != nearest)
    assert not edge.any()
    unit = np.spacing(np.abs(nearest[finite])).astype(np.float64)
    return float(np.max(np.abs(got[finite].astype(np.float64) - want[finite]) / unit))


def powers(target: str) -> dict[str, tuple[Array, Array]]:
    """What the kernel gives, and what NumPy gives in f64."""
    x, y = bases_and_exponents()
    rng = np.random.default_rng(4)
    h, i = rng.uniform(0, 9, x.size).astype(np.float16), rng.integers(-99, 99, x.size, np.int32)
    got = hbc.compile(POWERS, target=target, on_cpu=target == "cuda")(x=x, y=y, h=h, i=i)
    a, b = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(all="ignore"):
        want = (
            a**b,
            a ** np.float64(np.float32(2.4)),
            a**0.5,
            h.astype(np.float64) ** -1.5,
            a**7,
            a**-2,
        )
    return {name: (got[name], w) for name, w in zip(NAMES, want, strict=True)} | {
        "wrapped": (got["wrapped"], (i.astype(np.int64) ** 5 - 512).astype(np.int32))
    }


@pytest.mark.parametrize("on", ["native", "cuda"])
def test_powers(native_target: str, on: str) -> None:
    if on == "cuda" and native_target != "c":
        pytest.skip("one code for GPUs")
    found = powers("cuda" if on == "cuda" else native_target)
    wrapped, exact = found.pop("wrapped")
    assert (wrapped == exact).all()
    # Products round at each step, and quotients once more; what is computed wider rounds once.
    limits = {"whole": 4.5, "inverse": 1.6}
    assert {n for n, (got, want) in found.items() if ulps(got, want) > limits.get(n, 0.51)} == set()


def test_updates_that_go_step_by_step() -> None:
    text = """size N
        input x: f32[N]
        input i: i32[N]
        output q: f32[1]
        output r: f32[N]
        output s: i32[N]
        output a: i32[N]
        output b: f32[N]
        reduce k in N
        q[o] = 1
        q[o] /= x[k]
        r[j] = x[j]
        r[j] %= 0.75
        s[j] = i[j]
        s[j] /= 3
        s[j] <<= 3 where i[j] > 0
        s[j] %= 1000
        s[j] >>= 1
        (a[j], b[j]) = (i[j], x[j])
        (a[j], b[j]) /= (7, x[j])
    """
    rng = np.random.default_rng(5)
    x, i = rng.uniform(0.5, 2, 40).astype(np.float32), rng.integers(-9999, 9999, 40, np.int32)
    got = hbc.compile(text, target="c")(x=x, i=i)
    quotient = np.float32(1)
    for one in x:
        quotient /= one
    assert got["q"][0] == quotient
    assert (got["r"] == x - np.floor(x / np.float32(0.75)) * np.float32(0.75)).all()
    third = i // 3
    assert (got["s"] == np.where(i > 0, third << 3, third) % 1000 >> 1).all()
    assert (got["a"] == i // 7).all()
    assert (got["b"] == 1).all()

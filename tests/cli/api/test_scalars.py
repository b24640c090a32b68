"""Scalars: numbers that each call is given, of every type, on every target, and what is no such number."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import hbc
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.build.soft_vectors import FLAGS, functions_for
from hbc.codegen.build.toolchain import all_compilers
from hbc.ir.lang.types import DTYPES

SHIFTED = """
size N
input X: f32[N]
input gain: f32
input shift: i16
input on: bool
bound shift in -3 .. 4
output Y: f32[N]
P = clamp_edge(X)
Y[i] = select(on, P[i + shift] * gain, X[i] + tanh(gain) * f32(shift))
schedule s for c, avx2, avx512 { Y.vectorize(i, 8) }
schedule g for cuda { Y.split(i, io, t, 64, tail = guard).gpu_blocks(io).gpu_threads(t) }
"""
COUNTED = """
size N
input X: f32[N]
input n: i32
bound n in 1 .. N + 1
output S: f32[1]
output C: f32[n]
reduce k in n
S[o] = 0
S[o] += X[k] * f32(n)
C[i] = select(i < n - 1, X[n - 1 - i], 0)
"""
EVERY = "\n".join(
    ["size N", "input X: i32[N]", "output Y: f64[N]"]
    + [f"input s{t}: {t}" for t in DTYPES]
    + ["bound si64 in -1_000_000_007 .. 1 << 40"]
    + ["Y[i] = select(sbool, f64(X[i]), 0.5)"]
    + [f"Y[i] += f64(s{t}) * f64(X[i] % {n + 2})" for n, t in enumerate(DTYPES) if t != "bool"]
)
VECTORS = """
size W
input A: f32[W]
input S: f32
input B: i16
input T: bool
input Q: u8
bound Q in 0 .. W + 1
input D: i32
bound D in -2 .. 3
output f: f32[W]
output g: i16[Q + 1]
P = clamp_edge(A)
reduce r in Q
f[x] = select(T and S > 0, P[x + D] * S, exp(-abs(S)))
f[x] += P[x + r] where r < Q - 1
g[x] = B / 3 + i16(Q) * i16(x)
schedule s for avx2, avx512 {
    f.vectorize(x, 8)
    f.update.reorder(r, x).vectorize(x, 8)
    g.vectorize(x, 16)
}
"""
TARGETS = ("c", "avx2", "avx512", "cuda")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "text", [SHIFTED, COUNTED, EVERY, VECTORS], ids=["shifted", "counted", "every", "vectors"]
)
def test_random_scalars_of_all_types(text: str, target: str) -> None:
    kernel = hbc.compile(text, target=target, on_cpu=target == "cuda")
    assert kernel.verify(trials=6).trials >= 6


def test_calls_are_what_numpy_makes() -> None:
    kernel = hbc.compile(SHIFTED)
    assert repr(kernel).startswith("<hbc.Kernel kernel(X, gain, shift, on) -> Y")
    x = np.random.default_rng(1).random(1000, np.float32)
    wide = np.pad(x, 3, mode="edge")
    for _ in range(2):  # the second finds the plan of the first
        np.testing.assert_array_equal(kernel(x, 0.5, 2, True), wide[5:1005] * np.float32(0.5))
        np.testing.assert_array_equal(kernel(x, -2, -3, True), wide[:1000] * np.float32(-2))
    found = kernel(x, shift=np.int64(0), on=np.False_, gain=np.float16(0.25))
    np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(kernel(x[::1], np.array(1.0), np.array(0), True), x)
    assert kernel.bench(x, 0.5, 2, True, seconds=0.01).calls


def test_scalars_that_serve_as_sizes() -> None:
    kernel = hbc.compile(COUNTED)
    x = np.random.default_rng(1).random(100, np.float32)
    for n in (1, 7, np.uint8(100)):
        found = kernel(x, n)
        np.testing.assert_allclose(found["S"], [x[:n].sum() * int(n)], rtol=1e-5)
        np.testing.assert_array_equal(found["C"][:-1], x[1:n][::-1])
    assert kernel(X=x, n=3)["C"].shape == (3,)
    for n in (0, 101, -1):
        with pytest.raises(ValueError, match=r"`n` is outside of its bound 1 .. N \+ 1") as failure:
            kernel(x, n)
        assert "a size is at least" not in str(failure.value)


WRONG = [
    (("a", 2, True), r"`gain` is 'a' \(str\), and f32 takes a number"),
    ((True, 2, True), r"`gain` is True \(bool\), and f32 takes a number"),
    ((1e39, 2, True), r"`gain` is 1e\+39, which is too large for f32"),
    ((10**400, 2, True), r"too large for f32"),
    ((1, 2.0, True), r"`shift` is 2.0 \(float\), and i16 takes an integer"),
    ((1, 40000, True), r"`shift` is 40000, and i16 holds -32768 .. 32767"),
    ((1, 4, True), r"a value of `shift` is outside of its bound -3 .. 4"),
    ((1, 2, 1), r"`on` is 1 \(int\), and bool takes a truth value"),
    ((np.ones(3), 2, True), r"`gain` is one f32, and what is given has the shape \(3,\)"),
    ((None, 2, True), r"`gain` is None \(NoneType\), and f32 takes a number"),
    ((1, 2), r"needs `on` too"),
    ((1, 2, True, 4), r"5 inputs are given"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_what_is_no_such_number(given: tuple[object, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        hbc.compile(SHIFTED)(np.ones(10, np.float32), *given)


def test_ends_of_floats() -> None:
    kernel = hbc.compile(
        "input g: f16\ninput b: bf16\noutput y: f32[2]\ny[i] = f32(g) + f32(b) * f32(i)"
    )
    np.testing.assert_array_equal(kernel(65504, 0), np.float32([65504, 65504]))
    np.testing.assert_array_equal(kernel(-np.inf, 1), np.float32([-np.inf, -np.inf]))
    assert np.isnan(kernel(1, float("nan"))).all()
    np.testing.assert_array_equal(
        kernel(2.0**-24, 0.1), np.float32([2.0**-24, 2.0**-24 + 0.10009765625])
    )
    with pytest.raises(ValueError, match="`g` is 65520, which is too large for f16"):
        kernel(65520, 0)


def test_ends_of_floats_of_8_bits() -> None:
    kernel = hbc.compile(
        "input g: f8e4m3\ninput b: f8e5m2\noutput y: f32[2]\ny[i] = f32(g) + f32(b) * f32(i)"
    )
    np.testing.assert_array_equal(kernel(448, 0), np.float32([448, 448]))
    np.testing.assert_array_equal(kernel(464, 0), np.float32([448, 448]))
    np.testing.assert_array_equal(kernel(1, -np.inf), np.float32([np.nan, -np.inf]))
    np.testing.assert_array_equal(kernel(2.0**-9, 0.1), np.float32([2.0**-9, 2.0**-9 + 0.09375]))
    assert np.isnan(kernel(float("nan"), 1)).all()
    with pytest.raises(ValueError, match="`g` is 465, which is too large for f8e4m3"):
        kernel(465, 0)
    with pytest.raises(ValueError, match="`g` is inf, which is too large for f8e4m3"):
        kernel(np.inf, 0)
    with pytest.raises(ValueError, match="`b` is 61440, which is too large for f8e5m2"):
        kernel(1, 61440)


def test_numbers_of_python_are_rounded_as_those_of_numpy() -> None:
    """Which take another way to the code."""
    kernel = hbc.compile("input g: f32\ninput d: f64\noutput y: f64[2]\ny[i] = f64(g) + d * f64(i)")
    source = np.random.default_rng(7)
    largest = float(np.finfo(np.float32).max)
    beyond = (2 - 2.0**-24) * 2.0**127  # half a unit above: a tie, which goes to infinity
    ends = [largest, float(np.nextafter(beyond, 0)), -largest, 1e-46, -0.0, 2.0**-150, np.inf]
    drawn = source.uniform(-1, 1, 200) * 2.0 ** source.integers(-140, 120, 200)
    for value in [*ends, *(float(v) for v in drawn)]:
        with np.errstate(under="ignore", over="ignore"):
            rounded = float(np.float32(value))
        np.testing.assert_array_equal(kernel(float(value), 0.0), [rounded, rounded])
        np.testing.assert_array_equal(kernel(np.float64(value), 0), [rounded, rounded])
    for value in (beyond, -beyond, 1e300):
        with pytest.raises(ValueError, match="too large for f32"):
            kernel(value, 0.0)


STACKS = r"""
#include "kernel.h"
#include <stdlib.h>

/* The stack begins 16 bytes further down each time. */
int main(int count, char **words)
{
    char *pad = __builtin_alloca(16 * (size_t)atoi(words[count - 1]) + 16);
    __asm__ volatile("" : : "r"(pad) : "memory");
    int32_t x[20] = {0};
    double y[20];
    for (int n = 1; n <= 20; ++n)
        if (kernel(n, x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1.5f, 2.5, 1, y))
            return 1;
    return 0;
}
"""


@pytest.mark.skipif("avx2" not in cpu_features(), reason="this processor has no AVX2")
def test_functions_that_stand_for_instructions_on_any_stack(tmp_path: Path) -> None:
    """gcc 12 took vectors in memory to be aligned there, for half of all stacks."""
    kernel = hbc.compile(EVERY, target="avx512")
    (tmp_path / "kernel.h").write_text(kernel.header)
    (tmp_path / "kernel.c").write_text(functions_for(kernel.source) + kernel.source)
    (tmp_path / "stacks.c").write_text(STACKS)
    for compiler in (c for c in all_compilers() if c.kind in ("gcc", "clang")):
        words = [
            *compiler.command,
            "-std=gnu11",
            "-O3",
            *FLAGS,
            "kernel.c",
            "stacks.c",
            "-o",
            "stacks",
        ]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        for start in range(8):
            assert subprocess.run([tmp_path / "stacks", str(start)]).returncode == 0, (
                compiler.command
            )

"""Outputs that alias inputs: calls from Python, and loops in which every element is overwritten after its
last read, beside the oracle; those in which it may not be are refused (`tests/errors` has the messages)."""

import numpy as np
import pytest

import hbc

SOFTMAX = """
size H, W
input X: f32[H, W]
output Y: f32[H, W] aliases X
require 1 <= W
reduce k in W
m[y] = lowest
m[y] max= X[y, k]
s[y] = 0
s[y] += exp(X[y, k] - m[y])
Y[y, x] = exp(X[y, x] - m[y]) / s[y]
"""
PICTURE = """
size H, W
input B: u8[H, W, 3]
output A: u8[H, W, 3] aliases B
A[y, x, c] = 255 - B[y, x, c] / 2
"""
FORWARD = """
size N
input B: i16[N + 2]
output A: i16[N + 2] aliases B
P = clamp_edge(B)
A[i] = B[i] - P[i + 2]
"""
BLUR = """
size H, W
input B: u16[H, W]
output A: u16[H, W] aliases B
P = clamp_edge(B)
t[y, x] = P[y, x - 1] / 4 + P[y, x] / 2 + P[y, x + 1] / 4
A[y, x] = t[y, x]
"""
PAIRS = """
size N
input p: f64[N]
input q: f64[N]
output a: f64[N] aliases p
output b: f64[N] aliases q
(a[i], b[i]) = (p[i] * q[i] - q[i], p[i] + q[i])
"""
LEGAL = {
    "rows": (SOFTMAX, "Y.vectorize(x, 8).parallel(y)\n m.compute_at(Y, y)\n s.compute_at(Y, y)"),
    "root": (SOFTMAX, "Y.tile(y, x, yo, xo, yi, xi, 2, 8).vectorize(xi).parallel(yo)"),
    "fused": (PICTURE, "A.fuse(y, x, t).parallel(t)"),
    "fused twice": (PICTURE, "A.fuse(x, c, s).fuse(y, s, t).parallel(t)"),
    "guarded": (
        PICTURE,
        "A.split(x, xo, xi, 16, tail = guard).reorder(y, xo, c, xi).vectorize(xi)",
    ),
    "masked": (PICTURE, "A.tile(y, x, yo, xo, yi, xi, 4, 8, tail = mask).parallel(yo)"),
    "stage": (BLUR, "t.compute_root().vectorize(x, 8)\n A.vectorize(x, 16).parallel(y)"),
    "stage of a row": (BLUR, "t.compute_at(A, y).vectorize(x, 8)\n A.vectorize(x, 8)"),
    "copied": (BLUR, "B.in(t).compute_root()\n A.vectorize(x, 8)"),
    "together": (PAIRS, "a.vectorize(i, 8)"),
}
ILLEGAL = {
    "vectors": (FORWARD, "A.vectorize(i, 8)"),
    "threads": (FORWARD, "A.split(i, io, ii, 8).parallel(io)"),
    "shifted": (PICTURE, "A.split(x, xo, xi, 4, tail = shift)"),
    "in parts of a row": (BLUR, "t.compute_at(A, xo)\n A.split(x, xo, xi, 8)"),
    "too late": (SOFTMAX, "s.compute_at(Y, x)"),
}


@pytest.mark.parametrize("target", ["c", "avx512"])
@pytest.mark.parametrize("name", LEGAL)
def test_verified(name: str, target: str) -> None:
    text, lines = LEGAL[name]
    kernel = hbc.compile(f"{text}\nschedule s for {target} {{\n {lines}\n}}", target=target)
    assert kernel.verify(trials=3)


def test_read_ahead_in_order() -> None:
    kernel = hbc.compile(FORWARD, target="c", schedule="none")
    x = np.random.default_rng(3).integers(-(1 << 15), 1 << 15, 37).astype(np.int16)
    expected = x - x[np.minimum(np.arange(37) + 2, 36)]
    assert (kernel(x) == expected).all()


@pytest.mark.parametrize("name", ILLEGAL)
def test_refused(name: str) -> None:
    text, lines = ILLEGAL[name]
    with pytest.raises(hbc.HbcError, match=r"aliases .* may overwrite what this reads"):
        hbc.compile(f"{text}\nschedule s for avx2 {{\n {lines}\n}}", target="avx2")


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_calls() -> None:
    kernel, rng = hbc.compile(SOFTMAX), np.random.default_rng(1)
    start = rng.standard_normal((7, 33)).astype(np.float32)
    x = start.copy()
    assert kernel(x) is x
    np.testing.assert_allclose(x, softmax(start), rtol=1e-5)
    x, wide = start.copy(), np.full((7, 40), 9, np.float32)
    assert kernel(x, out=wide[:, :33]).base is wide
    np.testing.assert_allclose(wide[:, :33], softmax(start), rtol=1e-5)
    assert (x == start).all() and (wide[:, 33:] == 9).all()
    assert kernel(X=x, out=x) is x
    np.testing.assert_allclose(x, softmax(start), rtol=1e-5)


def test_refused_calls() -> None:
    kernel = hbc.compile(SOFTMAX)
    x = np.ones((3, 4), np.float32)
    x.flags.writeable = False
    with pytest.raises(hbc.ArgumentError, match="`Y` is read-only"):
        kernel(x)
    with pytest.raises(hbc.ArgumentError, match="f32"):
        kernel(np.ones((3, 4)))
    with pytest.raises(hbc.ArgumentError, match="5 long in dimension 1"):
        kernel(np.ones((3, 4), np.float32), out=np.ones((3, 5), np.float32))


def test_beside_new_and_packed() -> None:
    kernel = hbc.compile("""
size M, N
input A: f32[M, N]
input W: f32[N, N] constant
output S: f32[M, N]
output B: f32[M, N] aliases A
reduce k in N
S[i, j] = 0
S[i, j] += A[i, k] * W[k, j]
B[i, j] = S[i, j] - A[i, j]
""")
    rng = np.random.default_rng(2)
    a, w = (rng.standard_normal(s).astype(np.float32) for s in ((5, 8), (8, 8)))
    for weights in (w, kernel.pack(W=w)):
        given = a.copy()
        found = kernel(given, weights)
        assert found["B"] is given
        np.testing.assert_allclose(found["S"], a @ w, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(given, a @ w - a, rtol=1e-4, atol=1e-5)


def test_one_pointer() -> None:
    """The C function has one parameter for both."""
    kernel = hbc.compile(PAIRS, target="c")
    assert "(int64_t N, double *a, double *b);" in kernel.header
    assert "input `p`, and in its place output a: f64[N]" in kernel.header

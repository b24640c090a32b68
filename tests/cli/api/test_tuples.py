"""Funcs of several values against NumPy, in loops, lanes and threads, kept and computed at each use."""

from collections.abc import Callable

import numpy as np
import pytest

import hbc

SIZES = ((1, 1), (7, 3), (37, 23), (64, 5))
HEAD = """
size N, R
input A: f32[R, N]
require 1 <= R
"""
ARGMAX = (
    HEAD
    + """
output best: f32[N]
output at: i32[N]
reduce r in 1 .. R
(best[x], at[x]) = (A[0, x], 0)
(best[x], at[x]) = select(A[r, x] > best[x], (A[r, x], i32(r)), (best[x], at[x]))
"""
)
INSIDE = (
    HEAD
    + """
output worst: f32[N]
output at: i64[N]
reduce r in R
def least(p, i, q, j) = select(p < q, (p, i), (q, j))
(low[x], place[x]) = (inf, 0)
(low[x], place[x]) = least(A[r, x], r, low[x], place[x]) where r % 2 == 0
(worst[x], at[x]) = (low[x], place[x])
"""
)
WELFORD = (
    HEAD
    + """
output mean: f32[N]
output variance: f32[N]
reduce r in R
(n[x], m[x], s[x]) = (0, 0, 0)
(n[x], m[x], s[x]) = let d = A[r, x] - m[x] in let k = n[x] + 1 in let next = m[x] + d / f32(k) in
                     (k, next, s[x] + d * (A[r, x] - next))
(mean[x], variance[x]) = (m[x], s[x] / f32(R))
"""
)
SOFTMAX = (
    HEAD
    + """
output S: f32[R, N]
reduce r in R
(m[x], s[x]) = (lowest, 0)
(m[x], s[x]) = let t = max(m[x], A[r, x]) in (t, s[x] * exp(m[x] - t) + exp(A[r, x] - t))
S[y, x] = exp(A[y, x] - m[x]) / s[x]
"""
)
COMPLEX = (
    HEAD
    + """
output re: f32[N]
output im: f32[N]
reduce r in R
def times(a, b, c, d) = (a * c - b * d, a * d + b * c)
(re[x], im[x]) = (1, 0)
(re[x], im[x]) = times(re[x], im[x], A[r, x], 1)
"""
)
ROWS = """
size N, R
input A: f32[R, N]
require 1 <= R
output best: f32[R]
output at: i32[R]
output least: f32[R]
output total: i32[R]
reduce c in N
def later(p, i, q, j) = select(q <= p, (p, i), (q, j))
(best[y], at[y]) = (-inf, -1)
(best[y], at[y]) = later(round(A[y, c]), i32(c), best[y], at[y])
(least[y], total[y]) = (inf, 0)
(least[y], total[y]) = (min(least[y], A[y, c]), total[y] + i32(A[y, c] * 10)) where A[y, c] > -2
"""
SORTED = (
    HEAD
    + """
output low: f32[N]
output high: f32[N]
reduce r in R
(p[x], q[x]) = (A[0, x], A[R - 1, x])
(low[x], high[x]) = select(p[x] < q[x], (p[x], q[x]), (q[x], p[x]))
(low[x], high[x]) = (high[x], low[x]) where A[r, x] > 1
"""
)
BUCKETS = (
    HEAD
    + """
output count: i32[N]
output last: i32[N]
reduce r in R, c in N
(count[x], last[x]) = (0, -1)
(count[clamp(i64(A[r, c] * 10), 0, N - 1)], last[clamp(i64(A[r, c] * 10), 0, N - 1)]) = (
    count[clamp(i64(A[r, c] * 10), 0, N - 1)] + 1, i32(r))
"""
)


def argmax(a: np.ndarray) -> tuple[np.ndarray, ...]:
    return a.max(0), a.argmax(0)


def inside(a: np.ndarray) -> tuple[np.ndarray, ...]:
    return a[::2].min(0), a[::2].argmin(0) * 2


def welford(a: np.ndarray) -> tuple[np.ndarray, ...]:
    return a.mean(0, np.float64), a.var(0, np.float64)


def softmax(a: np.ndarray) -> tuple[np.ndarray, ...]:
    e = np.exp(a.astype(np.float64) - a.max(0))
    return (e / e.sum(0),)


def rows(a: np.ndarray) -> tuple[np.ndarray, ...]:
    keys = np.round(a)
    last = a.shape[1] - 1 - keys[:, ::-1].argmax(1)
    live = a > -2
    least = np.where(live, a, np.inf).min(1)
    return keys.max(1), last, least, np.where(live, np.int32(a * np.float32(10)), 0).sum(1)


def product(a: np.ndarray) -> tuple[np.ndarray, ...]:
    z = np.prod(a.astype(np.float64) + 1j, axis=0)
    return z.real, z.imag


def ordered(a: np.ndarray) -> tuple[np.ndarray, ...]:
    low, high = np.minimum(a[0], a[-1]), np.maximum(a[0], a[-1])
    odd = (a > 1).sum(0) % 2 == 1
    return np.where(odd, high, low), np.where(odd, low, high)


def buckets(a: np.ndarray) -> tuple[np.ndarray, ...]:
    columns = a.shape[1]
    count, last = np.zeros(columns, np.int32), np.full(columns, -1, np.int32)
    for r, row in enumerate(a):
        for v in row:
            at = int(np.clip(np.int64(v * np.float32(10)), 0, columns - 1))
            count[at] += 1
            last[at] = r
    return count, last


LANES = (
    "{f}.vectorize(x, 8).parallel(x); "
    "{f}.update.split(x, xo, xi, 8).reorder(xo, r, xi).vectorize(xi).parallel(xo)"
)
CASES: dict[str, tuple[str, Callable[[np.ndarray], tuple[np.ndarray, ...]], tuple[str, ...]]] = {
    "argmax": (ARGMAX, argmax, (LANES.format(f="at"), "best.update.reorder(r, x).vectorize(x, 16)")),
    "inside": (
        INSIDE, inside,
        (
            "worst.vectorize(x, 8).parallel(x); low.compute_at(at, x).vectorize(x, 8)",
            "place.compute_root(); " + LANES.format(f="low"),
        ),
    ),
    "welford": (
        WELFORD, welford,
        (
            "mean.split(x, xo, x, 8, tail = guard).vectorize(x).parallel(xo); s.compute_at(mean, xo)"
            ".store_in(registers).vectorize(x, 8); m.update.reorder(r, x).vectorize(x, 8)",
        ),
    ),
    "softmax": (
        SOFTMAX, softmax,
        ("S.split(x, xo, x, 8).reorder(xo, y, x).vectorize(x); m.compute_at(S, xo).vectorize(x, 8)",),
    ),
    "complex": (COMPLEX, product, (LANES.format(f="im"), "re.update.unroll(r, 4)")),
    "rows": (
        ROWS, rows,
        (
            "at.update.split(c, co, ci, 8).rfactor(ci, u); best_u.compute_at(at.update, y).vectorize(u);"
            "at_u.update.reorder(co, u).vectorize(u);"
            "least.update.split(c, co, ci, 4).rfactor(ci, v); total_v.compute_at(least.update, y)"
            ".store_in(registers).vectorize(v); least_v.update.reorder(co, v).vectorize(v)",
            "best.update.rfactor(c, u).parallel(y); total.update.split(c, co, ci, 5).rfactor(co, v)",
        ),
    ),
    "sorted": (
        SORTED, ordered,
        (
            "low.vectorize(x, 8); high.update.reorder(r, x).vectorize(x, 8)",
            "q.compute_root().vectorize(x, 4)",
        ),
    ),
    "buckets": (BUCKETS, buckets, ("count.vectorize(x, 8)",)),
}  # fmt: skip
ALL = [(name, s) for name, (_, _, schedules) in CASES.items() for s in ("", *schedules)]


@pytest.mark.parametrize("target", ["c", "avx512"])
@pytest.mark.parametrize(("name", "schedule"), ALL)
def test_several_values(name: str, schedule: str, target: str) -> None:
    text, meaning, _ = CASES[name]
    text = f"{text}\nschedule s for {target} {{ {schedule} }}" if schedule else text
    kernel = hbc.compile(text, target=target)
    random = np.random.default_rng(1)
    for n, r in SIZES:
        a = random.uniform(-3, 3, (r, n)).astype(np.float32)
        made = kernel(a)
        made = made.values() if isinstance(made, dict) else (made,)
        for one, expected in zip(made, meaning(a), strict=True):
            if one.dtype.kind == "f":
                atol = 1e-5 * max(1, np.abs(expected).max())
                np.testing.assert_allclose(one, expected, rtol=2e-5, atol=atol)
            else:
                np.testing.assert_array_equal(one, expected)

"""Small linear algebra and numbers in Halide, none of them in its `apps/`: the algorithms of the kernels, in
whole vectors, as its other applications are scheduled."""

from __future__ import annotations

import halide as hl
from peers.image_apps import LANES, Built

i, j, b, r_, s = (hl.Var(name) for name in ("i", "j", "b", "r", "s"))
io, ii, jo, ji = (hl.Var(name) for name in ("io", "ii", "jo", "ji"))


def black_scholes() -> Built:
    """Whole vectors, with Halide's own erf: none in apps/"""
    price, strike, years = (hl.ImageParam(hl.Float(32), 1) for _ in range(3))
    rate, volatility, out = hl.Param(hl.Float(32)), hl.Param(hl.Float(32)), hl.Func("out")

    def normal(v: object) -> object:
        return 0.5 + 0.5 * hl.erf(v * hl.f32(0.5**0.5))

    spread = volatility * hl.sqrt(years[i])
    d = hl.log(price[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]
    d = d / spread
    later = strike[i] * hl.exp(-rate * years[i])
    out[i] = hl.Tuple(
        (
            price[i] * normal(d) - later * normal(d - spread),
            later * normal(spread - d) - price[i] * normal(-d),
        )
    )
    out.split(i, io, i, 4096).parallel(io).vectorize(i, LANES)
    return out, [price, strike, years, rate, volatility]


def triangular_solve(lanes: int = LANES) -> Built:
    """Columns in lanes, a vector at once: none in apps/"""
    a, right, out = hl.ImageParam(hl.Float(32), 2), hl.ImageParam(hl.Float(32), 2), hl.Func("out")
    z, size = hl.Func("z"), a.dim(0).extent()
    r = hl.RDom([(0, size), (0, size)])
    r.where(r.x < r.y)
    z[j, i] = right[j, i]
    z[j, r.y] -= a[r.x, r.y] / a[r.x, r.x] * z[j, r.x]
    out[j, i] = z[j, i] / a[i, i]
    out.split(j, jo, ji, lanes).reorder(ji, i, jo).vectorize(ji, LANES).unroll(ji).parallel(jo)
    z.compute_at(out, jo).vectorize(j, LANES).unroll(j)
    z.update().reorder(j, r.x, r.y).vectorize(j, LANES).unroll(j)
    return out, [a, right]


def wide_triangular_solve() -> Built:
    """The same with 4 vectors at once"""
    return triangular_solve(4 * LANES)


def cholesky(size: int = 8) -> Built:
    """A matrix in each lane, the loops of the matrix unrolled: none in apps/"""
    a, ridge, out = hl.ImageParam(hl.Float(32), 3), hl.Param(hl.Float(32)), hl.Func("out")
    z = hl.Func("z")
    z[b, j, i] = a[b, j, i] + hl.select(i == j, ridge, 0)
    for n in range(size):
        for m in range(n, size):
            for k in range(n):
                z[b, n, m] -= z[b, k, m] * z[b, k, n] / z[b, k, k]
    root = hl.f32(1) / hl.sqrt(z[b, j, j])
    out[b, j, i] = hl.select(j <= i, z[b, j, i] * root, 0)
    out.split(b, io, b, LANES).reorder(b, j, i, io).vectorize(b).unroll(i).unroll(j).parallel(io)
    out.bound(i, 0, size).bound(j, 0, size)
    z.compute_at(out, io).vectorize(b).unroll(i).unroll(j)
    for n in range(z.num_update_definitions()):
        z.update(n).vectorize(b)
    return out, [a, ridge]


def looped_cholesky(size: int = 8) -> Built:
    """A matrix in each lane, in loops: none in apps/"""
    a, ridge, out = hl.ImageParam(hl.Float(32), 3), hl.Param(hl.Float(32)), hl.Func("out")
    z, r = hl.Func("z"), hl.RDom([(0, size), (0, size), (0, size)])
    k, m, n = r.x, r.y, r.z
    r.where((m >= n) & (k < n))
    z[b, j, i] = a[b, j, i] + hl.select(i == j, ridge, 0)
    z[b, n, m] -= z[b, k, m] * z[b, k, n] / z[b, k, k]
    out[b, j, i] = hl.select(j <= i, z[b, j, i] / hl.sqrt(z[b, j, j]), 0)
    out.split(b, io, b, LANES).reorder(b, j, i, io).vectorize(b).parallel(io)
    z.compute_at(out, io).vectorize(b).update().reorder(b, k, m, n).vectorize(b)
    return out, [a, ridge]


def csr_product() -> Built:
    """A row at a time, from its first element to its last: none in apps/"""
    first, column = hl.ImageParam(hl.Int(32), 1), hl.ImageParam(hl.Int(32), 1)
    value, v, out = hl.ImageParam(hl.Float(32), 1), hl.ImageParam(hl.Float(32), 1), hl.Func("out")
    total = hl.Func("total")
    r = hl.RDom([(0, value.dim(0).extent())])
    r.where((r >= first[i]) & (r < first[i + 1]))
    total[i] = hl.f32(0)
    total[i] += value[r] * v[hl.unsafe_promise_clamped(column[r], 0, v.dim(0).max())]
    out[i] = total[i]
    out.split(i, io, i, 64).parallel(io).vectorize(i, LANES)
    total.compute_at(out, io).vectorize(i, LANES).update().unscheduled()
    return out, [first, column, value, v]


def top_k(size: int = 8) -> Built:
    """A row in each lane, as many passes: none in apps/"""
    a, out, best = hl.ImageParam(hl.Float(32), 2), hl.Func("out"), hl.Func("best")
    n = a.dim(0).extent()
    r = hl.RDom([(0, n), (1, size)])
    inf = hl.f32(float("inf"))

    def before(p: object, q: object, v: object, w: object) -> object:
        return (p > v) | ((p == v) & (q < w))

    best[i, s] = hl.Tuple((hl.select(s == 0, inf, -inf), hl.select(s == 0, -1, n)))
    last, sofar, here = best[i, r.y - 1], best[i, r.y], a[r.x, i]
    takes = before(last[0], last[1], here, r.x) & before(here, r.x, sofar[0], sofar[1])
    best[i, r.y] = hl.Tuple((hl.select(takes, here, sofar[0]), hl.select(takes, r.x, sofar[1])))
    out[s, i] = hl.Tuple((best[i, s + 1][0], best[i, s + 1][1]))
    out.bound(s, 0, size).split(i, io, ii, LANES).reorder(s, ii, io).parallel(io).unroll(s)
    best.compute_at(out, io).vectorize(i).update().reorder(i, r.x, r.y).vectorize(i)
    return out, [a]

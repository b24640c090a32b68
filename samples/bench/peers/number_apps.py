"""Kernels of numbers in Halide: `gemv` as its linear algebra schedules it; of the others there is none in its
`apps/`, and schedules are in their manner (rows in lanes of partial sums, strips, inner loops in vectors)."""

from __future__ import annotations

from typing import Any

import halide as hl
from peers.image_apps import LANES, Built

i, j, k, u, io, ii = (hl.Var(name) for name in ("i", "j", "k", "u", "io", "ii"))
x, y, z, c, yo, yi = (hl.Var(name) for name in ("x", "y", "z", "c", "yo", "yi"))


def summed(f: Any, r: Any, at: Any, loop: Any) -> None:
    """A sum (or maximum) of a row in lanes of partial results, computed at a loop."""
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    f.compute_at(at, loop)
    part = f.update().split(r, ro, ri, 4 * LANES).rfactor(ri, u)
    part.compute_at(f, f.args()[0]).vectorize(u, LANES).unroll(u)
    part.update().reorder(u, ro).vectorize(u, LANES).unroll(u)


def gemv() -> Built:
    """linear_algebra's: blocks of rows, partial sums in lanes"""
    a, v, y0 = (
        hl.ImageParam(hl.Float(32), 2),
        hl.ImageParam(hl.Float(32), 1),
        hl.ImageParam(hl.Float(32), 1),
    )
    alpha, beta, out = hl.Param(hl.Float(32)), hl.Param(hl.Float(32)), hl.Func("out")
    size, total = a.dim(0).extent(), hl.Func("total")
    r = hl.RDom([(0, size // LANES)])
    total[u, i] = hl.f32(0)
    total[u, i] += a[r * LANES + u, i] * v[r * LANES + u]
    ru, whole = hl.RDom([(0, LANES)]), hl.Func("whole")
    whole[i] = hl.f32(0)
    whole[i] += total[ru, i]
    tail, rt = hl.Func("tail"), hl.RDom([(size // LANES * LANES, size % LANES)])
    tail[i] = whole[i]
    tail[i] += a[rt, i] * v[rt]
    out[i] = alpha * tail[i] + beta * y0[i]
    out.split(i, io, ii, 8).parallel(io).vectorize(ii)
    total.compute_at(out, io).vectorize(u).unroll(i)
    total.update().reorder(u, i, r).vectorize(u).unroll(i)
    whole.compute_at(out, io).vectorize(i)
    whole.update().reorder(i, ru).vectorize(i).unroll(ru)
    tail.compute_at(out, io).vectorize(i)
    tail.update().reorder(i, rt).vectorize(i)
    return out, [a, v, y0, alpha, beta]


def softmax() -> Built:
    """Rows, partial results in lanes: none in apps/"""
    a, out = hl.ImageParam(hl.Float(32), 2), hl.Func("out")
    r, top, e, total = (
        hl.RDom([(0, a.dim(0).extent())]),
        hl.Func("top"),
        hl.Func("e"),
        hl.Func("total"),
    )
    top[i] = hl.f32(-3.4e38)
    top[i] = hl.max(top[i], a[r, i])
    e[j, i] = hl.exp(a[j, i] - top[i])
    total[i] = hl.f32(0)
    total[i] += e[r, i]
    out[j, i] = e[j, i] / total[i]
    out.parallel(i).vectorize(j, LANES)
    e.compute_at(out, i).vectorize(j, LANES)
    summed(top, r, out, i)
    summed(total, r, out, i)
    return out, [a]


def layernorm() -> Built:
    """Rows, partial results in lanes: none in apps/"""
    a, out = hl.ImageParam(hl.Float(32), 2), hl.Func("out")
    gain, shift = hl.ImageParam(hl.Float(32), 1), hl.ImageParam(hl.Float(32), 1)
    size = a.dim(0).extent()
    r, mean, variance = hl.RDom([(0, size)]), hl.Func("mean"), hl.Func("variance")
    mean[i] = hl.f32(0)
    mean[i] += a[r, i]
    away = a[r, i] - mean[i] / hl.f32(size)
    variance[i] = hl.f32(0)
    variance[i] += away * away
    scale = hl.Func("scale")
    scale[i] = 1 / hl.sqrt(variance[i] / hl.f32(size) + hl.f32(1e-5))
    out[j, i] = (a[j, i] - mean[i] / hl.f32(size)) * scale[i] * gain[j] + shift[j]
    out.parallel(i).vectorize(j, LANES)
    scale.compute_at(out, i)
    summed(mean, r, out, i)
    summed(variance, r, out, i)
    return out, [a, gain, shift]


def rmsnorm() -> Built:
    """Rows, partial results in lanes: none in apps/"""
    a, gain, out = hl.ImageParam(hl.Float(32), 2), hl.ImageParam(hl.Float(32), 1), hl.Func("out")
    size = a.dim(0).extent()
    r, total, scale = hl.RDom([(0, size)]), hl.Func("total"), hl.Func("scale")
    total[i] = hl.f32(0)
    total[i] += a[r, i] * a[r, i]
    scale[i] = 1 / hl.sqrt(total[i] / hl.f32(size) + hl.f32(1e-6))
    out[j, i] = a[j, i] * scale[i] * gain[j]
    out.parallel(i).vectorize(j, LANES)
    scale.compute_at(out, i)
    summed(total, r, out, i)
    return out, [a, gain]


def rotary() -> Built:
    """Whole vectors, angles once a row: none in apps/"""
    a, base, out = hl.ImageParam(hl.Float(32), 4), hl.Param(hl.Float(32)), hl.Func("out")
    cosine, sine = hl.Func("cosine"), hl.Func("sine")
    angle = hl.f32(y) * hl.exp(-hl.log(base) * hl.f32(x) / hl.f32(a.dim(0).extent()))
    cosine[x, y] = hl.cos(angle)
    sine[x, y] = hl.sin(angle)
    other = hl.select(c == 0, hl.f32(-1), hl.f32(1)) * a[x, 1 - c, z, y]
    out[x, c, z, y] = a[x, c, z, y] * cosine[x, y] + other * sine[x, y]
    out.bound(c, 0, 2).unroll(c).parallel(y).vectorize(x, LANES)
    cosine.compute_at(out, y).vectorize(x, LANES)
    sine.compute_at(out, y).vectorize(x, LANES)
    return out, [a, base]


def n_body() -> Built:
    """Bodies in lanes, 4 vectors at once: none in apps/"""
    a, mass = hl.ImageParam(hl.Float(32), 2), hl.ImageParam(hl.Float(32), 1)
    soft, out, total = hl.Param(hl.Float(32)), hl.Func("out"), hl.Func("total")
    r = hl.RDom([(0, a.dim(0).extent())])
    away = [a[r, m] - a[i, m] for m in range(3)]
    d2 = away[0] * away[0] + away[1] * away[1] + away[2] * away[2] + soft * soft
    pull = mass[r] / (d2 * hl.sqrt(d2))
    total[i] = hl.Tuple((hl.f32(0), hl.f32(0), hl.f32(0)))
    total[i] = hl.Tuple(tuple(total[i][m] + away[m] * pull for m in range(3)))
    out[i, c] = hl.mux(c, [total[i][m] for m in range(3)])
    out.bound(c, 0, 3).split(i, io, ii, 2 * LANES).reorder(ii, c, io).unroll(c).parallel(io)
    out.vectorize(ii, LANES)
    total.compute_at(out, io).vectorize(i, LANES).unroll(i)
    total.update().reorder(i, r).vectorize(i, LANES).unroll(i)
    return out, [a, mass, soft]


def mandelbrot(steps: int = 64) -> Built:
    """Whole vectors, all steps: Halide has no early end of a vector; none in apps/"""
    left, top, pitch = (hl.Param(hl.Float(32)) for _ in range(3))
    f, out = hl.Func("f"), hl.Func("out")
    r = hl.RDom([(0, steps)])
    cx, cy = left + hl.f32(x) * pitch, top - hl.f32(y) * pitch
    f[x, y] = hl.Tuple((hl.i32(0), hl.f32(0), hl.f32(0)))
    count, re, im = (f[x, y][m] for m in range(3))
    on = (re * re + im * im <= 4) & (r >= 0)
    f[x, y] = hl.Tuple(
        (
            hl.select(on, count + 1, count),
            hl.select(on, re * re - im * im + cx, re),
            hl.select(on, 2 * re * im + cy, im),
        )
    )
    out[x, y] = f[x, y][0]
    out.parallel(y).vectorize(x, LANES)
    f.compute_at(out, x).vectorize(x)
    f.update().reorder(x, r).vectorize(x)
    return out, [left, top, pitch]


def jacobi(steps: int = 8) -> Built:
    """Strips of 128 rows, all steps: none in apps/"""
    b, start, out = hl.ImageParam(hl.Float(32), 2), hl.ImageParam(hl.Float(32), 2), hl.Func("out")
    width, height = b.dim(0).extent(), b.dim(1).extent()
    edge = hl.BoundaryConditions.constant_exterior(start, hl.f32(0))
    inner = hl.BoundaryConditions.constant_exterior(b, hl.f32(0))
    last = hl.Func("u0")
    last[x, y] = edge[x, y]
    kept = []
    for step in range(1, steps + 1):
        near, f = hl.Func(f"near{step}"), hl.Func(f"u{step}")
        there = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        near[x, y] = hl.select(there, last[x, y], hl.f32(0))
        around = near[x, y - 1] + near[x, y + 1] + near[x - 1, y] + near[x + 1, y]
        f[x, y] = hl.f32(0.25) * (around - inner[x, y])
        kept.append(near)
        last = f
    out[x, y] = last[x, y]
    out.split(y, yo, yi, 128).parallel(yo).vectorize(x, LANES)
    for f in kept:
        f.compute_at(out, yo).vectorize(x, LANES)
    return out, [b, start]


def heat_3d(steps: int = 4) -> Built:
    """Each step whole, in whole vectors: none in apps/"""
    a, rate, out = hl.ImageParam(hl.Float(32), 3), hl.Param(hl.Float(32)), hl.Func("out")
    ends = [a.dim(m).extent() - 1 for m in range(3)]
    last = hl.Func("u0")
    last[x, y, z] = hl.BoundaryConditions.repeat_edge(a)[x, y, z]
    for step in range(1, steps + 1):
        near, f = hl.Func(f"near{step}"), hl.Func(f"u{step}")
        places = [hl.clamp(v, 0, end) for v, end in zip((x, y, z), ends, strict=True)]
        near[x, y, z] = last[places[0], places[1], places[2]]
        around = near[x, y, z - 1] + near[x, y, z + 1] + near[x, y - 1, z] + near[x, y + 1, z]
        around = around + near[x - 1, y, z] + near[x + 1, y, z] - 6 * near[x, y, z]
        f[x, y, z] = near[x, y, z] + rate * around
        if step < steps:
            f.compute_root().parallel(z).vectorize(x, LANES)
        last = f
    out[x, y, z] = last[x, y, z]
    out.parallel(z).vectorize(x, LANES)
    return out, [a, rate]

"""Bilateral guided upsampling in Halide as its apps/bgu schedules it for processors, the fit that of bgu.hb:
a peer of apps.py."""

from __future__ import annotations

from typing import Any

import halide as hl
from peers.image_apps import LANES, Built, edged

x, y, z, c = (hl.Var(name) for name in "xyzc")


def bgu(lanes: int = 8, up: int = 8, side: int = 16, bins: int = 8, pull: float = 1e-6) -> Built:
    """apps/bgu with its own vectors of 8, the fit by elimination"""
    small, done, large = (hl.ImageParam(hl.Float(32), 3) for _ in range(3))
    grid, deep, wide, high, line = (hl.Func(v) for v in ("grid", "deep", "wide", "high", "line"))
    rows, mixed, grey, out = (hl.Func(v) for v in ("rows", "mixed", "grey", "out"))
    a, b = edged(small), edged(done)

    def brightness(f: Any, p: Any, q: Any) -> Any:
        total = hl.f32(0.25) * f[p, q, 0] + hl.f32(0.5) * f[p, q, 1] + hl.f32(0.25) * f[p, q, 2]
        return hl.clamp(total, 0, 1) * hl.f32(bins)

    grey[x, y] = brightness(a, x, y)
    r = hl.RDom([(0, side), (0, side)])
    p, q = x * side + r.x - side // 2, y * side + r.y - side // 2
    one = [a[p, q, 0], a[p, q, 1], a[p, q, 2], hl.f32(1)]
    pairs = [(i, j) for i in range(4) for j in range(i, 4)]
    terms = [one[i] * one[j] for i, j in pairs] + [v * b[p, q, j] for j in range(3) for v in one]
    grid[x, y, z, c] = hl.f32(0)
    at = hl.clamp(hl.i32(grey[p, q] + hl.f32(0.5)), 0, bins)
    grid[x, y, at, c] += hl.mux(c, terms)

    def binomial(v: list[Any]) -> Any:
        return v[0] + 4 * v[1] + 6 * v[2] + 4 * v[3] + v[4]

    steps = range(-2, 3)
    deep[x, y, z, c] = binomial([grid[x, y, z + i, c] for i in steps])
    wide[x, y, z, c] = binomial([deep[x, y + i, z, c] for i in steps])
    high[x, y, z, c] = binomial([wide[x + i, y, z, c] for i in steps])

    line[x, y, z, c] = hl.mux(c, eliminated(lambda n: high[x, y, z, n], pairs, pull))

    cell = side * up
    fy, fx = hl.f32(y % cell) / cell, hl.f32(x % cell) / cell
    rows[x, y, z, c] = hl.lerp(line[x, y // cell, z, c], line[x, y // cell + 1, z, c], fy)

    def cells(level: Any) -> Any:
        return hl.lerp(rows[x // cell, y, level, c], rows[x // cell + 1, y, level, c], fx)

    level = brightness(large, x, y)
    low = hl.clamp(hl.i32(level), 0, bins - 1)
    mixed[x, y, c] = hl.lerp(cells(low), cells(low + 1), level - low)
    out[x, y, c] = (
        mixed[x, y, 4 * c] * large[x, y, 0]
        + mixed[x, y, 4 * c + 1] * large[x, y, 1]
        + mixed[x, y, 4 * c + 2] * large[x, y, 2]
        + mixed[x, y, 4 * c + 3]
    )

    grid.compute_at(deep, y).update().reorder(c, r.x, r.y, x, y).unroll(c)
    grey.compute_at(deep, y).vectorize(x, lanes)
    deep.compute_root().reorder(c, z, x, y).parallel(y).vectorize(x, lanes)
    wide.compute_at(line, z).hoist_storage(line, y).vectorize(x, lanes)
    high.compute_at(line, x).vectorize(x)
    line.compute_root().parallel(y).vectorize(x, lanes).reorder(c, x, y).unroll(c)
    line.bound(c, 0, 12)
    rows.compute_root().parallel(c).parallel(z).vectorize(x, lanes)
    mixed.store_at(out, x).compute_at(out, c).reorder(c, x, y).unroll(c).vectorize(x)
    out.parallel(y).vectorize(x, lanes).reorder(c, x, y).bound(c, 0, 3).unroll(c)
    return out, [small, done, large]


def eliminated(sums: Any, pairs: list[tuple[int, int]], pull: float) -> list[Any]:
    """The affine map of colours that fits sums of products best: 4 numbers for each of 3 colours."""
    a = [[sums(pairs.index((min(i, j), max(i, j)))) for j in range(4)] for i in range(4)]
    a = [[*row, *(sums(10 + 4 * j + i) for j in range(3))] for i, row in enumerate(a)]
    little = hl.f32(pull) * (a[3][3] + 1)
    gains = [(a[3][4 + i] + little) / (a[3][i] + little) for i in range(3)]
    for i in range(4):
        a[i][i] = a[i][i] + little
    for i in range(3):
        a[i][4 + i] = a[i][4 + i] + little * gains[i]
    for n in range(4):
        pivot = a[n]
        a = [
            row if i == n else [v - row[n] / pivot[n] * w for v, w in zip(row, pivot, strict=True)]
            for i, row in enumerate(a)
        ]
    return [a[i][4 + j] / a[i][i] for j in range(3) for i in range(4)]


def wide_bgu() -> Built:
    """The same with whole vectors"""
    return bgu(LANES)

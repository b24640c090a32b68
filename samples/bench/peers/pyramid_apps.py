"""Pyramids in Halide with the schedules of its `apps/` for processors: peers of apps.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import halide as hl
from peers.image_apps import LANES, Built, edged

x, y, c, xi, xo, yi, yo = (hl.Var(name) for name in ("x", "y", "c", "xi", "xo", "yi", "yo"))


def interpolate(bordered: Sequence[int] = (3,), levels: int = 10) -> Built:
    """apps/interpolate: a border at the third level alone"""
    a, out = hl.ImageParam(hl.Float(32), 3), hl.Func("out")
    width, height = a.dim(0).extent(), a.dim(1).extent()

    def funcs(name: str) -> list[Any]:
        return [hl.Func(f"{name}{n}") for n in range(levels)]

    down, across, filled, up, wide = map(funcs, ("down", "across", "filled", "up", "wide"))
    edge = edged(a)
    down[0][x, y, c] = hl.select(c < 3, edge[x, y, c] * edge[x, y, 3], edge[x, y, 3])

    def finer(n: int) -> Any:
        """What the next level is made of: this one, its border repeated where it has one."""
        if n not in bordered:
            return down[n]
        f = hl.Func(f"edged{n}")
        i, j = (hl.clamp(hl.likely(v), 0, (e - 1) // 2**n) for v, e in ((x, width), (y, height)))
        f[x, y, c] = down[n][i, j, c]
        return f

    finer_levels = [finer(0)]
    for n in range(1, levels):
        f, g = finer_levels[-1], across[n]
        g[x, y, c] = (f[2 * x - 1, y, c] + 2 * f[2 * x, y, c] + f[2 * x + 1, y, c]) * 0.25
        down[n][x, y, c] = (g[x, 2 * y - 1, c] + 2 * g[x, 2 * y, c] + g[x, 2 * y + 1, c]) * 0.25
        finer_levels.append(finer(n))
    filled[-1][x, y, c] = finer_levels[-1][x, y, c]
    for n in reversed(range(levels - 1)):
        f, g = filled[n + 1], wide[n]
        g[x, y, c] = (f[x // 2, y, c] + f[(x + 1) // 2, y, c]) / 2
        up[n][x, y, c] = (g[x, y // 2, c] + g[x, (y + 1) // 2, c]) / 2
        d = finer_levels[n]
        filled[n][x, y, c] = d[x, y, c] + (1 - d[x, y, 3]) * up[n][x, y, c]
    out[x, y, c] = filled[0][x, y, c] / filled[0][x, y, 3]

    for f in down[1:-1]:
        f.compute_root().never_partition([x]).reorder(x, c, y).split(y, yo, yi, 8).parallel(yo)
        f.vectorize(x, LANES)
    first = down[0].clone_in(across[1])
    first.store_at(down[1], yo).compute_at(down[1], yi).reorder(c, x, y).unroll(c)
    first.vectorize(x, LANES).never_partition([y])
    out.bound(x, 0, width).bound(y, 0, height).bound(c, 0, 3).never_partition([y])
    out.split(x, xo, xi, LANES).split(y, yo, yi, 32).reorder(xi, c, xo, yi, yo).unroll(c)
    out.vectorize(xi).parallel(yo)
    for f in filled[1:]:
        f.store_at(out, yo).compute_at(out, yi).never_partition_all().vectorize(x, LANES)
    return out, [a]


def bordered_interpolate() -> Built:
    """The same with a border at each level, as in interpolate.hb"""
    return interpolate(range(1, 10))

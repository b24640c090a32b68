"""A block of a residual network in Halide, a peer of apps.py: each of its convolutions as apps/conv_layer is
scheduled."""

from __future__ import annotations

from typing import Any

import halide as hl
from peers.image_apps import LANES, Built

c, x, y, n = (hl.Var(name) for name in "cxyn")
co, ci, xo, xi = (hl.Var(name) for name in ("co", "ci", "xo", "xi"))


def convolved(
    out: Any, total: Any, weight: Any, r: Any, source: Any, tile: tuple[int, int]
) -> None:
    """Tiles of so many vectors of channels and so many pixels stay in registers."""
    wide, pixels = tile
    out.split(c, co, ci, wide * LANES).split(x, xo, xi, pixels, hl.TailStrategy.ShiftInwards)
    out.reorder(ci, xi, xo, y, co, n).vectorize(ci, LANES).unroll(ci).unroll(xi)
    total.compute_at(out, xo).vectorize(c, LANES).unroll(c).unroll(x)
    loops = [c, x, *(r[i] for i in range(r.dimensions()))]
    update = total.update().reorder(*loops, y, n).vectorize(c, LANES).unroll(c).unroll(x)
    update.unroll(r[0], 2)


def resnet_block(tile: tuple[int, int] = (4, 6)) -> Built:
    """apps/conv_layer's tiles, with 6 pixels, for each convolution"""
    a, f, e = (
        hl.ImageParam(hl.Float(32), 4),
        hl.ImageParam(hl.Float(32), 2),
        hl.ImageParam(hl.Float(32), 2),
    )
    g, norms = hl.ImageParam(hl.Float(32), 4), [hl.ImageParam(hl.Float(32), 2) for _ in range(3)]
    narrow, near, broad, first, edge, second, out = (hl.Func() for _ in range(7))
    deep, thin = a.dim(0).extent(), f.dim(0).extent()
    wide, high = a.dim(1).extent(), a.dim(2).extent()

    def normed(v: Any, w: Any) -> Any:
        return v * w[c, 0] + w[c, 1]

    r1, r3 = hl.RDom([(0, deep)]), hl.RDom([(0, thin), (0, 3), (0, 3)])
    r2 = hl.RDom([(0, thin)])
    narrow[c, x, y, n] = hl.f32(0)
    narrow[c, x, y, n] += f[c, r1] * a[r1, x, y, n]
    first[c, x, y, n] = hl.max(normed(narrow[c, x, y, n], norms[0]), 0)
    there = (x >= 0) & (x < wide) & (y >= 0) & (y < high)
    inside = first[c, hl.clamp(x, 0, wide - 1), hl.clamp(y, 0, high - 1), n]
    edge[c, x, y, n] = hl.select(there, inside, hl.f32(0))
    near[c, x, y, n] = hl.f32(0)
    near[c, x, y, n] += g[c, r3.x, r3.y, r3.z] * edge[r3.x, x + r3.y - 1, y + r3.z - 1, n]
    second[c, x, y, n] = hl.max(normed(near[c, x, y, n], norms[1]), 0)
    broad[c, x, y, n] = hl.f32(0)
    broad[c, x, y, n] += e[c, r2] * second[r2, x, y, n]
    out[c, x, y, n] = hl.max(normed(broad[c, x, y, n], norms[2]) + a[c, x, y, n], 0)
    convolved(out, broad, e, r2, second, tile)
    convolved(second, near, g, r3, edge, tile)
    convolved(first, narrow, f, r1, a, tile)
    out.parallel(n)
    second.compute_root()
    first.compute_root()
    edge.compute_root().vectorize(c, LANES)
    return out, [a, f, g, e, *norms]

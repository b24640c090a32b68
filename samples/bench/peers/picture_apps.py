"""More pictures in Halide, peers of apps.py: those of its `apps/` have their schedules for processors."""

from __future__ import annotations

from typing import Any

import halide as hl
from peers.image_apps import LANES, Built, edged

x, y, k, c, n, d = (hl.Var(name) for name in "xykcnd")
xi, yi, xo, yo, t, di, b = (hl.Var(name) for name in ("xi", "yi", "xo", "yo", "t", "di", "b"))


def local_laplacian(lanes: int = 8, levels: int = 8, remaps: int = 8) -> Built:
    """apps/local_laplacian: 8 lanes there; grey, remapped by exp"""
    a, out = hl.ImageParam(hl.Float(32), 2), hl.Func("out")

    def funcs(name: str) -> list[Any]:
        return [hl.Func(f"{name}{j}") for j in range(levels)]

    g, i, p, o, r = map(funcs, "giopr")
    grey, edge = hl.Func("grey"), edged(a)
    grey[x, y] = edge[x, y]
    level = hl.f32(k) / (remaps - 1)
    fx = (grey[x, y] - level) * (remaps - 1)
    g[0][x, y, k] = grey[x, y] + 0.125 * fx * hl.exp(-fx * fx / 2)
    i[0][x, y] = grey[x, y]
    for j in range(1, levels):
        f, across = g[j - 1], hl.Func()
        total = f[2 * x, 2 * y, k] + f[2 * x + 1, 2 * y, k]
        g[j][x, y, k] = (total + f[2 * x, 2 * y + 1, k] + f[2 * x + 1, 2 * y + 1, k]) / 4
        f = i[j - 1]
        across[x, y] = (f[2 * x - 1, y] + 3 * (f[2 * x, y] + f[2 * x + 1, y]) + f[2 * x + 2, y]) / 8
        f = across
        i[j][x, y] = (f[x, 2 * y - 1] + 3 * (f[x, 2 * y] + f[x, 2 * y + 1]) + f[x, 2 * y + 2]) / 8
    p[-1][x, y, k] = g[-1][x, y, k]
    for j in range(levels - 1):
        f = g[j + 1]
        finer = (3 * f[x // 2, y // 2, k] + f[(x + 1) // 2, (y + 1) // 2, k]) / 4
        p[j][x, y, k] = g[j][x, y, k] - finer
    for j in range(levels):
        v = hl.clamp(i[j][x, y], 0, 1) * hl.f32(remaps - 1)
        at = hl.clamp(hl.i32(v), 0, remaps - 2)
        o[j][x, y] = (1 - (v - at)) * p[j][x, y, at] + (v - at) * p[j][x, y, at + 1]
    r[-1][x, y] = o[-1][x, y]
    for j in reversed(range(levels - 1)):
        f, wide = r[j + 1], hl.Func()
        wide[x, y] = (f[x // 2 - 1 + 2 * (x % 2), y] + 3 * f[x // 2, y]) / 4
        r[j][x, y] = (wide[x, y // 2 - 1 + 2 * (y % 2)] + 3 * wide[x, y // 2]) / 4 + o[j][x, y]
    out[x, y] = r[0][x, y]

    out.split(y, yo, y, 64).parallel(yo).vectorize(x, lanes)
    grey.compute_root().never_partition([y]).parallel(y, 32).vectorize(x, lanes)
    for j in range(1, 5):
        i[j].compute_root().parallel(y, 32).vectorize(x, lanes)
        g[j].compute_root().reorder_storage(x, k, y).reorder(k, y).split(y, yo, y, 8)
        g[j].parallel(yo).vectorize(x, lanes)
        r[j].store_at(out, yo).compute_at(out, y).fold_storage(y, 4)
        r[j].vectorize(x, lanes, hl.TailStrategy.RoundUp)
        if j > 1:
            i[j].never_partition_all()
            g[j].never_partition_all()
    first = g[0].clone_in(g[1])
    first.store_at(g[1], yo).compute_at(g[1], y).vectorize(x, lanes)
    r[0].compute_at(out, y).hoist_storage(out, yo).vectorize(x, lanes, hl.TailStrategy.RoundUp)
    for j in range(5, levels):
        i[j].compute_root()
        g[j].compute_root().parallel(k)
        r[j].compute_root()
    return out, [a]


def wide_local_laplacian() -> Built:
    """The same with whole vectors"""
    return local_laplacian(LANES)


def iir_blur() -> Built:
    """apps/iir_blur: the columns of a grey picture, not transposed"""
    a, alpha, out = hl.ImageParam(hl.Float(32), 2), hl.Param(hl.Float(32)), hl.Func("out")
    blur, height = hl.Func("blur"), a.dim(1).extent()
    ry = hl.RDom([(1, height - 1)])
    flip = height - ry - 1
    blur[x, y] = hl.undef(hl.Float(32))
    blur[x, 0] = a[x, 0]
    blur[x, ry] = (1 - alpha) * blur[x, ry - 1] + alpha * a[x, ry]
    blur[x, flip] = (1 - alpha) * blur[x, flip + 1] + alpha * blur[x, flip]
    out[x, y] = blur[x, y]
    out.compute_root().tile(x, y, xo, yo, x, y, LANES, LANES * 4).reorder(x, y, yo, xo)
    out.vectorize(x).parallel(xo)
    blur.compute_at(out, xo)
    blur.update(0).unscheduled()
    for step in (1, 2):
        blur.update(step).reorder(x, ry).vectorize(x)
    return out, [a, alpha]


def hist() -> Built:
    """apps/hist: planes, and luma added to all colours alike"""
    a, out = hl.ImageParam(hl.UInt(8), 3), hl.Func("out")
    luma, rows, total, cdf, scaled = (
        hl.Func(v) for v in ("luma", "rows", "total", "cdf", "scaled")
    )
    width, height = a.dim(0).extent(), a.dim(1).extent()
    luma[x, y] = (
        hl.f32(0.299) * a[x, y, 0] + hl.f32(0.587) * a[x, y, 1] + hl.f32(0.114) * a[x, y, 2]
    )

    def bin_of(i: Any) -> Any:
        return hl.u8(hl.round(hl.clamp(luma[i, y], 0, 255)))

    rx, ry, rb = hl.RDom([(0, width)]), hl.RDom([(0, height)]), hl.RDom([(1, 255)])
    rows[x, y] = 0
    rows[hl.i32(bin_of(rx)), y] += 1
    total[x] = 0
    total[x] += rows[x, ry]
    cdf[x] = total[0]
    cdf[rb.x] = cdf[rb.x - 1] + total[rb.x]
    scaled[x, y] = hl.f32(cdf[hl.i32(bin_of(x))]) * 255 / hl.f32(height * width)
    value = hl.f32(a[x, y, c]) - luma[x, y] + scaled[x, y]
    out[x, y, c] = hl.u8(hl.round(hl.clamp(value, 0, 255)))

    cdf.bound(x, 0, 256)
    wrapped = rows.in_()
    luma.clone_in(rows).compute_at(wrapped, y).vectorize(x, LANES)
    wrapped.compute_root().vectorize(x, LANES).parallel(y, 4)
    rows.compute_at(wrapped, y).vectorize(x, LANES)
    rows.update().reorder(y, rx).unroll(y)
    total.compute_root().vectorize(x, LANES)
    total.update().reorder(x, ry).vectorize(x, LANES).unroll(x, 4).parallel(x).reorder(ry, x)
    cdf.compute_root().update().unscheduled()
    out.reorder(c, x, y).bound(c, 0, 3).unroll(c).parallel(y, 8).vectorize(x, 2 * LANES)
    return out, [a]


def depthwise_separable_conv() -> Built:
    """apps/depthwise_separable_conv, one channel for each"""
    a, out = hl.ImageParam(hl.Float(32), 4), hl.Func("out")
    f, p = hl.ImageParam(hl.Float(32), 3), hl.ImageParam(hl.Float(32), 2)
    bias = hl.ImageParam(hl.Float(32), 1)
    edge, deep, flat = hl.Func("edge"), hl.Func("deep"), hl.Func("flat")
    w, h = a.dim(1), a.dim(2)
    there = (x >= 0) & (x < w.extent()) & (y >= 0) & (y < h.extent())
    inside = a[d, hl.clamp(x, 0, w.max()), hl.clamp(y, 0, h.max()), b]
    edge[d, x, y, b] = hl.select(there, inside, hl.f32(0))
    r = hl.RDom([(0, f.dim(1).extent()), (0, f.dim(2).extent())])
    deep[d, x, y, b] = hl.f32(0)
    deep[d, x, y, b] += f[d, r.x, r.y] * edge[d, x + r.x - 1, y + r.y - 1, b]
    rc, ro, ri = hl.RDom([(0, p.dim(1).extent())]), hl.RVar("ro"), hl.RVar("ri")
    flat[d, x, y, b] = bias[d]
    flat[d, x, y, b] += p[d, rc] * deep[rc, x, y, b]
    out[d, x, y, b] = hl.max(flat[d, x, y, b], 0)

    wide, high, depth = (6, 4, LANES) if LANES == 16 else (3, 2, 2 * LANES)
    out.split(d, d, di, depth).split(x, x, xi, wide).split(y, y, yi, high).reorder(
        di, xi, yi, d, x, y
    )
    out.vectorize(di).unroll(xi).unroll(yi).fuse(y, b, b).parallel(b)
    flat.compute_at(out, d).vectorize(d).unroll(x).unroll(y)
    flat.update().reorder(d, x, y, rc, b).vectorize(d).unroll(x).unroll(y).split(rc, ro, ri, depth)
    deep.store_in(hl.MemoryType.Stack).bound_extent(d, depth).compute_at(flat, ro)
    deep.vectorize(d).reorder(x, y, d).unroll(x).unroll(y)
    deep.update().vectorize(d).reorder(x, y, d, r.x, r.y, b).unroll(x).unroll(y)
    edge.store_in(hl.MemoryType.Stack).compute_at(flat, ro)
    edge.tile(d, x, di, xi, LANES, 4, hl.TailStrategy.RoundUp).vectorize(di).unroll(xi)
    special = (p.dim(1).extent() % 32 == 0) & (f.dim(1).extent() == 3) & (f.dim(2).extent() == 3)
    out.specialize(special)
    return out, [a, f, p, bias]


def sobel() -> Built:
    """Strips of rows of whole vectors: none in apps/"""
    a, out, p = hl.ImageParam(hl.Float(32), 2), hl.Func("out"), hl.Func("p")
    p[x, y] = edged(a)[x, y]

    def slope(f: Any) -> Any:
        return f(1, -1) - f(-1, -1) + 2 * (f(1, 0) - f(-1, 0)) + f(1, 1) - f(-1, 1)

    gx = slope(lambda i, j: p[x + i, y + j])
    gy = slope(lambda i, j: p[x + j, y + i])
    out[x, y] = hl.sqrt(gx * gx + gy * gy)
    out.split(y, y, yi, 32).parallel(y).vectorize(x, LANES)
    p.store_at(out, y).compute_at(out, yi).vectorize(x, LANES)
    return out, [a]


def median() -> Built:
    """Strips of rows of whole vectors: none in apps/"""
    a, out = hl.ImageParam(hl.UInt(8), 2), hl.Func("out")
    e = edged(a)

    def middle(p: Any, q: Any, r: Any) -> Any:
        return hl.max(hl.min(p, q), hl.min(hl.max(p, q), r))

    column = [e[x, y - 1], e[x, y], e[x, y + 1]]
    low, mid, high = hl.Func("low"), hl.Func("mid"), hl.Func("high")
    low[x, y] = hl.min(column[0], hl.min(column[1], column[2]))
    mid[x, y] = middle(*column)
    high[x, y] = hl.max(column[0], hl.max(column[1], column[2]))
    three = [[f[x + i, y] for i in (-1, 0, 1)] for f in (low, mid, high)]
    lowest = hl.max(three[0][0], hl.max(three[0][1], three[0][2]))
    highest = hl.min(three[2][0], hl.min(three[2][1], three[2][2]))
    out[x, y] = middle(lowest, middle(*three[1]), highest)
    out.split(y, y, yi, 32).parallel(y).vectorize(x, 4 * LANES)
    for f in (low, mid, high):
        f.compute_at(out, yi).vectorize(x, 4 * LANES)
    return out, [a]


def canny(steps: int = 8) -> Built:
    """Strips of 32 rows, ranks at once for the whole picture: none in apps/"""
    a, out = hl.ImageParam(hl.Float(32), 2), hl.Func("out")
    low, high = hl.Param(hl.Float(32)), hl.Param(hl.Float(32))
    p, rows, soft, gx, gy, g2, rank = (hl.Func() for _ in range(7))
    width, height = a.dim(0).extent(), a.dim(1).extent()
    p[x, y] = edged(a)[x, y]

    def five(f: Any) -> Any:
        return (f(-2) + 4 * f(-1) + 6 * f(0) + 4 * f(1) + f(2)) / 16

    rows[x, y] = five(lambda i: p[x + i, y])
    soft[x, y] = five(lambda i: rows[x, y + i])

    def slope(f: Any) -> Any:
        return f(1, -1) - f(-1, -1) + 2 * (f(1, 0) - f(-1, 0)) + f(1, 1) - f(-1, 1)

    gx[x, y] = slope(lambda i, j: soft[x + i, y + j])
    gy[x, y] = slope(lambda i, j: soft[x + j, y + i])
    g2[x, y] = gx[x, y] * gx[x, y] + gy[x, y] * gy[x, y]

    def greatest(i: int, j: int) -> Any:
        return (g2[x, y] > g2[x - i, y - j]) & (g2[x, y] >= g2[x + i, y + j])

    across, along = hl.abs(gx[x, y]), hl.abs(gy[x, y])
    tangent = hl.f32(0.41421356)
    turned = hl.select(gx[x, y] * gy[x, y] > 0, greatest(1, 1), greatest(-1, 1))
    upright = hl.select(across <= tangent * along, greatest(0, 1), turned)
    thin = hl.select(along <= tangent * across, greatest(1, 0), upright)
    strong = hl.select(g2[x, y] <= high * high, hl.u8(1), hl.u8(2))
    rank[x, y] = hl.select(~thin | (g2[x, y] <= low * low), hl.u8(0), strong)
    there = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    kept, last, stages = hl.Func("kept"), hl.Func("on"), []
    inside = rank[hl.clamp(x, 0, width - 1), hl.clamp(y, 0, height - 1)]
    kept[x, y] = hl.select(there, inside, hl.u8(0))
    last[x, y] = hl.select(kept[x, y] == 2, hl.u8(255), hl.u8(0))
    for _ in range(steps):
        stages.append(last)
        grown, near = hl.Func(), last[x, y]
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                near = hl.max(near, last[x + i, y + j])
        grown[x, y] = hl.select(kept[x, y] == 1, near, last[x, y])
        last = grown
    out[x, y] = last[x, y]
    out.split(y, y, yi, 32).parallel(y).vectorize(x, 4 * LANES)
    for f in stages:
        f.compute_at(out, y).vectorize(x, 4 * LANES)
    kept.compute_at(out, y).vectorize(x, LANES)
    rank.compute_root().split(y, y, yi, 32).parallel(y).vectorize(x, LANES)
    for f in (g2, gx, gy, soft):
        f.compute_at(rank, y).vectorize(x, LANES)
    p.compute_at(soft, y).vectorize(x, LANES)
    return out, [a, low, high]

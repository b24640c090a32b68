"""Applications in Halide, scheduled as its own `apps/` schedule them for processors: the peers of apps.py.

Each function builds one: a Func and its parameters in the order of the kernel's inputs. Vectors are as
wide as this processor's where the application says `natural_vector_size`.
"""

from __future__ import annotations

from typing import Any

import halide as hl

Built = tuple[Any, list[Any]]
x, y, z, c = (hl.Var(name) for name in "xyzc")
xi, yi, xo, yo, t = (hl.Var(name) for name in ("xi", "yi", "xo", "yo", "t"))
LANES = hl.get_host_target().natural_vector_size(hl.Float(32))


def edged(image: Any) -> Any:
    return hl.BoundaryConditions.repeat_edge(image)


def blur(lanes: int = 8) -> Built:
    """apps/blur: 8 lanes there."""
    a, rows, out = hl.ImageParam(hl.UInt(16), 2), hl.Func("rows"), hl.Func("out")
    rows[x, y] = (a[x, y] + a[x + 1, y] + a[x + 2, y]) / hl.u16(3)
    out[x, y] = (rows[x, y] + rows[x, y + 1] + rows[x, y + 2]) / hl.u16(3)
    out.split(y, y, yi, 8).parallel(y).vectorize(x, lanes)
    rows.store_at(out, y).compute_at(out, yi).vectorize(x, lanes)
    return out, [a]


def wide_blur() -> Built:
    """The same with whole vectors."""
    return blur(2 * LANES)


def harris() -> Built:
    """apps/harris, of a grey picture."""
    a, out = hl.ImageParam(hl.Float(32), 2), hl.Func("out")
    gx, gy = hl.Func("gx"), hl.Func("gy")

    def slope(p: Any, q: Any) -> Any:
        return p * hl.f32(-1 / 12) + q * hl.f32(1 / 12)

    def twice(p: Any, q: Any) -> Any:
        return p * hl.f32(-2 / 12) + q * hl.f32(2 / 12)

    gx[x, y] = (
        slope(a[x - 1, y - 1], a[x + 1, y - 1])
        + twice(a[x - 1, y], a[x + 1, y])
        + slope(a[x - 1, y + 1], a[x + 1, y + 1])
    )
    gy[x, y] = (
        slope(a[x - 1, y - 1], a[x - 1, y + 1])
        + twice(a[x, y - 1], a[x, y + 1])
        + slope(a[x + 1, y - 1], a[x + 1, y + 1])
    )

    def box(f: Any) -> Any:
        terms = [f(x + 2 + i, y + 2 + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    xx = box(lambda p, q: gx[p, q] * gx[p, q])
    yy = box(lambda p, q: gy[p, q] * gy[p, q])
    xy = box(lambda p, q: gx[p, q] * gy[p, q])
    out[x, y] = xx * yy - xy * xy - hl.f32(0.04) * (xx + yy) * (xx + yy)
    out.split(y, y, yi, 32).parallel(y).vectorize(x, LANES)
    for g in (gx, gy):
        g.store_at(out, y).compute_at(out, yi).vectorize(x, LANES)
    gx.compute_with(gy, x)
    return out, [a]


def unsharp() -> Built:
    """apps/unsharp."""
    a, out = hl.ImageParam(hl.Float(32), 3), hl.Func("out")
    kernel, gray, tall, ratio = (hl.Func(n) for n in ("kernel", "gray", "tall", "ratio"))
    k = hl.Var("k")
    sigma = 1.5
    kernel[k] = hl.exp(hl.f32(-k * k) / (2 * sigma * sigma)) / hl.f32(
        (2 * 3.14159265) ** 0.5 * sigma
    )
    edge = edged(a)

    def taps(f: Any) -> Any:
        total = kernel[0] * f(0)
        for i in (1, 2, 3):
            total = total + kernel[i] * (f(-i) + f(i))
        return total

    gray[x, y] = (
        hl.f32(0.299) * edge[x, y, 0]
        + hl.f32(0.587) * edge[x, y, 1]
        + hl.f32(0.114) * edge[x, y, 2]
    )
    tall[x, y] = taps(lambda i: gray[x, y + i])
    ratio[x, y] = (2 * gray[x, y] - taps(lambda i: tall[x + i, y])) / gray[x, y]
    out[x, y, c] = ratio[x, y] * a[x, y, c]
    out.split(y, yo, yi, 32).vectorize(x, LANES).parallel(yo).reorder(x, c, yi, yo)
    for f in (gray, tall, ratio):
        f.compute_at(out, yi).store_at(out, yo).vectorize(x, LANES)
    return out, [a]


def max_filter(radius: int = 3) -> Built:
    """The square of max_filter.hb (Halide's application has a disc), its columns in a window."""
    a, down, out = hl.ImageParam(hl.UInt(8), 2), hl.Func("down"), hl.Func("out")
    edge = edged(a)

    def most(f: Any) -> Any:
        found = f(-radius)
        for i in range(1 - radius, radius + 1):
            found = hl.max(found, f(i))
        return found

    down[x, y] = most(lambda i: edge[x, y + i])
    out[x, y] = most(lambda i: down[x + i, y])
    out.split(y, yo, yi, 32).vectorize(x, 4 * LANES).parallel(yo)
    down.store_at(out, yo).compute_at(out, yi).vectorize(x, 4 * LANES)
    return out, [a]


def bilateral_grid(cell: int = 8, bins: int = 10) -> Built:
    """apps/bilateral_grid with its own vectors of 8."""
    a, out = hl.ImageParam(hl.Float(32), 2), hl.Func("out")
    grid, deep, wide, high, mean = (hl.Func(n) for n in ("grid", "deep", "wide", "high", "mean"))
    edge = edged(a)
    r = hl.RDom([(0, cell), (0, cell)])
    value = hl.clamp(edge[x * cell + r.x - cell // 2, y * cell + r.y - cell // 2], 0.0, 1.0)
    grid[x, y, z, c] = hl.f32(0)
    grid[x, y, hl.i32(value * hl.f32(bins) + 0.5), c] += hl.select(c == 0, value, hl.f32(1))

    def five(f: Any) -> Any:
        return f(-2) + f(-1) * 4 + f(0) * 6 + f(1) * 4 + f(2)

    deep[x, y, z, c] = five(lambda i: grid[x, y, z + i, c])
    wide[x, y, z, c] = five(lambda i: deep[x + i, y, z, c])
    high[x, y, z, c] = five(lambda i: wide[x, y + i, z, c])
    level = hl.clamp(a[x, y], 0.0, 1.0) * hl.f32(bins)
    bin_ = hl.i32(level)
    fx, fy, fz = hl.f32(x % cell) / cell, hl.f32(y % cell) / cell, level - bin_
    i, j = x / cell, y / cell

    def plane(k: Any) -> Any:
        return hl.lerp(
            hl.lerp(high[i, j, k, c], high[i + 1, j, k, c], fx),
            hl.lerp(high[i, j + 1, k, c], high[i + 1, j + 1, k, c], fx),
            fy,
        )

    mean[x, y, c] = hl.lerp(plane(bin_), plane(bin_ + 1), fz)
    out[x, y] = mean[x, y, 0] / mean[x, y, 1]
    deep.compute_at(wide, y).reorder(c, z, x, y).vectorize(x, 8).unroll(c)
    grid.compute_at(deep, y)
    grid.update().reorder(c, r.x, r.y, x, y).unroll(c)
    wide.compute_root().reorder(c, x, z, y).parallel(y).vectorize(x, 8).unroll(c)
    high.compute_at(out, y).store_in(hl.MemoryType.Stack).reorder(c, x, y, z).reorder_storage(
        c, z, x, y
    )
    high.vectorize(x, 8).unroll(c)
    out.compute_root().parallel(y, 8).vectorize(x, 8)
    return out, [a]


def stencil_chain(stages: int = 8, lanes: int = 16) -> Built:
    """apps/stencil_chain: 25 terms a stage, 16 lanes."""
    a, out = hl.ImageParam(hl.UInt(16), 2), hl.Func("out")
    chain = [hl.Func("s0")]
    chain[0][x, y] = a[x + 2 * stages, y + 2 * stages]
    for n in range(1, stages + 1):
        before, stage = chain[-1], hl.Func(f"s{n}")
        terms = hl.u16(0)
        for i in range(-2, 3):
            for j in range(-2, 3):
                terms = terms + hl.u16((i + 3) * (j + 3)) * before[x + i, y + j]
        stage[x, y] = terms
        chain.append(stage)
    out[x, y] = chain[-1][x, y]
    for stage in chain[1:-1]:
        stage.store_at(out, t).compute_at(out, yi).vectorize(x, lanes)
    out.compute_root().tile(x, y, xo, yo, xi, yi, 512, 512).fuse(xo, yo, t).parallel(t).vectorize(
        xi, lanes
    )
    return out, [a]


def wide_stencil_chain() -> Built:
    """The same with whole vectors."""
    return stencil_chain(lanes=2 * LANES)


def nl_means(patch: int = 7, search: int = 7) -> Built:
    """apps/nl_means."""
    a, sigma, out = hl.ImageParam(hl.Float(32), 3), hl.Param(hl.Float(32)), hl.Func("out")
    u, v = hl.Var("u"), hl.Var("v")
    d, down, near, weight, alpha, total = (
        hl.Func(n) for n in ("d", "down", "near", "weight", "alpha", "total")
    )
    edge = edged(a)
    far = [edge[x, y, i] - edge[x + u, y + v, i] for i in range(3)]
    d[x, y, u, v] = far[0] * far[0] + far[1] * far[1] + far[2] * far[2]
    p = hl.RDom([(-(patch // 2), patch)])
    down[x, y, u, v] = hl.sum(d[x, y + p.x, u, v])
    near[x, y, u, v] = hl.sum(down[x + p.x, y, u, v])
    weight[x, y, u, v] = hl.fast_exp(near[x, y, u, v] * (-1.0 / (sigma * sigma * patch * patch)))
    alpha[x, y, c] = hl.select(
        c == 0, edge[x, y, 0], c == 1, edge[x, y, 1], c == 2, edge[x, y, 2], hl.f32(1)
    )
    s = hl.RDom([(-(search // 2), search), (-(search // 2), search)])
    total[x, y, c] = hl.f32(0)
    total[x, y, c] += weight[x, y, s.x, s.y] * alpha[x + s.x, y + s.y, c]
    out[x, y, c] = hl.clamp(total[x, y, c] / total[x, y, 3], 0.0, 1.0)
    tx, ty = hl.Var("tx"), hl.Var("ty")
    out.compute_root().bound(c, 0, 3).reorder(c, x, y).tile(x, y, tx, ty, x, y, 16, 8).parallel(
        ty
    ).vectorize(x, 8)
    down.compute_at(out, tx).reorder(y, x, u, v).vectorize(x, 8)
    d.compute_at(out, tx).vectorize(x, 8)
    total.compute_at(out, x).reorder(c, x, y).bound(c, 0, 4).unroll(c).vectorize(x, 8)
    total.update(0).reorder(c, x, y, s.x, s.y).unroll(c).vectorize(x, 8)
    near.compute_at(total, x).vectorize(x, 8)
    return out, [a, sigma]

"""Halide's lens blur of a pair of pictures, with the schedule of its `apps/` for processors."""

from __future__ import annotations

from typing import Any

import halide as hl
from peers.image_apps import Built, edged

x, y, z, c = (hl.Var(name) for name in "xyzc")
xi, yi = hl.Var("xi"), hl.Var("yi")


def _pulled(push: list[Any], levels: int, w: Any, h: Any) -> list[Any]:
    """The levels on the way back up, the finest first; those on the way down are added to `push`."""
    pull = [hl.Func(f"pull{n}") for n in range(levels)]
    first = hl.Func("edge0")
    first[x, y, z] = push[0][hl.clamp(x, 0, w), hl.clamp(y, 0, h), z]
    bordered = [first]
    for n in range(1, levels):
        f, down, across, edge = bordered[-1], hl.Func(f"push{n}"), hl.Func(), hl.Func(f"edge{n}")
        sides = f[2 * x - 1, y, z] + 3 * (f[2 * x, y, z] + f[2 * x + 1, y, z]) + f[2 * x + 2, y, z]
        across[x, y, z] = sides / 8
        f = across
        sides = f[x, 2 * y - 1, z] + 3 * (f[x, 2 * y, z] + f[x, 2 * y + 1, z]) + f[x, 2 * y + 2, z]
        down[x, y, z] = sides / 8
        edge[x, y, z] = down[hl.clamp(x, 0, w // (1 << n)), hl.clamp(y, 0, h // (1 << n)), z]
        push.append(down)
        bordered.append(edge)
    pull[-1][x, y, z] = bordered[-1][x, y, z]
    for n in reversed(range(levels - 1)):
        f, up = pull[n + 1], hl.Func()
        up[x, y, z] = f[(x + 1) // 2 - 1 + x % 2, y, z] / 4 + hl.f32(0.75) * f[x // 2, y, z]
        wide = up[x, (y + 1) // 2 - 1 + y % 2, z] / 4 + hl.f32(0.75) * up[x, y // 2, z]
        pull[n][x, y, z] = (bordered[n][x, y, z] + wide) / 2
    return pull


def _best(cost: Any, r: Any, shifts: int) -> tuple[Any, Any]:
    """The least cost of a pixel with its shift, and the shift alone."""
    best, depth = hl.Func("best"), hl.Func("depth")
    best[x, y] = hl.Tuple((hl.f32(3e38), hl.i32(0)))
    value = cost[x, y, r] / cost[x, y, shifts]
    better = value < best[x, y][0]
    best[x, y] = hl.Tuple(
        (hl.select(better, value, best[x, y][0]), hl.select(better, r.x, best[x, y][1]))
    )
    depth[x, y] = best[x, y][1]
    return best, depth


def lens_blur(shifts: int = 32, levels: int = 8, reach: int = 8, places: int = 32) -> Built:
    """apps/lens_blur: the weights as a plane more, the places of a spiral"""
    left, right = hl.ImageParam(hl.UInt(8), 3), hl.ImageParam(hl.UInt(8), 3)
    focus, scale, out = hl.Param(hl.Int(32)), hl.Param(hl.Float(32)), hl.Func("out")
    width, height = left.dim(0).extent(), left.dim(1).extent()
    l_, r_ = edged(left), edged(right)

    def apart(m: int) -> Any:
        a = l_[x, y, m]
        shifted = [hl.absd(a, r_[x + 2 * z + n, y, m]) for n in (0, 1)]
        d = hl.f32(hl.min(*shifted))
        return d * d

    cost, mean, square, sure = (hl.Func(name) for name in ("cost", "mean", "square", "sure"))
    cost[x, y, z] = apart(0) + apart(1) + apart(2)
    r = hl.RDom([(0, shifts)])
    mean[x, y] = hl.f32(0)
    mean[x, y] += cost[x, y, r]
    square[x, y] = hl.f32(0)
    square[x, y] += cost[x, y, r] * cost[x, y, r]
    middle = mean[x, y] / shifts
    sure[x, y] = square[x, y] / shifts - middle * middle
    push = [hl.Func("push0")]
    push[0][x, y, z] = sure[x, y] * hl.select(z < shifts, cost[x, y, hl.min(z, shifts - 1)], 1)
    w, h = width - 1, height - 1
    pull = _pulled(push, levels, w, h)
    best, depth = _best(pull[0], r, shifts)
    radius, tall, most = hl.Func("radius"), hl.Func("tall"), hl.Func("most")
    e = hl.RDom([(-reach, 2 * reach + 1)])
    place = depth[hl.clamp(x, 0, w), hl.clamp(y, 0, h)]
    radius[x, y] = hl.min(hl.f32(hl.abs(place - focus)) * scale, hl.f32(reach))
    tall[x, y] = hl.f32(0)
    tall[x, y] = hl.max(tall[x, y], radius[x, y + e])
    most[x, y] = hl.f32(0)
    most[x, y] = hl.max(most[x, y], tall[x + e, y])
    spiral, at, seen = hl.Func("spiral"), hl.Func("at"), hl.Func("seen")
    far = hl.sqrt((hl.f32(z) + hl.f32(0.5)) / places)
    angle = hl.f32(z) * hl.f32(2.3999632)
    spiral[z] = hl.Tuple((far * hl.sin(angle), far * hl.cos(angle)))
    down = hl.i32(hl.round(most[x, y] * spiral[z][0]))
    side = hl.i32(hl.round(most[x, y] * spiral[z][1]))
    at[x, y, z] = hl.Tuple((hl.clamp(x + side, 0, w), hl.clamp(y + down, 0, h)))
    j, i = at[x, y, z][0], at[x, y, z][1]
    distance = hl.f32(i - y) * hl.f32(i - y) + hl.f32(j - x) * hl.f32(j - x)
    reaches = distance < radius[j, i] * radius[j, i]
    open_ = (distance < radius[x, y] * radius[x, y]) | (depth[j, i] < depth[x, y])
    seen[x, y, z] = hl.select(reaches & open_, hl.f32(1), hl.f32(0))
    alpha, total = hl.Func("alpha"), hl.Func("total")
    alpha[x, y, c] = hl.select(c < 3, hl.f32(left[x, y, hl.min(c, 2)]), hl.f32(1))
    s = hl.RDom([(0, places)])
    total[x, y, c] = alpha[x, y, c]
    total[x, y, c] += seen[x, y, s] * alpha[at[x, y, s][0], at[x, y, s][1], c]
    out[x, y, c] = total[x, y, c] / total[x, y, 3]

    push[0].compute_root().reorder(z, x, y).vectorize(x, 16).parallel(y, 4)
    cost.compute_at(push[0], x).hoist_storage(push[0], y).vectorize(x)
    sure.compute_at(push[0], x).vectorize(x)
    for f in (mean, square):
        f.compute_at(push[0], x).vectorize(x).update().reorder(x, r).vectorize(x)
    for n in range(1, levels):
        push[n].compute_at(pull[1], z).vectorize(x, 8)
        pull[n].tile(x, y, xi, yi, 8, 2).vectorize(xi).unroll(yi)
        if n > 1:
            pull[n].compute_at(pull[1], z)
    pull[1].compute_root().parallel(z)
    depth.compute_root().tile(x, y, xi, yi, 8, 2).vectorize(xi).unroll(yi).parallel(y, 8)
    best.compute_at(depth, x).vectorize(x).unroll(y).update().reorder(x, y, r)
    best.update().vectorize(x).unroll(y)
    alpha.compute_root().reorder(c, x, y).bound(c, 0, 4).unroll(c).vectorize(x, 8).parallel(y, 8)
    spiral.compute_root()
    for f in (tall, most):
        f.compute_at(out, y).vectorize(x, 8).update().reorder(x, e, y).vectorize(x, 8)
    out.reorder(c, x, y).bound(c, 0, 3).unroll(c).vectorize(x, 8).parallel(y)
    total.compute_at(out, x).vectorize(x).unroll(c)
    total.update().reorder(c, x, s).vectorize(x).unroll(c)
    seen.compute_at(total, s).vectorize(x)
    at.compute_at(total, s).vectorize(x)
    return out, [left, right, focus, scale]

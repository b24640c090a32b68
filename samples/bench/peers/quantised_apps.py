"""Layers of bytes in Halide: products as its hannk schedules them for processors (dot products of four bytes,
tiles of accumulators, filters arranged beforehand), whole vectors of bytes elsewhere. The arithmetic is that
of the kernels: hannk scales by fixed point, here both sides do by floats."""

from __future__ import annotations

from typing import Any

import halide as hl
import numpy as np
from peers.image_apps import LANES, Built

c, x, y, b, k, i, j, g = (hl.Var(name) for name in "cxybkijg")
co, xo, u = (hl.Var(name) for name in ("co", "xo", "u"))
Array = np.ndarray[Any, Any]


def in_fours(weights: Array) -> Array:
    """[..., C, K] as [..., C / 4, K, 4]."""
    *rest, deep, wide = weights.shape
    return np.moveaxis(weights.reshape(*rest, deep // 4, 4, wide), -2, -1)


def requantised(acc: Any, scale: Any, zero: Any) -> Any:
    return hl.u8(hl.clamp(hl.round(hl.f32(acc) * scale) + hl.f32(zero), 0, 255))


def dotted(
    f: Any, tile: tuple[Any, int], at: Any, loop: Any, reduced: list[Any], deep: Any
) -> None:
    """Sums of products of bytes: a tile of accumulators, four products in a lane."""
    across, wide = tile
    outer, inner = hl.RVar("outer"), hl.RVar("inner")
    f.compute_at(at, loop).store_in(hl.MemoryType.Stack)
    f.reorder(across, c).vectorize(c, LANES).unroll(c, wide).unroll(across)
    u_ = f.update().split(deep, outer, inner, 4).reorder(inner, c, across, outer, *reduced)
    u_.vectorize(c, LANES).unroll(c, wide).atomic().vectorize(inner).unroll(across)


def quantised_conv(wide: int = 4, pixels: int = 4) -> Built:
    """apps/hannk's conv: 4 vectors of channels, 4 pixels, scaled by floats"""
    a, f = hl.ImageParam(hl.UInt(8), 4), hl.ImageParam(hl.Int(8), 5)
    bias, scale = hl.ImageParam(hl.Int(32), 1), hl.ImageParam(hl.Float(32), 1)
    zero_in, zero_out = hl.Param(hl.UInt(8)), hl.Param(hl.UInt(8))
    acc, taps, out = hl.Func("acc"), hl.Func("taps"), hl.Func("out")
    r = hl.RDom([(0, a.dim(0).extent()), (0, 3), (0, 3)])
    weight = hl.i32(f[r.x % 4, c, r.x // 4, r.y, r.z])
    taps[c] = hl.i32(0)
    taps[c] += weight
    acc[c, x, y, b] = bias[c] - hl.i32(zero_in) * taps[c]
    acc[c, x, y, b] += hl.i32(a[r.x, x + r.y, y + r.z, b]) * weight
    out[c, x, y, b] = requantised(acc[c, x, y, b], scale[c], zero_out)
    arranged(f)
    out.split(c, co, c, wide * LANES).split(x, xo, x, pixels, hl.TailStrategy.ShiftInwards)
    out.reorder(x, c, co, xo, y, b).vectorize(c, LANES).unroll(c).unroll(x).parallel(y)
    dotted(acc, (x, wide), out, co, [r.y, r.z], r.x)
    offsets(taps, r.x, [r.y, r.z])
    return out, [a, f, bias, scale, zero_in, zero_out]


def quantised_fully_connected(wide: int = 4, rows: int = 4) -> Built:
    """apps/hannk's fully connected layer: 4 vectors of channels, 4 rows, scaled by floats"""
    a, f = hl.ImageParam(hl.UInt(8), 2), hl.ImageParam(hl.Int(8), 3)
    bias, scale = hl.ImageParam(hl.Int(32), 1), hl.ImageParam(hl.Float(32), 1)
    zero_in, zero_out = hl.Param(hl.UInt(8)), hl.Param(hl.UInt(8))
    acc, taps, out = hl.Func("acc"), hl.Func("taps"), hl.Func("out")
    r = hl.RDom([(0, a.dim(0).extent())])
    weight = hl.i32(f[r.x % 4, c, r.x // 4])
    taps[c] = hl.i32(0)
    taps[c] += weight
    acc[c, b] = bias[c] - hl.i32(zero_in) * taps[c]
    acc[c, b] += hl.i32(a[r.x, b]) * weight
    out[c, b] = requantised(acc[c, b], scale[c], zero_out)
    arranged(f)
    out.split(c, co, c, wide * LANES).split(b, xo, b, rows, hl.TailStrategy.ShiftInwards)
    out.reorder(b, c, xo, co).vectorize(c, LANES).unroll(c).unroll(b).parallel(co)
    dotted(acc, (b, wide), out, xo, [], r.x)
    offsets(taps, r.x, [])
    return out, [a, f, bias, scale, zero_in, zero_out]


def large_quantised_conv() -> Built:
    """The same with 4 vectors and 6 pixels"""
    return quantised_conv(4, 6)


def large_quantised_fully_connected() -> Built:
    """The same with 4 vectors and 6 rows"""
    return quantised_fully_connected(4, 6)


def arranged(f: Any) -> None:
    f.dim(0).set_bounds(0, 4)
    f.dim(1).set_stride(4)


def offsets(taps: Any, deep: Any, reduced: list[Any]) -> None:
    outer, inner = hl.RVar("outer"), hl.RVar("inner")
    taps.compute_root().vectorize(c, LANES)
    taps.update().split(deep, outer, inner, 4).split(c, co, c, LANES).reorder(
        inner, c, outer, *reduced, co
    ).atomic().vectorize(inner).vectorize(c)


def quantised_pool() -> Built:
    """apps/hannk's pools, both at once: whole vectors of channels"""
    a, out, total = hl.ImageParam(hl.UInt(8), 4), hl.Func("out"), hl.Func("total")
    r = hl.RDom([(0, 2), (0, 2)])
    here = a[c, 2 * x + r.x, 2 * y + r.y, b]
    total[c, x, y, b] = hl.Tuple((hl.u16(0), hl.u8(0)))
    sofar = total[c, x, y, b]
    total[c, x, y, b] = hl.Tuple((sofar[0] + hl.u16(here), hl.max(sofar[1], here)))
    out[c, x, y, b] = hl.Tuple((hl.u8((total[c, x, y, b][0] + 2) / 4), total[c, x, y, b][1]))
    out.vectorize(c, 4 * LANES).parallel(y)
    total.compute_at(out, c).vectorize(c).update().vectorize(c).unroll(r.x).unroll(r.y)
    return out, [a]


def quantised_add() -> Built:
    """apps/hannk's add: whole vectors, scaled by floats"""
    a, d, out = hl.ImageParam(hl.UInt(8), 2), hl.ImageParam(hl.UInt(8), 2), hl.Func("out")
    scales = [hl.Param(hl.Float(32)) for _ in range(3)]
    zeros = [hl.Param(hl.UInt(8)) for _ in range(3)]
    total = [
        (hl.f32(p[c, x]) - hl.f32(z)) * s for p, z, s in zip((a, d), zeros, scales, strict=False)
    ]
    value = hl.round((total[0] + total[1]) / scales[2]) + hl.f32(zeros[2])
    out[c, x] = hl.max(hl.u8(hl.clamp(value, 0, 255)), zeros[2])
    out.vectorize(c, 4 * LANES).parallel(x, 16)
    return out, [a, d, scales[0], zeros[0], scales[1], zeros[1], scales[2], zeros[2]]


def quantised_softmax() -> Built:
    """apps/hannk's: a row at once in whole vectors; exp from a table"""
    a, scale, out = hl.ImageParam(hl.UInt(8), 2), hl.Param(hl.Float(32)), hl.Func("out")
    r = hl.RDom([(0, a.dim(0).extent())])
    power, top, e, total = (hl.Func(name) for name in ("power", "top", "e", "total"))
    power[i] = hl.exp(-hl.f32(i) * scale)
    top[i] = hl.u8(0)
    top[i] = hl.max(top[i], a[r, i])
    e[j, i] = power[hl.clamp(hl.i32(top[i]) - hl.i32(a[j, i]), 0, 255)]
    total[i] = hl.f32(0)
    total[i] += e[r, i]
    out[j, i] = hl.u8(hl.min(hl.round(256 * e[j, i] / total[i]), 255))
    power.compute_root().bound(i, 0, 256).vectorize(i, LANES)
    out.parallel(i).vectorize(j, 4 * LANES)
    e.compute_at(out, i).vectorize(j, LANES)
    summed(top, r, out, 4 * LANES)
    summed(total, r, out, LANES)
    return out, [a, scale]


def summed(f: Any, r: Any, at: Any, lanes: int) -> None:
    """A sum (or maximum) of a row in lanes of partial results."""
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    f.compute_at(at, i)
    part = f.update().split(r, ro, ri, 4 * lanes).rfactor(ri, u)
    part.compute_at(f, f.args()[0]).vectorize(u, lanes).unroll(u)
    part.update().reorder(u, ro).vectorize(u, lanes).unroll(u)


def int4_gemv() -> Built:
    """Partial sums in lanes, 4 rows at once: none in apps/"""
    w, scale, zero = (
        hl.ImageParam(hl.UInt(8), 3),
        hl.ImageParam(hl.Float(32), 2),
        hl.ImageParam(hl.UInt(8), 2),
    )
    v, out, part, total = (
        hl.ImageParam(hl.Float(32), 2),
        hl.Func("out"),
        hl.Func("part"),
        hl.Func("total"),
    )
    r = hl.RDom([(0, 2), (0, w.dim(1).extent())])
    byte = w[r.x * LANES + u, r.y, i]
    offset = hl.f32(zero[r.y, i])
    low, high = hl.f32(byte & 15) - offset, hl.f32(byte >> 4) - offset
    at = r.x * LANES + u
    part[u, i] = hl.f32(0)
    part[u, i] += scale[r.y, i] * (low * v[at, r.y] + high * v[at + 2 * LANES, r.y])
    lanes = hl.RDom([(0, LANES)])
    total[i] = hl.f32(0)
    total[i] += part[lanes, i]
    out[i] = total[i]
    out.split(i, j, k, 4).parallel(j).vectorize(k)
    total.compute_at(out, j).vectorize(i)
    total.update().reorder(i, lanes).vectorize(i).unroll(lanes)
    part.compute_at(out, j).vectorize(u).unroll(i)
    part.update().reorder(u, i, r.x, r.y).vectorize(u).unroll(i).unroll(r.x)
    return out, [w, scale, zero, v]

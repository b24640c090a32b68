"""apps/camera_pipe in Halide, with the schedule that it has for processors: a peer of apps.py."""

from __future__ import annotations

from typing import Any

import halide as hl
from peers.image_apps import LANES, Built, c, x, xi, y, yi, yo

Sites = tuple[int, int]
yii = hl.Var("yii")


def camera_pipe() -> Built:
    """apps/camera_pipe"""
    raw, warm, cold = (
        hl.ImageParam(hl.UInt(16), 2),
        *(hl.ImageParam(hl.Float(32), 2) for _ in range(2)),
    )
    kelvin, gamma, contrast = (hl.Param(hl.Float(32)) for _ in range(3))
    black, white = (hl.Param(hl.Int(16)) for _ in range(2))
    clean, sites = _sites(raw)
    g_r, g_b, filled = _filled(sites)
    matrix, corrected = _corrected(filled, warm, cold, kelvin)
    curve = _curve(gamma, contrast, black, white)
    out = hl.Func("out")
    out[x, y, c] = curve[hl.i32(hl.clamp(corrected[x, y, c], hl.i16(0), hl.i16(1023)))]

    vec, up = 2 * LANES, hl.TailStrategy.RoundUp
    matrix.compute_root()
    curve.compute_root()
    out.bound(c, 0, 3).bound(x, 0, 2560).bound(y, 0, 1920)
    out.reorder(c, x, y).split(y, yo, yi, 128).tile(x, yi, x, yi, xi, yii, 2 * vec, 2, up)
    out.vectorize(xi).unroll(yii).unroll(c).parallel(yo)
    clean.compute_at(out, yi).store_at(out, yo).fold_storage(y, 8)
    clean.tile(x, y, x, y, xi, yi, 2 * vec, 2).vectorize(xi).unroll(yi)
    sites.compute_at(out, yi).store_at(out, yo).fold_storage(y, 4).reorder(c, x, y)
    sites.vectorize(x, 2 * vec, up).unroll(c)
    corrected.compute_at(out, x).reorder(c, x, y).vectorize(x).unroll(y).unroll(c)
    for g in (g_r, g_b):
        g.compute_at(out, yi).store_at(out, yo).vectorize(x, 2 * vec, up).fold_storage(y, 2)
    filled.compute_at(out, x).vectorize(x).unroll(y).reorder(c, x, y).unroll(c)
    return out, [raw, warm, cold, kelvin, gamma, contrast, black, white]


def _sites(raw: Any) -> tuple[Any, Any]:
    """Pixels no brighter than those around them, and the four sites of each 2 x 2."""
    clean, sites = hl.Func("clean"), hl.Func("sites")

    def signed(p: Any, q: Any) -> Any:
        return hl.i16(raw[p + 16, q + 12])

    near = hl.max(
        hl.max(signed(x - 2, y), signed(x + 2, y)), hl.max(signed(x, y - 2), signed(x, y + 2))
    )
    clean[x, y] = hl.clamp(signed(x, y), hl.i16(0), near)
    places = ((2 * x, 2 * y), (2 * x + 1, 2 * y), (2 * x, 2 * y + 1))
    picked = [clean[p, q] for p, q in places]
    last = clean[2 * x + 1, 2 * y + 1]
    sites[x, y, c] = hl.select(c == 0, picked[0], c == 1, picked[1], c == 2, picked[2], last)
    return clean, sites


def _filled(sites: Any) -> tuple[Any, Any, Any]:
    """Green at the sites of red and of blue, and all colours everywhere."""
    g_r, g_b, filled = (hl.Func(n) for n in ("g_r", "g_b", "filled"))

    def site(number: int) -> Any:
        return lambda i, j: sites[x + i, y + j, number]

    g_gr, r_r, b_b, g_gb = (site(n) for n in range(4))

    def mean(p: Any, q: Any) -> Any:
        return hl.i16((hl.i32(p) + q + 1) / 2)

    def alike(a: Any, b: Any, p: Any, q: Any) -> Any:
        return hl.select(hl.absd(p, q) < hl.absd(a, b), mean(p, q), mean(a, b))

    def moved(
        green: Any, greens: Any, colour: Any, p: Sites, q: Sites, shift: Sites = (0, 0)
    ) -> Any:
        a, b = (greens[x + s[0] + shift[0], y + s[1] + shift[1]] for s in (p, q))
        return green - mean(a, b) + mean(colour(*p), colour(*q))

    here = (0, 0)
    g_r[x, y] = alike(g_gb(0, -1), g_gb(*here), g_gr(1, 0), g_gr(*here))
    g_b[x, y] = alike(g_gr(0, 1), g_gr(*here), g_gb(-1, 0), g_gb(*here))
    r_gr = moved(g_gr(*here), g_r, r_r, here, (-1, 0))
    b_gr = moved(g_gr(*here), g_b, b_b, here, (0, -1))
    r_gb = moved(g_gb(*here), g_r, r_r, here, (0, 1))
    b_gb = moved(g_gb(*here), g_b, b_b, here, (1, 0))
    falls = hl.absd(r_r(*here), r_r(-1, 1)) < hl.absd(r_r(-1, 0), r_r(0, 1))
    r_b = hl.select(
        falls,
        moved(g_b[x, y], g_r, r_r, here, (-1, 1)),
        moved(g_b[x, y], g_r, r_r, (-1, 0), (0, 1)),
    )
    rises = hl.absd(b_b(*here), b_b(1, -1)) < hl.absd(b_b(1, 0), b_b(0, -1))
    b_r = hl.select(
        rises,
        moved(g_r[x, y], g_b, b_b, here, (1, -1)),
        moved(g_r[x, y], g_b, b_b, (1, 0), (0, -1)),
    )

    def woven(*values: Any) -> Any:
        quarters = []
        for value in values:
            quarters.append(hl.Func())
            quarters[-1][x, y] = value
        rows = [
            hl.select(x % 2 == 0, p[x / 2, y / 2], q[x / 2, y / 2])
            for p, q in (quarters[:2], quarters[2:])
        ]
        return hl.select(y % 2 == 0, *rows)

    red = woven(r_gr, r_r(*here), r_b, r_gb)
    green = woven(g_gr(*here), g_r[x, y], g_b[x, y], g_gb(*here))
    blue = woven(b_gr, b_r, b_b(*here), b_gb)
    filled[x, y, c] = hl.select(c == 0, red, c == 1, green, blue)
    return g_r, g_b, filled


def _corrected(filled: Any, warm: Any, cold: Any, kelvin: Any) -> tuple[Any, Any]:
    """The matrix of colours at a temperature, and what it makes of them."""
    matrix, corrected = hl.Func("matrix"), hl.Func("corrected")
    share = (1.0 / kelvin - hl.f32(1 / 3200)) / hl.f32(1 / 7000 - 1 / 3200)
    matrix[x, y] = hl.i16((warm[x, y] * share + cold[x, y] * (1 - share)) * hl.f32(256))
    level = [hl.i32(filled[x, y, n]) for n in range(3)]
    lit = [
        matrix[3, n] + matrix[0, n] * level[0] + matrix[1, n] * level[1] + matrix[2, n] * level[2]
        for n in range(3)
    ]
    lit = [hl.i16(v / 256) for v in lit]
    corrected[x, y, c] = hl.select(c == 0, lit[0], c == 1, lit[1], lit[2])
    return matrix, corrected


def _curve(gamma: Any, contrast: Any, black: Any, white: Any) -> Any:
    """A byte for each of 1024 levels."""
    curve = hl.Func("curve")
    q = 2.0 - hl.pow(hl.f32(2), contrast / 100)
    p = 2.0 - 2 * q
    v = hl.pow(hl.clamp(hl.f32(x - hl.i32(black)) / hl.f32(white - black), 0.0, 1.0), 1.0 / gamma)
    v = hl.select(v > 0.5, 1 - (p * (1 - v) * (1 - v) + q * (1 - v)), p * v * v + q * v)
    curve[x] = hl.u8(hl.clamp(v * 255 + hl.f32(0.5), 0.0, 255.0))
    return curve

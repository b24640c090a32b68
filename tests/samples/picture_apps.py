"""What the applications of `samples/apps` on pictures should give: NumPy alone, in f64 where they are
floats. With their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from number_apps import Array, Inputs, _floats, _then, _whole

N = 3  # of stencil_chain
LEVELS = 6  # of interpolate
JOINED = 4  # of canny
BINOMIAL = np.array([1, 4, 6, 4, 1])


def bilateral_grid(a: Array, cell: int = 8, bins: int = 10) -> Array:
    """Pixel by pixel into a grid with a border of two cells, and out of it by the eight corners."""
    height, width = a.shape
    rows, columns = (-(-n // cell) + 6 for n in a.shape)
    grid = np.zeros((rows, columns, bins + 7, 2))
    v = np.clip(np.pad(a, 4 * cell, mode="edge"), 0, 1)
    y, x = (np.arange(n) - 4 * cell + cell // 2 for n in v.shape)
    i, j = np.meshgrid(y // cell + 3, x // cell + 3, indexing="ij")
    k = np.floor(np.float32(v) * np.float32(bins) + np.float32(0.5)).astype(int) + 3
    inside = (i >= 0) & (i < rows) & (j >= 0) & (j < columns)
    np.add.at(grid, (i[inside], j[inside], k[inside]), np.stack([v, np.ones_like(v)], -1)[inside])
    for axis in range(3):
        grid = np.apply_along_axis(np.convolve, axis, grid, BINOMIAL, "same")
    y, x = np.mgrid[:height, :width]
    level = np.clip(a, 0, 1) * bins
    at, found = [y / cell, x / cell, level], 0
    corner = [np.floor(p).astype(int) for p in at]
    for bits in np.ndindex(2, 2, 2):
        weight = np.prod(
            [np.where(b, p - q, 1 - p + q) for b, p, q in zip(bits, at, corner, strict=True)],
            axis=0,
        )
        place = tuple(q + b + 3 for b, q in zip(bits, corner, strict=True))
        found = found + weight[..., None] * grid[place]
    return found[..., 0] / found[..., 1]


def stencil_chain(a: Array) -> Array:
    weights = np.outer(np.arange(1, 6), np.arange(1, 6))
    found = a.astype(np.int64)
    for _ in range(N):
        windows = np.lib.stride_tricks.sliding_window_view(found, (5, 5))
        found = np.tensordot(windows, weights, 2) % 65536
    return found


def nl_means(a: Array, sigma: float, patch: int = 7, search: int = 7) -> Array:
    height, width = a.shape[1:]
    by = patch // 2 + search // 2
    wide = np.pad(a, [(0, 0), (by, by), (by, by)], mode="edge")
    box = np.lib.stride_tricks.sliding_window_view(wide, (patch, patch), axis=(1, 2))
    here, total, weights = box[:, search // 2 :, search // 2 :][:, :height, :width], 0, 0
    for i in range(search):
        for j in range(search):
            there = box[:, i:, j:][:, :height, :width]
            weight = np.exp(-((here - there) ** 2).sum(axis=(0, 3, 4)) / (sigma * patch) ** 2)
            total = total + weight * there[..., patch // 2, patch // 2]
            weights = weights + weight
    return np.clip(total / weights, 0, 1)


def interpolate(a: Array) -> Array:
    """Each level has a pixel on each side beyond it, since halves lie between pixels."""
    levels = [np.concatenate([a[:3] * a[3], a[3:]])]
    for level in range(1, LEVELS):
        f = np.pad(levels[-1], [(0, 0), (1, 2), (1, 2)], mode="edge")
        f = (f[:, :-2] + 2 * f[:, 1:-1] + f[:, 2:])[:, ::2] / 4
        f = (f[:, :, :-2] + 2 * f[:, :, 1:-1] + f[:, :, 2:])[:, :, ::2] / 4
        height, width = ((n - 1 >> level) + 1 for n in a.shape[1:])
        levels.append(f[:, :height, :width])
    found: Any = None
    for f in reversed(levels):
        f = np.pad(f, [(0, 0), (0, 1), (0, 1)], mode="edge")
        if found is not None:
            y, x = (np.arange(n) for n in f.shape[1:])
            rows = (found[:, y // 2] + found[:, (y + 1) // 2]) / 2
            f = f + (1 - f[3]) * (rows[:, :, x // 2] + rows[:, :, (x + 1) // 2]) / 2
        found = f
    return found[:3, :-1, :-1] / found[3, :-1, :-1]


def camera_pipe(
    a: Array,
    warm: Array,
    cold: Array,
    kelvin: float,
    gamma: float,
    contrast: float,
    black: int,
    white: int,
) -> Array:
    """Of whole pictures of zeros where a site has another colour, in whole numbers until the matrix."""
    raw = a.astype(int)
    near = [np.roll(raw, s, axis) for axis in (0, 1) for s in (-2, 2)]
    raw = np.clip(raw, 0, np.maximum.reduce(near))
    y, x = np.indices(raw.shape)

    def at(f: Array, down: int, right: int) -> Array:
        return np.roll(f, (-down, -right), (0, 1))

    def mean(p: Array, q: Array) -> Array:
        return (p + q + 1) >> 1

    def across(f: Array) -> tuple[Array, Array]:
        return at(f, 0, -1), at(f, 0, 1)

    def along(f: Array) -> tuple[Array, Array]:
        return at(f, -1, 0), at(f, 1, 0)

    def apart(p: tuple[Array, Array]) -> Array:
        return np.abs(p[0] - p[1])

    is_green = (y + x) % 2 == 0
    flat = apart(across(raw)) < apart(along(raw))
    green = np.where(is_green, raw, np.where(flat, mean(*across(raw)), mean(*along(raw))))

    def filled(row: int, column: int) -> Array:
        """The colour whose sites are in rows and columns of these parities."""

        def moved(*places: tuple[int, int]) -> Array:
            return (
                green
                - mean(*(at(green, *p) for p in places))
                + mean(*(at(raw, *p) for p in places))
            )

        falling, rising = ((-1, -1), (1, 1)), ((1, -1), (-1, 1))
        first = apart(tuple(at(raw, *p) for p in rising)) < apart(
            tuple(at(raw, *p) for p in falling)
        )
        diagonal = np.where(first, moved(*rising), moved(*falling))
        same_row, same_column = y % 2 == row, x % 2 == column
        beside = np.where(same_row, moved((0, -1), (0, 1)), moved((-1, 0), (1, 0)))
        return np.where(same_row & same_column, raw, np.where(is_green, beside, diagonal))

    colours = np.stack([filled(0, 1), green, filled(1, 0), np.ones_like(raw)])[:, 12:-12, 16:-16]
    f = np.float32
    t = (1 / f(kelvin) - f(1 / 3200)) / (f(1 / 7000) - f(1 / 3200))
    matrix = np.trunc(256 * (warm * t + cold * (1 - t))).astype(int)
    level = np.tensordot(matrix, np.where(np.arange(4)[:, None, None] == 3, 1, colours), 1) // 256
    v = np.clip((np.clip(level, 0, 1023) - black) / (white - black), 0, 1) ** (1 / gamma)
    q = 2 - 2 ** (contrast / 100)
    p = 2 - 2 * q
    v = np.where(v > 0.5, 1 - (p * (1 - v) ** 2 + q * (1 - v)), p * v * v + q * v)
    return np.floor(255 * v + 0.5)


def canny(a: Array, low: float, high: float) -> Array:
    wide = np.pad(a, 12, mode="edge")
    for axis in (0, 1):
        wide = np.apply_along_axis(np.convolve, axis, wide, BINOMIAL / 16, "same")
    gx, gy = (np.zeros_like(wide) for _ in range(2))
    for d, weight in ((-1, 1), (0, 2), (1, 1)):
        gx += weight * (np.roll(wide, (-d, -1), (0, 1)) - np.roll(wide, (-d, 1), (0, 1)))
        gy += weight * (np.roll(wide, (-1, -d), (0, 1)) - np.roll(wide, (1, -d), (0, 1)))
    g, found = np.hypot(gx, gy), np.zeros_like(a, int)
    for y, x in np.ndindex(*a.shape):
        i, j = y + 12, x + 12
        angle = np.degrees(np.arctan2(gy[i, j], gx[i, j])) % 180
        down, right = [(0, 1), (1, 1), (1, 0), (1, -1)][int((angle + 22.5) // 45) % 4]
        if g[i, j] > g[i - down, j - right] and g[i, j] >= g[i + down, j + right] and g[i, j] > low:
            found[y, x] = 2 if g[i, j] > high else 1
    on = found == 2
    for _ in range(JOINED):
        p = np.pad(on, 1)
        on = on | (
            (found == 1) & np.lib.stride_tricks.sliding_window_view(p, (3, 3)).any(axis=(2, 3))
        )
    return 255 * on


def _raw(r: np.random.Generator) -> list[Any]:
    matrices = [np.float32(r.uniform(-0.4, 0.9, (3, 4))) for _ in range(2)]
    return [
        r.integers(0, 1024, (24 + 18, 32 + 38)).astype(np.uint16),
        *matrices,
        3700.0,
        2.0,
        50.0,
        25,
        1023,
    ]


def _transparent(r: np.random.Generator) -> list[Any]:
    a = np.float32(r.uniform(0, 1, (4, 61, 83)))
    a[3] = a[3] > 0.7
    return [a]


CASES: dict[str, tuple[Callable[..., Any], Inputs, dict[str, int]]] = {
    "bilateral_grid": (bilateral_grid, _floats((37, 61), low=-0.1, high=1.1), {}),
    "stencil_chain": (
        stencil_chain,
        _whole(np.uint16, 1 << 16, (29 + 4 * N, 43 + 4 * N)),
        {"N": N},
    ),
    "nl_means": (nl_means, _then(_floats((3, 19, 37), low=0), 0.2), {}),
    "interpolate": (interpolate, _transparent, {"L": LEVELS}),
    "camera_pipe": (camera_pipe, _raw, {}),
    "canny": (canny, _then(_floats((29, 41), low=0), 0.4, 0.8), {"T": JOINED}),
}

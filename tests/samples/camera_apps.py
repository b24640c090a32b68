"""What the applications of `samples/apps` that work on several pictures at once should give: NumPy alone,
in f64. With their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from number_apps import Array, Inputs

LEVELS, SHIFTS, REACH, PLACES = 3, 5, 3, 9  # of lens_blur
MARGIN = 2  # around each level of the pyramid
TAPS = np.array([1, 3, 3, 1]) / 8


def _halved(f: Array, axis: int, size: int) -> Array:
    """Every second of four neighbours' means, the border repeated; `size` of them."""
    wide = np.pad(f, [(1, 3) if i == axis else (0, 0) for i in range(f.ndim)], mode="edge")
    parts = (TAPS[i] * np.take(wide, 2 * np.arange(size) + i, axis, mode="clip") for i in range(4))
    return np.sum(list(parts), axis=0)


def _doubled(f: Array, axis: int, size: int) -> Array:
    """Three quarters of the nearer neighbour and a quarter of the other one; both have a margin."""
    at = np.arange(-MARGIN, size + MARGIN)
    near, other = at // 2, at // 2 + np.where(at % 2, 1, -1)
    return 0.75 * np.take(f, near + MARGIN, axis) + 0.25 * np.take(f, other + MARGIN, axis)


def _edged(f: Array) -> Array:
    return np.pad(f, [(0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)], mode="edge")


def _smooth(f: Array) -> Array:
    """The mean of a picture, its border repeated, and the smooth picture of half its size, level by level."""
    levels = [f]
    for level in range(1, LEVELS):
        rows, columns = ((n - 1 >> level) + 1 for n in f.shape[1:])
        levels.append(_halved(_halved(levels[-1], 1, rows), 2, columns))
    found = _edged(levels.pop())
    while levels:
        f = levels.pop()
        found = (_edged(f) + _doubled(_doubled(found, 1, f.shape[1]), 2, f.shape[2])) / 2
    return found[:, MARGIN:-MARGIN, MARGIN:-MARGIN]


def lens_blur(left: Array, right: Array, focus: int, scale: float) -> Array:
    _, height, width = left.shape
    colours, far = (
        left.astype(float),
        np.pad(right.astype(float), [(0, 0), (0, 0), (0, 2 * SHIFTS)], mode="edge"),
    )
    apart = [abs(colours - far[:, :, s : s + width]) for s in range(2 * SHIFTS)]
    cost = np.array(
        [(np.minimum(*apart[2 * z : 2 * z + 2]) ** 2).sum(axis=0) for z in range(SHIFTS)]
    )
    sure = cost.var(axis=0)
    smooth = _smooth(np.concatenate([cost * sure, sure[None]]))
    depth = (smooth[:-1] / smooth[-1]).argmin(axis=0)
    radius = np.minimum(abs(depth - focus) * scale, REACH)
    near = np.pad(radius, REACH, mode="edge")
    most = np.lib.stride_tricks.sliding_window_view(near, (2 * REACH + 1, 2 * REACH + 1)).max(
        axis=(2, 3)
    )
    y, x = np.indices(depth.shape)
    total, count = colours.copy(), np.ones_like(depth, float)
    for k in range(PLACES):
        turn, distance = k * 2.3999632, np.sqrt((k + 0.5) / PLACES)
        i = np.clip(y + np.round(most * distance * np.sin(turn)).astype(int), 0, height - 1)
        j = np.clip(x + np.round(most * distance * np.cos(turn)).astype(int), 0, width - 1)
        squared = (i - y) ** 2 + (j - x) ** 2
        mine, theirs = squared < radius**2, squared < radius[i, j] ** 2
        seen = theirs & (mine | (depth[i, j] < depth))
        total, count = total + seen * colours[:, i, j], count + seen
    return total / count


BINOMIAL = np.array([1, 4, 6, 4, 1])
RATIO, CELL, BINS = 3, 4, 6  # of bgu


def _grey(a: Array) -> Array:
    """f32, as the kernel has it: what it rounds to decides about a pixel's bin."""
    r, g, b = np.float32(a)
    return np.clip(
        np.float32(0.25) * r + np.float32(0.5) * g + np.float32(0.25) * b, 0, 1
    ) * np.float32(BINS)


def bgu(small: Array, done: Array, large: Array) -> Array:
    """Cells with a border of three, each one's least squares solved by itself."""
    pad = 4 * CELL + CELL // 2
    wide = [np.pad(a, [(0, 0), (pad, pad), (pad, pad)], mode="edge") for a in (small, done)]
    bins = np.floor(_grey(wide[0]) + np.float32(0.5)).astype(int)
    ones = np.ones_like(wide[0][:1])
    left, right = np.concatenate([wide[0], ones]), np.concatenate([wide[0], ones, wide[1]])
    y, x = (np.arange(n) // CELL for n in bins.shape)
    grid = np.zeros((y[-1] + 1, x[-1] + 1, BINS + 5, 4, 7))
    places = (*np.meshgrid(y, x, indexing="ij"), bins + 2)
    np.add.at(grid, places, np.einsum("iyx,jyx->yxij", left, right))
    for axis in range(3):
        grid = np.apply_along_axis(np.convolve, axis, grid, BINOMIAL, "same")
    pull = 1e-6 * (grid[..., 3, 3] + 1)
    for i in range(4):
        grid[..., i, i] += pull
    for i in range(3):
        grid[..., i, 4 + i] += pull * (grid[..., 3, 4 + i] + pull) / (grid[..., 3, i] + pull)
    fitted = np.linalg.solve(grid[2:-2, 2:-2, 2:-2, :, :4], grid[2:-2, 2:-2, 2:-2, :, 4:])
    y, x = np.indices(large.shape[1:])
    at = [y / (CELL * RATIO), x / (CELL * RATIO), _grey(large).astype(float)]
    corner = [np.floor(p).astype(int) for p in at]
    corner[2] = np.minimum(corner[2], BINS - 1)
    own = np.zeros((*y.shape, 4, 3))
    for bits in np.ndindex(2, 2, 2):
        share = [q - p if b else 1 - q + p for b, p, q in zip(bits, corner, at, strict=True)]
        place = tuple(p + b + offset for b, p, offset in zip(bits, corner, (2, 2, 0), strict=True))
        own += np.prod(share, axis=0)[..., None, None] * fitted[place]
    colours = np.concatenate([large, np.ones_like(large[:1])])
    return np.einsum("yxic,iyx->cyx", own, colours)


def _brighter(r: np.random.Generator) -> list[Any]:
    """A picture of slopes, a curve of its brightness for the small one, and the large one."""
    y, x = np.mgrid[:41, :58] / 50
    large = np.stack([0.2 + 0.5 * y + 0.2 * x, 0.3 + 0.4 * x * y, 0.6 - 0.3 * y]) + r.uniform(
        -0.1, 0.1, (3, 41, 58)
    )
    small = large[:, ::RATIO, ::RATIO]
    return [np.float32(a) for a in (small, small**0.6 + 0.05 * small[::-1], large)]


def _stereo(r: np.random.Generator) -> list[Any]:
    """A picture and the same one seen from beside: the lower half is nearer."""
    wide = r.integers(0, 256, (3, 23, 60), np.uint8)
    left, right = wide[:, :, 9:50], wide[:, :, 7:48].copy()
    right[:, 12:] = wide[:, 12:, 3:44]
    return [np.ascontiguousarray(left), right, 1, 1.5]


CASES: dict[str, tuple[Callable[..., Any], Inputs, dict[str, int]]] = {
    "lens_blur": (lens_blur, _stereo, {"L": LEVELS, "Z": SHIFTS, "R": REACH, "S": PLACES}),
    "bgu": (bgu, _brighter, {"U": RATIO, "S": CELL, "bins": BINS}),
}

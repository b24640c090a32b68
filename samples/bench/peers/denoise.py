"""Peers of the DCT denoiser in f32: CHANNELS planes of H x W, 16 x 16 tiles every 8 pixels.

A tile is transformed by the orthonormal DCT in rows and columns, coefficients below `LEVEL`
thousandths but the mean become 0, transformed back, windowed (squared sine) and added; the windows
of overlapping tiles sum to 1. The border is mirrored. H is a multiple of 32, W of 8.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import timing
from halide_jit import Schedule, constant_table, dense, fastest, funcs, hl, names, require
from numpy.lib.stride_tricks import sliding_window_view
from timing import Array, Candidate

TILE, STRIDE = 16, 8
BAND = 9 * STRIDE  # rows that the check looks at, at either end
WINDOW = np.sin(np.pi * (np.arange(TILE) + 0.5) / TILE) ** 2


@dataclass(frozen=True, slots=True)
class Problem:
    """Planar image and threshold."""

    image: Array
    level: float

    def error(self, output: Array) -> float:
        """Share of pixels off by more than 1e-4: rounding flips a few coefficients at the level."""
        top = reference(self.image[:, :BAND], self.level)[:, : BAND - TILE]
        bottom = reference(self.image[:, -BAND:], self.level)[:, TILE:]
        close = [
            np.abs(output[:, : BAND - TILE] - top) <= 1e-4,
            np.abs(output[:, TILE - BAND :] - bottom) <= 1e-4,
        ]
        return 1.0 - float(np.mean(close))


def dct_matrix() -> Array:
    """The orthonormal DCT-II as a matrix, one row a frequency."""
    place = np.arange(TILE)
    matrix = np.cos(np.pi * (2 * place[None, :] + 1) * place[:, None] / (2 * TILE))
    matrix *= np.sqrt(2.0 / TILE)
    matrix[0] /= np.sqrt(2.0)
    return matrix


def reference(image: Array, level: float) -> Array:
    """The definition in f64, by matrix products."""
    dct = dct_matrix()
    spectrum = dct @ cut(image.astype(np.float64)) @ dct.T
    return add(dct.T @ cored(spectrum, level) @ dct, image.shape)


def cored(spectrum: Array, level: float) -> Array:
    """The same array, weak coefficients 0; the mean of a tile stays."""
    weak = np.abs(spectrum) < level
    weak[..., 0, 0] = False
    spectrum[weak] = 0
    return spectrum


def cut(image: Array) -> Array:
    """Tiles: channel, row, column, 16, 16."""
    padded = np.pad(image, ((0, 0), (STRIDE, STRIDE), (STRIDE, STRIDE)), mode="symmetric")
    tiles: Array = sliding_window_view(padded, (TILE, TILE), axis=(1, 2))[:, ::STRIDE, ::STRIDE]
    return tiles


def add(tiles: Array, shape: tuple[int, ...]) -> Array:
    """Windows and overlap-adds."""
    tiles = tiles * np.outer(WINDOW, WINDOW).astype(tiles.dtype)
    channels, height, width = shape
    total = np.zeros((channels, height + TILE, width + TILE), tiles.dtype)
    rows, columns = tiles.shape[1] * STRIDE, tiles.shape[2] * STRIDE
    for top in (0, STRIDE):
        for left in (0, STRIDE):
            part = tiles[:, :, :, top : top + STRIDE, left : left + STRIDE]
            part = part.transpose(0, 1, 3, 2, 4).reshape(channels, rows, columns)
            total[:, top : top + rows, left : left + columns] += part
    return total[:, STRIDE : STRIDE + height, STRIDE : STRIDE + width]


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """Four matrix products for each tile, fused with coring, window and overlap-add."""
    require()
    schedules = [
        Schedule(
            f"direct DCT, tile in registers, overlap-add over strips of {strips * STRIDE} rows",
            partial(pipeline, p, strips),
        )
        for strips in (4, 2)
    ]
    yield fastest(schedules, [p.image], np.empty_like(p.image))


def pipeline(p: Problem, strips: int) -> tuple[Any, list[Any]]:
    """Tile (tx, ty) covers the pixels from (8 tx - 8, 8 ty - 8)."""
    channels, height, width = p.image.shape
    image = hl.ImageParam(hl.Float(32), 3, "I")
    x, y, c, i, j, u, v, tx, ty, xi, yi, yo = names("x y c i j u v tx ty xi yi yo")
    matrix = dct_matrix().astype(np.float32)
    dct, inverse = constant_table(matrix), constant_table(np.ascontiguousarray(matrix.T))
    window = constant_table(WINDOW.astype(np.float32))
    whole = (hl.Expr(), hl.Expr())
    mirrored = hl.BoundaryConditions.mirror_image(image, [(0, width), (0, height), whole])
    tile, rows, both, strong = funcs("tile rows both strong")
    back_rows, back, done, out = funcs("back_rows back done out")
    r = [hl.RDom([(0, TILE)], f"r{product}") for product in range(4)]
    which = (tx, ty, c)
    tile[(i, j, *which)] = mirrored[tx * STRIDE - STRIDE + i, ty * STRIDE - STRIDE + j, c]
    rows[(i, v, *which)] = hl.f32(0)
    rows[(i, v, *which)] += dct[r[0], v] * tile[(i, r[0], *which)]
    both[(u, v, *which)] = hl.f32(0)
    both[(u, v, *which)] += inverse[u, r[1]] * rows[(r[1], v, *which)]
    value = both[(u, v, *which)]
    weak = (u + v > 0) & (hl.abs(value) < hl.f32(p.level))
    strong[(u, v, *which)] = hl.select(weak, 0.0, value)
    back_rows[(i, v, *which)] = hl.f32(0)
    back_rows[(i, v, *which)] += dct[i, r[2]] * strong[(r[2], v, *which)]
    back[(i, j, *which)] = hl.f32(0)
    back[(i, j, *which)] += inverse[r[3], j] * back_rows[(i, r[3], *which)]
    done[(i, j, *which)] = back[(i, j, *which)] * window[i] * window[j]
    left, top, near_x, near_y = x // STRIDE, y // STRIDE, x % STRIDE, y % STRIDE
    far_x, far_y = near_x + STRIDE, near_y + STRIDE
    upper = done[far_x, far_y, left, top, c] + done[near_x, far_y, left + 1, top, c]
    lower = done[far_x, near_y, left, top + 1, c] + done[near_x, near_y, left + 1, top + 1, c]
    out[x, y, c] = upper + lower

    out.bound(x, 0, width).bound(y, 0, height).bound(c, 0, channels)
    out.split(y, yo, yi, STRIDE * strips).split(yi, y, yi, STRIDE).split(x, x, xi, STRIDE)
    out.reorder(xi, yi, x, y, yo, c).vectorize(xi).unroll(yi).parallel(yo).parallel(c)
    done.store_at(out, yo).compute_at(out, y).reorder(i, j, tx, ty).vectorize(i).unroll(j)
    done.bound_extent(i, TILE).bound_extent(j, TILE).align_bounds(i, TILE).align_bounds(j, TILE)
    for func in (tile, rows, both, strong, back_rows, back):
        inner, second = func.args()[:2]
        func.compute_at(done, tx).bound_extent(inner, TILE).bound_extent(second, TILE)
        func.vectorize(inner).unroll(second)
    for func, over in zip((rows, both, back_rows, back), r, strict=True):
        inner, second = func.args()[:2]
        func.update().reorder(inner, second, over.x).vectorize(inner).unroll(second)
    dense(image, width, height, channels)
    return out, [image]


def scipy_peer(p: Problem) -> Iterator[Candidate]:
    """dctn and idctn (fast DCT) over all tiles at once."""
    scipy, fft = timing.load("scipy"), timing.load("scipy.fft")
    options = {"axes": (3, 4), "norm": "ortho", "workers": timing.threads()}

    def run() -> Array:
        spectrum = fft.dctn(cut(p.image), **options)
        return add(fft.idctn(cored(spectrum, p.level), overwrite_x=True, **options), p.image.shape)

    yield Candidate(scipy.__version__, run, note="fft.dctn on tiles (fast DCT)")


def numpy_peer(p: Problem) -> Iterator[Candidate]:
    """Matrix products over all tiles at once."""
    dct = dct_matrix().astype(np.float32)

    def run() -> Array:
        spectrum = dct @ cut(p.image) @ dct.T
        return add(dct.T @ cored(spectrum, p.level) @ dct, p.image.shape)

    yield Candidate(np.__version__, run, note="16 x 16 matrix products")


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(H=1024, W=1024, CHANNELS=3, LEVEL=200)
    height, width, channels = sizes["H"], sizes["W"], sizes["CHANNELS"]
    if height % 32 or width % STRIDE or height < 2 * BAND:
        timing.refuse("H must be a multiple of 32 above 143, W a multiple of 8")
    image = np.random.default_rng(3).random((channels, height, width), np.float32)
    p = Problem(image, sizes["LEVEL"] / 1000)
    tiles = (height // STRIDE + 1) * (width // STRIDE + 1) * channels
    case = timing.Case("denoise", sizes, 2.0 * 4 * TILE**3 * tiles, p.error, 1e-2)
    peers = {
        "halide": lambda: halide_peer(p),
        "scipy": lambda: scipy_peer(p),
        "numpy": lambda: numpy_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())

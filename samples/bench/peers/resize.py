"""Peers of the separable 3-lobe Lanczos resize of CHANNELS planes of f32: IN x IN to OUT x OUT.

Source coordinate (x + 0.5) / s - 0.5 with s = OUT / IN, 6 / s taps, weights normalised, the window
clamped to the image. Only shrinking: OUT < IN.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import timing
from halide_jit import LANES, Schedule, constant_table, dense, fastest, funcs, hl, names, require
from timing import Array, Candidate

LOBES = 3


@dataclass(frozen=True, slots=True)
class Bands:
    """Weights stored block-sparse: outputs of one group share the first tap, `begin[group]`."""

    begin: Array
    weights: Array
    taps: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Planar image, and the dense matrix of one direction for the check."""

    size_in: int
    size_out: int
    channels: int
    image: Array
    matrix: Array

    def error(self, output: Array) -> float:
        """Compares a few rows of every channel."""
        rows = timing.sample_rows(self.size_out)
        want = self.matrix[rows] @ self.image.astype(np.float64) @ self.matrix.T
        return timing.relative_error(output[:, rows], want)


def make_problem(size_in: int, size_out: int, channels: int) -> Problem:
    """A smooth picture with some noise, between 0 and 1."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[0:size_in, 0:size_in]
    planes = [0.5 + 0.4 * np.sin(x / (9 + 3 * c)) * np.cos(y / 17) for c in range(channels)]
    image = np.stack(planes) + 0.05 * rng.standard_normal((channels, size_in, size_in))
    image = np.clip(image, 0, 1).astype(np.float32)
    bands = make_bands(size_in, size_out, 1)
    matrix = np.zeros((size_out, size_in))
    for row in range(size_out):
        start = bands.begin[row]
        matrix[row, start : start + bands.taps] = bands.weights[row]
    return Problem(size_in, size_out, channels, image, matrix)


def make_bands(size_in: int, size_out: int, group: int) -> Bands:
    """The weights, with whole groups (and one strip of 16 more rows) so that tails stay inside."""
    scale = size_in / size_out
    centre = (np.arange(size_out) + 0.5) * scale - 0.5
    first = np.maximum(0, np.ceil(centre - LOBES * scale).astype(int))
    last = np.minimum(size_in - 1, np.floor(centre + LOBES * scale).astype(int))
    starts = first[::group]
    stops = last[np.minimum(np.arange(group - 1, size_out + group - 1, group), size_out - 1)] + 1
    taps = int((stops - starts).max())
    starts = np.minimum(starts, size_in - taps)
    padded = (-(-size_out // LANES) + 1) * LANES // group
    starts = np.concatenate([starts, np.full(padded - len(starts), starts[-1])])
    weights = np.zeros((padded * group, taps))
    for row in range(size_out):
        places = np.arange(first[row], last[row] + 1)
        offset = (places - centre[row]) / scale
        value = np.sinc(offset) * np.sinc(offset / LOBES)
        weights[row, places - starts[row // group]] = value / value.sum()
    return Bands(starts.astype(np.int32), weights.astype(np.float32), taps)


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """Both passes fused per strip of rows, weights block-sparse."""
    require()
    blocks = [(4, 8, 4), (4, 16, 2), (8, 16, 2), (8, 8, 4)]
    schedules = [
        Schedule(
            f"block-sparse: {group} rows share taps, strips of {strip}, {vectors} vectors wide",
            partial(pipeline, p, group, strip, vectors),
        )
        for group, strip, vectors in blocks
    ]
    output = np.empty((p.channels, p.size_out, p.size_out), np.float32)
    yield fastest(schedules, [p.image], output)


def pipeline(p: Problem, group: int, strip: int, vectors: int) -> tuple[Any, list[Any]]:
    """Vertical pass along x, `group` rows a load; then horizontal, 16 outputs a vector."""
    image = hl.ImageParam(hl.Float(32), 3, "I")
    x, y, c, xi, yi, g, gi, yo = names("x y c xi yi g gi yo")
    across, down = (
        make_bands(p.size_in, p.size_out, LANES),
        make_bands(p.size_in, p.size_out, group),
    )
    begin_x, begin_y = constant_table(across.begin), constant_table(down.begin)
    weight_x = constant_table(np.ascontiguousarray(across.weights.T))
    weight_y = constant_table(down.weights)
    ry, rx = hl.RDom([(0, down.taps)], "ry"), hl.RDom([(0, across.taps)], "rx")
    tall, rows, wide, out = funcs("tall rows wide out")
    row = hl.unsafe_promise_clamped(begin_y[g], 0, p.size_in - down.taps) + ry
    column = hl.unsafe_promise_clamped(begin_x[g], 0, p.size_in - across.taps) + rx
    tall[x, gi, g, c] = hl.f32(0)
    tall[x, gi, g, c] += weight_y[ry, g * group + gi] * image[x, row, c]
    rows[x, y, c] = tall[x, y % group, y // group, c]
    wide[xi, y, g, c] = hl.f32(0)
    wide[xi, y, g, c] += weight_x[g * LANES + xi, rx] * rows[column, y, c]
    out[x, y, c] = wide[x % LANES, y, x // LANES, c]

    guard = hl.TailStrategy.GuardWithIf
    out.bound(x, 0, p.size_out).bound(y, 0, p.size_out).bound(c, 0, p.channels)
    out.split(y, yo, yi, strip, guard).split(x, x, xi, LANES, guard).reorder(xi, yi, x, c, yo)
    out.vectorize(xi).parallel(yo)
    rows.compute_at(out, c).split(x, x, xi, LANES * vectors).split(y, y, yi, group)
    rows.reorder(xi, yi, x, y).vectorize(xi, LANES).unroll(xi).unroll(yi).align_bounds(y, group)
    tall.compute_at(rows, x).vectorize(x, LANES).unroll(x).unroll(gi)
    tall.update().reorder(x, gi, ry.x).vectorize(x, LANES).unroll(x).unroll(gi)
    wide.compute_at(out, x).vectorize(xi).bound_extent(xi, LANES).reorder(xi, y, g, c).unroll(y)
    wide.update().reorder(xi, y, rx.x, g, c).vectorize(xi).unroll(y)
    dense(image, p.size_in, p.size_in, p.channels)
    return out, [image]


def pillow_peer(p: Problem) -> Iterator[Candidate]:
    """LANCZOS on f32 planes; and on one RGB picture of bytes, where Pillow is faster."""
    pillow = timing.load("PIL")
    images = timing.load("PIL.Image")
    shape, lanczos = (p.size_out, p.size_out), images.Resampling.LANCZOS
    planes = [images.fromarray(plane) for plane in p.image]
    yield Candidate(
        pillow.__version__,
        lambda: [plane.resize(shape, lanczos) for plane in planes],
        view=lambda results: np.stack([np.asarray(plane) for plane in results]),
        note="LANCZOS, planes of mode F",
        tolerance=1e-2,
    )
    if p.channels == 3:
        picture = images.fromarray(_packed_bytes(p))
        yield Candidate(
            pillow.__version__,
            lambda: picture.resize(shape, lanczos),
            view=lambda result: np.asarray(result).transpose(2, 0, 1) / 255,
            note="LANCZOS, 8-bit RGB",
            peer="pillow-rgb8",
            tolerance=1e-2,
        )


def _packed_bytes(p: Problem) -> Array:
    rounded = np.rint(p.image * 255).astype(np.uint8)
    return np.ascontiguousarray(rounded.transpose(1, 2, 0))


def opencv_peer(p: Problem) -> Iterator[Candidate]:
    """Neither is the same filter: INTER_AREA is a box, INTER_LANCZOS4 takes 8 taps and aliases."""
    cv2 = timing.load("cv2")
    cv2.setNumThreads(timing.threads())
    picture = np.ascontiguousarray(p.image.transpose(1, 2, 0))
    output = np.empty((p.size_out, p.size_out, p.channels), np.float32)
    for name in ("INTER_AREA", "INTER_LANCZOS4"):
        options = {"interpolation": getattr(cv2, name), "dst": output}
        yield Candidate(
            cv2.__version__,
            partial(cv2.resize, picture, (p.size_out, p.size_out), **options),
            output,
            view=lambda result: result.transpose(2, 0, 1),
            note=f"{name}: another filter",
            peer=f"opencv-{name.removeprefix('INTER_').lower()}",
            tolerance=1.0,
        )


def numpy_peer(p: Problem) -> Iterator[Candidate]:
    """Two dense matrix products for each channel."""
    matrix = p.matrix.astype(np.float32)
    transposed = np.ascontiguousarray(matrix.T)
    yield Candidate(
        np.__version__, lambda: matrix @ p.image @ transposed, note="dense matrix products"
    )


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(IN=2048, OUT=245, CHANNELS=3)
    if sizes["OUT"] >= sizes["IN"]:
        timing.refuse("OUT must be smaller than IN")
    p = make_problem(sizes["IN"], sizes["OUT"], sizes["CHANNELS"])
    taps = np.ceil(2 * LOBES * p.size_in / p.size_out)
    operations = 2.0 * p.channels * p.size_out * taps * (p.size_in + p.size_out)
    case = timing.Case("resize", sizes, operations, p.error, 1e-3)
    peers = {
        "halide": lambda: halide_peer(p),
        "pillow": lambda: pillow_peer(p),
        "opencv": lambda: opencv_peer(p),
        "numpy": lambda: numpy_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())

"""Peers of O[y,x] = sum_sr K[s,r] I[y+s,x+r] in f32: output H x W, T x T taps.

The input is (H+T-1) x (W+T-1), padded beforehand.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import timing
from halide_jit import (
    LANES,
    Schedule,
    dense,
    fastest,
    funcs,
    hl,
    names,
    reduction_names,
    require,
)
from numpy.lib.stride_tricks import sliding_window_view
from timing import Array, Candidate


@dataclass(frozen=True, slots=True)
class Problem:
    """Image and kernel."""

    height: int
    width: int
    taps: int
    image: Array
    kernel: Array

    def error(self, output: Array) -> float:
        """Compares a few rows."""
        rows = timing.sample_rows(self.height)
        kernel = self.kernel.astype(np.float64)
        want = []
        for row in rows:
            band = self.image[row : row + self.taps].astype(np.float64)
            want.append(np.tensordot(sliding_window_view(band, kernel.shape)[0], kernel))
        return timing.relative_error(output[rows], np.stack(want))


def make_problem(height: int, width: int, taps: int) -> Problem:
    """A random image and random taps."""
    rng = np.random.default_rng(1)
    image = rng.random((height + taps - 1, width + taps - 1), np.float32)
    kernel = rng.random((taps, taps), np.float32) / (taps * taps)
    return Problem(height, width, taps, image, kernel)


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """Register blocks in which several kernel rows share the loaded image rows."""
    require()
    blocks = [(4, 4, 4), (4, 4, 8), (2, 6, 4)]
    schedules = [
        Schedule(
            f"{rows}x{vectors} vector block, {shared} kernel rows unrolled together",
            partial(pipeline, p, rows, vectors, shared),
        )
        for rows, vectors, shared in blocks
    ]
    output = np.empty((p.height, p.width), np.float32)
    yield fastest(schedules, [p.image, p.kernel], output)


def pipeline(p: Problem, rows: int, vectors: int, shared: int) -> tuple[Any, list[Any]]:
    """rows x vectors sums in registers; a row of the image serves up to `shared` kernel rows."""
    image, kernel = hl.ImageParam(hl.Float(32), 2, "I"), hl.ImageParam(hl.Float(32), 2, "K")
    x, y, xi, yi = names("x y xi yi")
    r = hl.RDom([(0, p.taps), (0, p.taps)], "r")
    conv, out = funcs("conv out")
    conv[x, y] = hl.f32(0)
    conv[x, y] += image[x + r.x, y + r.y] * kernel[r.x, r.y]
    out[x, y] = conv[x, y]

    out.bound(x, 0, p.width).bound(y, 0, p.height)
    out.tile(x, y, xi, yi, LANES * vectors, rows, hl.TailStrategy.ShiftInwards)
    out.vectorize(xi, LANES).unroll(xi).unroll(yi).parallel(y)
    conv.compute_at(out, x).vectorize(x, LANES).unroll(x).unroll(y)
    outer, inner = reduction_names("outer inner")
    update = conv.update().split(r.y, outer, inner, min(shared, p.taps))
    update.reorder(x, y, inner, r.x, outer).unroll(inner)
    update.vectorize(x, LANES).unroll(x).unroll(y)
    dense(image, p.width + p.taps - 1, p.height + p.taps - 1)
    dense(kernel, p.taps, p.taps)
    return out, [image, kernel]


def opencv_peer(p: Problem) -> Iterator[Candidate]:
    """filter2D, a DFT above 11 x 11."""
    cv2 = timing.load("cv2")
    cv2.setNumThreads(timing.threads())
    padded = np.empty_like(p.image)
    options = {"anchor": (0, 0), "borderType": cv2.BORDER_CONSTANT, "dst": padded}
    yield Candidate(
        cv2.__version__,
        lambda: cv2.filter2D(p.image, -1, p.kernel, **options),
        padded,
        view=lambda full: full[: p.height, : p.width],
        note="filter2D (DFT)" if p.taps > 11 else "filter2D",
    )


def scipy_peer(p: Problem) -> Iterator[Candidate]:
    """oaconvolve and fftconvolve."""
    scipy, signal = timing.load("scipy"), timing.load("scipy.signal")
    flipped = p.kernel[::-1, ::-1]
    for function in (signal.oaconvolve, signal.fftconvolve):
        yield Candidate(
            scipy.__version__,
            partial(function, p.image, flipped, mode="valid"),
            note=f"signal.{function.__name__} (FFT)",
        )


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(H=2048, W=2048, T=16)
    p = make_problem(sizes["H"], sizes["W"], sizes["T"])
    operations = 2.0 * p.height * p.width * p.taps**2
    case = timing.Case("conv2d", sizes, operations, p.error)
    peers = {
        "halide": lambda: halide_peer(p),
        "opencv": lambda: opencv_peer(p),
        "scipy": lambda: scipy_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())

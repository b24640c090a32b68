"""Peers of O[y,x] = sum_sr K[2s+y%2,2r+x%2] I[y/2+s,x/2+r] in f32: output H x W, T x T taps.

H, W and T are even: T/2 x T/2 taps for each of the four phases. The input is
(H/2+T/2-1) x (W/2+T/2-1), padded beforehand.
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
        rows = sorted(
            {row + phase for row in timing.sample_rows(self.height - 1) for phase in (0, 1)}
        )
        half = self.taps // 2
        want = np.empty((len(rows), self.width))
        for place, row in enumerate(rows):
            band = self.image[row // 2 : row // 2 + half].astype(np.float64)
            windows = sliding_window_view(band, (half, half))[0]
            for phase in (0, 1):
                taps = self.kernel[row % 2 :: 2, phase::2].astype(np.float64)
                want[place, phase::2] = np.tensordot(windows, taps)
        return timing.relative_error(output[rows], want)

    def phases(self) -> Iterator[tuple[int, int, Array]]:
        """The four phases: row, column, taps."""
        for row in (0, 1):
            for column in (0, 1):
                yield row, column, np.ascontiguousarray(self.kernel[row::2, column::2])


def make_problem(height: int, width: int, taps: int) -> Problem:
    """A random image and random taps."""
    rng = np.random.default_rng(1)
    half = taps // 2
    image = rng.random((height // 2 + half - 1, width // 2 + half - 1), np.float32)
    kernel = rng.random((taps, taps), np.float32) / (half * half)
    return Problem(height, width, taps, image, kernel)


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """All four phases of a register block, stored interleaved."""
    require()
    blocks = [(2, 1, 8), (2, 2, 4), (4, 1, 4)]
    schedules = [
        Schedule(
            f"{rows}x{vectors} vectors x 4 phases, {shared} kernel rows unrolled together",
            partial(pipeline, p, rows, vectors, shared),
        )
        for rows, vectors, shared in blocks
    ]
    output = np.empty((p.height, p.width), np.float32)
    yield fastest(schedules, [p.image, p.kernel], output)


def pipeline(p: Problem, rows: int, vectors: int, shared: int) -> tuple[Any, list[Any]]:
    """Polyphase: one load of the image serves four phases and several kernel rows."""
    image, kernel = hl.ImageParam(hl.Float(32), 2, "I"), hl.ImageParam(hl.Float(32), 2, "K")
    x, y, xi, yi, dx, dy = names("x y xi yi dx dy")
    half = p.taps // 2
    r = hl.RDom([(0, half), (0, half)], "r")
    phase, out = funcs("phase out")
    phase[x, y, dx, dy] = hl.f32(0)
    phase[x, y, dx, dy] += image[x + r.x, y + r.y] * kernel[2 * r.x + dx, 2 * r.y + dy]
    out[x, y] = phase[x // 2, y // 2, x % 2, y % 2]

    out.bound(x, 0, p.width).bound(y, 0, p.height)
    shift = hl.TailStrategy.ShiftInwards
    out.tile(x, y, xi, yi, 2 * LANES * vectors, 2 * rows, shift).vectorize(xi, 2 * LANES)
    out.unroll(xi).unroll(yi).align_bounds(x, 2).align_bounds(y, 2).parallel(y)
    phase.compute_at(out, x).bound_extent(dx, 2).bound_extent(dy, 2)
    phase.vectorize(x, LANES).unroll(x).unroll(y).unroll(dx).unroll(dy)
    outer, inner = reduction_names("outer inner")
    update = phase.update().split(r.y, outer, inner, min(shared, half))
    update.reorder(x, y, dx, dy, inner, r.x, outer).unroll(inner)
    update.vectorize(x, LANES).unroll(x).unroll(y).unroll(dx).unroll(dy)
    dense(image, p.width // 2 + half - 1, p.height // 2 + half - 1)
    dense(kernel, p.taps, p.taps)
    return out, [image, kernel]


def opencv_peer(p: Problem) -> Iterator[Candidate]:
    """filter2D for each phase (a DFT above 11 x 11), then interleaved."""
    cv2 = timing.load("cv2")
    cv2.setNumThreads(timing.threads())
    padded, output = np.empty_like(p.image), np.empty((p.height, p.width), np.float32)
    options = {"anchor": (0, 0), "borderType": cv2.BORDER_CONSTANT, "dst": padded}
    phases = list(p.phases())

    def run() -> None:
        for row, column, taps in phases:
            cv2.filter2D(p.image, -1, taps, **options)
            output[row::2, column::2] = padded[: p.height // 2, : p.width // 2]

    note = "filter2D (DFT) x 4" if p.taps // 2 > 11 else "filter2D x 4"
    yield Candidate(cv2.__version__, run, output, note=note)


def scipy_peer(p: Problem) -> Iterator[Candidate]:
    """oaconvolve for each phase, then interleaved."""
    scipy, signal = timing.load("scipy"), timing.load("scipy.signal")
    output = np.empty((p.height, p.width), np.float32)
    phases = [(row, column, taps[::-1, ::-1]) for row, column, taps in p.phases()]

    def run() -> None:
        for row, column, taps in phases:
            output[row::2, column::2] = signal.oaconvolve(p.image, taps, mode="valid")

    yield Candidate(scipy.__version__, run, output, note="signal.oaconvolve (FFT) x 4")


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(H=2048, W=2048, T=16)
    if any(sizes[name] % 2 for name in "HWT"):
        timing.refuse("H, W and T must be even")
    p = make_problem(sizes["H"], sizes["W"], sizes["T"])
    operations = 2.0 * p.height * p.width * (p.taps // 2) ** 2
    case = timing.Case("upsample", sizes, operations, p.error)
    peers = {
        "halide": lambda: halide_peer(p),
        "opencv": lambda: opencv_peer(p),
        "scipy": lambda: scipy_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())

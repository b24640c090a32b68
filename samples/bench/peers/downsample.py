"""Peers of O[y,x] = sum_sr K[s,r] I[2y+s,2x+r] in f32: output H x W, T x T taps.

The input is (2H+T-2) x (2W+T-2), padded beforehand; the default makes an image of 2048 x 2048
half as wide and high.
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
            band = self.image[2 * row : 2 * row + self.taps].astype(np.float64)
            want.append(np.tensordot(sliding_window_view(band, kernel.shape)[0, ::2], kernel))
        return timing.relative_error(output[rows], np.stack(want))


def make_problem(height: int, width: int, taps: int) -> Problem:
    """A random image and random taps."""
    rng = np.random.default_rng(1)
    image = rng.random((2 * height + taps - 2, 2 * width + taps - 2), np.float32)
    kernel = rng.random((taps, taps), np.float32) / (taps * taps)
    return Problem(height, width, taps, image, kernel)


@dataclass(frozen=True, slots=True)
class Block:
    """Register block: `rows` x `vectors` sums, `shared` kernel rows, strips of `strip` rows."""

    rows: int
    vectors: int
    shared: int
    strip: int = 16
    padded: bool = True  # staged rows are a multiple of 3 vectors, not of 1


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """Even and odd columns are staged per strip, then each phase is a dense convolution."""
    require()
    if p.taps % 2:
        raise timing.Unsuitable("this schedule wants an even number of taps")
    blocks = [Block(8, 2, 8), Block(8, 3, 4), Block(4, 4, 4, 32), Block(4, 4, 4)]
    yield fastest_block(p, blocks)


def first_halide_peer(p: Problem) -> Iterator[Candidate]:
    """The same with staged rows that are whole vectors: what one writes first. From images of 2048
    columns they lie 4096 bytes apart, in the same few sets of the cache."""
    require()
    if p.taps % 2:
        raise timing.Unsuitable("this schedule wants an even number of taps")
    yield fastest_block(p, [Block(8, 2, 8, padded=False), Block(4, 4, 4, padded=False)])


def fastest_block(p: Problem, blocks: list[Block]) -> Candidate:
    """The best of several register blocks."""
    schedules = [
        Schedule(
            f"{b.rows}x{b.vectors} vector block, even and odd columns staged per {b.strip} rows"
            + ("" if b.padded else ", rows of whole vectors"),
            partial(pipeline, p, b),
        )
        for b in blocks
    ]
    output = np.empty((p.height, p.width), np.float32)
    return fastest(schedules, [p.image, p.kernel], output)


def pipeline(p: Problem, block: Block) -> tuple[Any, list[Any]]:
    """Polyphase: taps split into (phase, place) in x and y."""
    image, kernel = hl.ImageParam(hl.Float(32), 2, "I"), hl.ImageParam(hl.Float(32), 2, "K")
    x, y, xi, yi, phase, strip = names("x y xi yi phase strip")
    r = hl.RDom([(0, 2), (0, p.taps // 2), (0, 2), (0, p.taps // 2)], "r")
    tap_x, tap_y = 2 * r.y + r.x, 2 * r.w + r.z
    phases, conv, out = funcs("phases conv out")
    phases[x, y, phase] = image[2 * x + phase, y]
    conv[x, y] = hl.f32(0)
    conv[x, y] += phases[x + r.y, 2 * y + tap_y, r.x] * kernel[tap_x, tap_y]
    out[x, y] = conv[x, y]

    shift = hl.TailStrategy.ShiftInwards
    out.bound(x, 0, p.width).bound(y, 0, p.height).split(y, strip, y, block.strip, shift)
    out.tile(x, y, xi, yi, LANES * block.vectors, block.rows, shift)
    out.vectorize(xi, LANES).unroll(xi).unroll(yi).parallel(strip)
    phases.compute_at(out, strip).bound(phase, 0, 2).reorder(phase, x, y)
    phases.vectorize(x, LANES, hl.TailStrategy.GuardWithIf).unroll(phase)
    phases.reorder_storage(x, phase, y).align_storage(x, (3 if block.padded else 1) * LANES)
    conv.compute_at(out, x).vectorize(x, LANES).unroll(x).unroll(y)
    outer, inner = reduction_names("outer inner")
    update = conv.update().split(r.w, outer, inner, min(block.shared, p.taps // 2))
    update.reorder(x, y, inner, r.x, r.y, r.z, outer).unroll(inner)
    update.vectorize(x, LANES).unroll(x).unroll(y)
    dense(image, 2 * p.width + p.taps - 2, 2 * p.height + p.taps - 2)
    dense(kernel, p.taps, p.taps)
    return out, [image, kernel]


def opencv_peer(p: Problem) -> Iterator[Candidate]:
    """filter2D (a DFT above 11 x 11) at full size, then every second row and column."""
    cv2 = timing.load("cv2")
    cv2.setNumThreads(timing.threads())
    padded, output = np.empty_like(p.image), np.empty((p.height, p.width), np.float32)
    options = {"anchor": (0, 0), "borderType": cv2.BORDER_CONSTANT, "dst": padded}

    def run() -> None:
        cv2.filter2D(p.image, -1, p.kernel, **options)
        np.copyto(output, padded[: 2 * p.height : 2, : 2 * p.width : 2])

    note = "filter2D (DFT) at full size" if p.taps > 11 else "filter2D at full size"
    yield Candidate(cv2.__version__, run, output, note=note)


def scipy_peer(p: Problem) -> Iterator[Candidate]:
    """oaconvolve at full size, then every second row and column."""
    scipy, signal = timing.load("scipy"), timing.load("scipy.signal")
    flipped = p.kernel[::-1, ::-1]
    yield Candidate(
        scipy.__version__,
        lambda: np.ascontiguousarray(
            signal.oaconvolve(p.image, flipped, mode="valid")[: 2 * p.height : 2, : 2 * p.width : 2]
        ),
        note="signal.oaconvolve (FFT) at full size",
    )


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(H=1024, W=1024, T=16)
    p = make_problem(sizes["H"], sizes["W"], sizes["T"])
    operations = 2.0 * p.height * p.width * p.taps**2
    case = timing.Case("downsample", sizes, operations, p.error)
    peers = {
        "halide": lambda: halide_peer(p),
        "halide-first": lambda: first_halide_peer(p),
        "opencv": lambda: opencv_peer(p),
        "scipy": lambda: scipy_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())

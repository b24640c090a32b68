"""Peers of O[y,x] = sum_r K[r] I[y,x+r]: output H x W, T taps, dtype f32 | bf16 | u8s8.

The input is H x (W+T-1), padded beforehand. bf16 sums in f32; u8s8 (u8 image, s8 taps) in s32.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bfloat
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

MOST_EXACT_TAPS = 512  # 255 * 128 * taps stays below 2**24, so f32 sums of u8 x s8 are exact


@dataclass(frozen=True, slots=True)
class Problem:
    """Image and taps as stored (bf16 as its bits) and the same numbers in f32."""

    height: int
    width: int
    taps: int
    dtype: str
    image: Array
    kernel: Array
    image_f32: Array
    kernel_f32: Array

    def new_output(self) -> Array:
        """A fresh output."""
        kind = np.int32 if self.dtype == "u8s8" else np.float32
        return np.empty((self.height, self.width), kind)

    def error(self, output: Array) -> float:
        """Compares a few rows."""
        rows = timing.sample_rows(self.height)
        windows = sliding_window_view(self.image_f32[rows].astype(np.float64), self.taps, axis=1)
        return timing.relative_error(output[rows], windows @ self.kernel_f32.astype(np.float64))


def make_problem(height: int, width: int, taps: int, dtype: str) -> Problem:
    """A random image and random taps."""
    rng = np.random.default_rng(1)
    shape = (height, width + taps - 1)
    if dtype == "u8s8":
        image: Array = rng.integers(0, 256, shape, dtype=np.uint8)
        kernel: Array = rng.integers(-128, 128, taps, dtype=np.int8)
        wide_image, wide_kernel = image.astype(np.float32), kernel.astype(np.float32)
        return Problem(height, width, taps, dtype, image, kernel, wide_image, wide_kernel)
    image, kernel = rng.random(shape, np.float32), rng.random(taps, np.float32) / taps
    if dtype == "f32":
        return Problem(height, width, taps, dtype, image, kernel, image, kernel)
    image, kernel = bfloat.to_bits(image), bfloat.to_bits(kernel)
    wide_image, wide_kernel = bfloat.to_f32(image), bfloat.to_f32(kernel)
    return Problem(height, width, taps, dtype, image, kernel, wide_image, wide_kernel)


@dataclass(frozen=True, slots=True)
class Block:
    """Register block: `rows` x `vectors` outputs, `shared` taps 16 apart unrolled together."""

    rows: int
    vectors: int
    shared: int = 1


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """Register blocks; bf16 and u8s8 also with the image widened to f32 strip by strip."""
    require()
    if p.taps < 2 * LANES:
        blocks = [Block(4, 1), Block(4, 2), Block(4, 4)]
    else:
        shared = 4 if p.taps > 2 * LANES else 2
        blocks = [Block(2, 6, shared), Block(4, 4, shared), Block(1, 12, 2)]
    blocks = [b for b in blocks if b.shared == 1 or p.taps % (LANES * b.shared) == 0]
    blocks = blocks or [Block(4, 4)]
    schedules: list[Schedule] = []
    if p.dtype == "bf16" or (p.dtype == "u8s8" and p.taps <= MOST_EXACT_TAPS):
        schedules += [_schedule(p, block, widen=True) for block in blocks]
    if p.dtype == "f32":
        schedules += [_schedule(p, block, widen=False) for block in blocks]
    else:
        schedules.append(_schedule(p, Block(4, 4), widen=False))
    yield fastest(schedules, [p.image, p.kernel], p.new_output())


def _schedule(p: Problem, block: Block, widen: bool) -> Schedule:
    note = f"{block.rows}x{block.vectors} vector block"
    if block.shared > 1:
        note += f", {block.shared} taps 16 apart unrolled together"
    if widen:
        note += ", image widened to f32 strip by strip"
    return Schedule(note, lambda: pipeline(p, block, widen))


def pipeline(p: Problem, block: Block, widen: bool) -> tuple[Any, list[Any]]:
    """One register block of sums per step; `widen` first brings a strip of the image to f32."""
    stored_image, stored_kernel, result = {
        "f32": (hl.Float(32), hl.Float(32), hl.Float(32)),
        "bf16": (hl.UInt(16), hl.UInt(16), hl.Float(32)),
        "u8s8": (hl.UInt(8), hl.Int(8), hl.Int(32)),
    }[p.dtype]
    image, kernel = hl.ImageParam(stored_image, 2, "I"), hl.ImageParam(stored_kernel, 1, "K")
    work = hl.Float(32) if widen else result
    x, y, xi, yi, strip = names("x y xi yi strip")
    r = hl.RDom([(0, p.taps)], "r")
    wide, weights, conv, out = funcs("wide weights conv out")
    wide[x, y] = _value(image[x, y], p.dtype, work)
    weights[x] = _value(kernel[x], p.dtype, work)
    conv[x, y] = hl.cast(work, 0)
    conv[x, y] += wide[x + r, y] * weights[r]
    out[x, y] = hl.cast(result, conv[x, y])

    shift = hl.TailStrategy.ShiftInwards
    out.bound(x, 0, p.width).bound(y, 0, p.height)
    if widen:
        out.split(y, strip, y, block.rows, shift).parallel(strip, max(1, 64 // block.rows))
        wide.compute_at(out, strip).vectorize(x, LANES)
        weights.compute_root()
    out.tile(x, y, xi, yi, LANES * block.vectors, block.rows, shift)
    out.vectorize(xi, LANES).unroll(xi).unroll(yi)
    if not widen:
        out.parallel(y, max(1, 64 // block.rows))
    conv.compute_at(out, x).vectorize(x, LANES).unroll(x).unroll(y)
    update = conv.update()
    if block.shared > 1:
        ro, rt, apart, ri = reduction_names("ro rt apart ri")
        update.split(r.x, ro, rt, LANES * block.shared).split(rt, apart, ri, LANES)
        update.reorder(x, y, apart, ri, ro).unroll(apart)
    else:
        update.reorder(x, y, r.x).unroll(r.x, min(p.taps, 8))
    update.vectorize(x, LANES).unroll(x).unroll(y)
    dense(image, p.width + p.taps - 1, p.height)
    dense(kernel, p.taps)
    return out, [image, kernel]


def _value(stored: Any, dtype: str, work: Any) -> Any:
    """The number behind a stored element; bf16 arrives as its bits."""
    if dtype == "bf16":
        return hl.reinterpret(hl.Float(32), hl.cast(hl.UInt(32), stored) << 16)
    return hl.cast(work, stored)


def opencv_peer(p: Problem) -> Iterator[Candidate]:
    """filter2D (a DFT above 11 taps) and sepFilter2D; u8 images give f32 results."""
    cv2 = timing.load("cv2")
    if p.dtype == "bf16":
        raise timing.Unsuitable("no bf16")
    cv2.setNumThreads(timing.threads())
    padded = np.empty((p.height, p.width + p.taps - 1), np.float32)
    one = np.ones(1, np.float32)
    options = {"anchor": (0, 0), "borderType": cv2.BORDER_CONSTANT, "dst": padded}
    calls = {
        "filter2D": lambda: cv2.filter2D(p.image, cv2.CV_32F, p.kernel_f32[None, :], **options),
        "sepFilter2D": lambda: cv2.sepFilter2D(p.image, cv2.CV_32F, p.kernel_f32, one, **options),
    }
    for name, call in calls.items():
        yield Candidate(
            cv2.__version__,
            call,
            padded,
            view=lambda full: full[:, : p.width],
            note=f"{name}, f32 result" if p.dtype == "u8s8" else name,
            tolerance=1e-4,
        )


def scipy_peer(p: Problem) -> Iterator[Candidate]:
    """correlate1d (direct) and oaconvolve (FFT); f32 only."""
    scipy = timing.load("scipy")
    ndimage, signal = timing.load("scipy.ndimage"), timing.load("scipy.signal")
    if p.dtype != "f32":
        raise timing.Unsuitable(f"no {p.dtype}")
    left = p.taps // 2
    yield Candidate(
        scipy.__version__,
        lambda: ndimage.correlate1d(p.image, p.kernel, axis=1, mode="constant"),
        view=lambda full: full[:, left : left + p.width],
        note="ndimage.correlate1d",
    )
    yield Candidate(
        scipy.__version__,
        lambda: signal.oaconvolve(p.image, p.kernel[None, ::-1], mode="valid", axes=1),
        note="signal.oaconvolve (FFT)",
    )


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(H=4096, W=4096, T=32, dtype="f32")
    if sizes["dtype"] not in ("f32", "bf16", "u8s8"):
        timing.refuse("dtype is f32, bf16 or u8s8")
    p = make_problem(sizes["H"], sizes["W"], sizes["T"], sizes["dtype"])
    name = "conv1d" if p.dtype == "f32" else f"conv1d_{p.dtype}"
    tolerance = {"f32": 1e-4, "bf16": 1e-3, "u8s8": 0.0}[p.dtype]
    operations = 2.0 * p.height * p.width * p.taps
    case = timing.Case(name, sizes, operations, p.error, tolerance)
    peers = {
        "halide": lambda: halide_peer(p),
        "opencv": lambda: opencv_peer(p),
        "scipy": lambda: scipy_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())

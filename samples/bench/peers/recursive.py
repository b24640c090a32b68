"""Peers of y[t] = x[t] + 1.8 y[t-1] - 0.9 y[t-2] in f32: C planar channels of N samples."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import timing
from halide_jit import Schedule, dense, fastest, funcs, hl, names, require
from timing import Array, Candidate

A, B = 1.8, -0.9


@dataclass(frozen=True, slots=True)
class Problem:
    """The samples, one row a channel."""

    samples: int
    channels: int
    signal: Array

    def error(self, output: Array) -> float:
        """Compares a stretch at the start, and others by the recurrence on the output itself."""
        start = _scan(self.signal[:, :4096])
        first = timing.relative_error(output[:, : start.shape[1]], start)
        wide = output.astype(np.float64)
        predicted = self.signal[:, 2:] + A * wide[:, 1:-1] + B * wide[:, :-2]
        return max(first, timing.relative_error(output[:, 2:], predicted))


def _scan(signal: Array) -> Array:
    result = np.zeros((signal.shape[0], signal.shape[1] + 2))
    for t in range(signal.shape[1]):
        result[:, t + 2] = signal[:, t] + A * result[:, t + 1] + B * result[:, t]
    return result[:, 2:]


def make_problem(samples: int, channels: int) -> Problem:
    """White noise."""
    rng = np.random.default_rng(2)
    signal = rng.standard_normal((channels, samples), dtype=np.float32)
    return Problem(samples, channels, signal)


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """The scan with all channels in one loop, and as it comes: channel after channel."""
    require()
    output = np.empty((p.channels, p.samples), np.float32)
    together = Schedule("serial scan, channels interleaved in one loop", lambda: scan(p, True))
    alone = Schedule("serial scan, one channel after the other", lambda: scan(p, False))
    yield fastest([together, alone], [p.signal], output)
    yield fastest([alone], [p.signal], output, peer="halide-serial")


def scan(p: Problem, interleaved: bool) -> tuple[Any, list[Any]]:
    """The definition, unrolled by 8; interleaving hides the latency of one channel's recurrence."""
    signal = hl.ImageParam(hl.Float(32), 2, "X")
    t, c = names("t c")
    (out,) = funcs("out")
    r = hl.RDom([(2, p.samples - 2)], "r")
    out[t, c] = hl.undef(hl.Float(32))
    out[0, c] = signal[0, c]
    out[1, c] = signal[1, c] + hl.f32(A) * out[0, c]
    out[r, c] = signal[r, c] + hl.f32(B) * out[r - 2, c] + hl.f32(A) * out[r - 1, c]
    out.bound(t, 0, p.samples).bound(c, 0, p.channels)
    out.update(0).unscheduled()
    out.update(1).unscheduled()
    update = out.update(2)
    if interleaved:
        update.reorder(c, r.x).unroll(r.x, 8).unroll(c)
    else:
        update.unroll(r.x, 8).parallel(c)
    dense(signal, p.samples, p.channels)
    dense(out.output_buffer(), p.samples, p.channels)
    return out, [signal]


def scipy_peer(p: Problem) -> Iterator[Candidate]:
    """lfilter and sosfilt."""
    scipy, signal = timing.load("scipy"), timing.load("scipy.signal")
    numerator, denominator = np.ones(1, np.float32), np.array([1.0, -A, -B], np.float32)
    sections = np.array([[1.0, 0.0, 0.0, 1.0, -A, -B]], np.float32)
    yield Candidate(
        scipy.__version__,
        lambda: signal.lfilter(numerator, denominator, p.signal, axis=1),
        note="signal.lfilter",
    )
    yield Candidate(
        scipy.__version__,
        lambda: signal.sosfilt(sections, p.signal, axis=1),
        note="signal.sosfilt",
    )


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(N=1 << 21, C=2)
    p = make_problem(sizes["N"], sizes["C"])
    case = timing.Case("recursive", sizes, 4.0 * p.samples * p.channels, p.error, 1e-3)
    peers = {"halide": lambda: halide_peer(p), "scipy": lambda: scipy_peer(p)}
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())

"""Peers of the 3x3 convolution layer with bias and ReLU in f32, NHWC: N images of H x W outputs.

C input and K output channels; the input is (H+2) x (W+2), padded beforehand.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import timing
from halide_jit import LANES, Schedule, dense, fastest, hl, names, require
from timing import Array, Candidate


@dataclass(frozen=True, slots=True)
class Problem:
    """Input N H W C, filter C 3 3 K, bias K."""

    images: Array
    filter: Array
    bias: Array

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The output's: N H W K."""
        count, height, width, _ = self.images.shape
        return count, height - 2, width - 2, self.bias.size

    def error(self, output: Array) -> float:
        """Compares a few rows of the first and the last image."""
        rows = timing.sample_rows(self.shape[1])
        ends = [0, self.shape[0] - 1]
        want = np.zeros((len(ends), len(rows), *self.shape[2:])) + self.bias
        for s in range(3):
            for r in range(3):
                lines = self.images[ends][:, [row + s for row in rows], r : r + self.shape[2]]
                want += lines.astype(np.float64) @ self.filter[:, s, r]
        return timing.relative_error(output[ends][:, rows], np.maximum(want, 0))


def make_problem(count: int, height: int, width: int, inputs: int, outputs: int) -> Problem:
    """Random input and weights."""
    rng = np.random.default_rng(4)
    images = rng.standard_normal((count, height + 2, width + 2, inputs), np.float32)
    weights = rng.standard_normal((inputs, 3, 3, outputs), np.float32) / np.float32(34)
    return Problem(images, weights, rng.standard_normal(outputs, np.float32))


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """The schedule of Halide's apps/conv_layer with several register blocks."""
    require()
    _, _, width, outputs = p.shape
    blocks = [(5, 4), (10, 2), (4, 4), (6, 4), (12, 2), (1, 1)]
    fitting = [(r, v) for r, v in blocks if width % r == 0 and outputs % (v * LANES) == 0]
    if not fitting:
        raise timing.Unsuitable("this schedule wants K to be a multiple of 16")
    schedules = [
        Schedule(
            f"{pixels} pixels x {vectors} channel vectors in registers, inputs broadcast",
            partial(pipeline, p, pixels, vectors),
        )
        for pixels, vectors in fitting[:4]
    ]
    output = np.empty(p.shape, np.float32)
    yield fastest(schedules, [p.images, p.filter, p.bias], output)


def pipeline(p: Problem, pixels: int, vectors: int) -> tuple[Any, list[Any]]:
    """pixels x vectors sums in registers; filter and input staged at the innermost loops."""
    count, height, width, outputs = p.shape
    inputs = p.images.shape[3]
    images, bias = hl.ImageParam(hl.Float(32), 4, "input"), hl.ImageParam(hl.Float(32), 1, "bias")
    weights = hl.ImageParam(hl.Float(32), 4, "filter")
    x, y, c, n, co, ci, xo, xi = names("x y c n co ci xo xi")
    conv, relu = hl.Func("conv"), hl.Func("relu")
    r = hl.RDom([(0, inputs), (0, 3), (0, 3)], "r")
    conv[c, x, y, n] = bias[c]
    conv[c, x, y, n] += weights[c, r.y, r.z, r.x] * images[r.x, x + r.y, y + r.z, n]
    relu[c, x, y, n] = hl.max(0.0, conv[c, x, y, n])

    dense(relu.output_buffer(), outputs, width, height, count)
    dense(images, inputs, width + 2, height + 2, count)
    dense(weights, outputs, 3, 3, inputs)
    dense(bias, outputs)
    relu.split(c, co, ci, LANES * vectors).split(x, xo, xi, pixels)
    relu.reorder(ci, xi, xo, y, n, co).vectorize(ci, LANES).unroll(ci).unroll(xi)
    relu.parallel(y).parallel(n).parallel(co)
    conv.compute_at(relu, xo).vectorize(c, LANES).unroll(c).unroll(x).unroll(y)
    update = conv.update().reorder(c, x, y, r.x, r.y, r.z, n).vectorize(c, LANES)
    update.unroll(c).unroll(x).unroll(y).unroll(r.x, 2)
    staged_weights, staged_input = weights.in_(), images.in_()
    axes = staged_weights.args()
    staged_weights.compute_at(conv, r.x).vectorize(axes[0], LANES).unroll(axes[0]).unroll(axes[3])
    staged_input.compute_at(conv, x).unroll(staged_input.args()[0])
    return relu, [images, weights, bias]


def torch_peer(p: Problem) -> Iterator[Candidate]:
    """conv2d and ReLU on channels-last tensors; and with the weights packed for oneDNN."""
    torch = timing.load("torch")
    torch.set_num_threads(timing.threads())
    images = torch.from_numpy(p.images).permute(0, 3, 1, 2)
    weights = torch.from_numpy(np.ascontiguousarray(p.filter.transpose(3, 1, 2, 0)))
    weights, bias = weights.permute(0, 3, 1, 2), torch.from_numpy(p.bias)

    def run() -> Any:
        with torch.inference_mode():
            return torch.conv2d(images, weights, bias).relu_()

    yield Candidate(torch.__version__, run, view=_channels_last, note="conv2d channels-last, relu_")
    yield from _torch_packed(torch, p, images, weights, bias)


def _torch_packed(
    torch: Any, p: Problem, images: Any, weights: Any, bias: Any
) -> Iterator[Candidate]:
    window = ([0, 0], [1, 1], [1, 1], 1)  # padding, stride, dilation, groups
    packed = torch.ops.mkldnn._reorder_convolution_weight(weights, *window, list(images.shape))

    def run() -> Any:
        with torch.inference_mode():
            return torch.ops.mkldnn._convolution_pointwise(
                images, packed, bias, *window, "relu", [], ""
            )

    yield Candidate(
        torch.__version__,
        run,
        view=_channels_last,
        note="oneDNN convolution with fused ReLU, weights packed beforehand",
        peer="torch-prepacked",
    )


def _channels_last(result: Any) -> Array:
    return np.asarray(result.permute(0, 2, 3, 1).numpy())


def numpy_peer(p: Problem) -> Iterator[Candidate]:
    """Nine shifted matrix products."""
    count, height, width, outputs = p.shape
    inputs = p.images.shape[3]

    def run() -> Array:
        total = np.broadcast_to(p.bias, (count * height * width, outputs)).copy()
        for s in range(3):
            for r in range(3):
                moved = p.images[:, s : s + height, r : r + width].reshape(-1, inputs)
                total += moved @ p.filter[:, s, r]
        np.maximum(total, 0, out=total)
        return total.reshape(p.shape)

    yield Candidate(np.__version__, run, note="nine shifted matrix products")


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(N=5, H=80, W=100, C=128, K=128)
    p = make_problem(*(sizes[name] for name in "NHWCK"))
    operations = 2.0 * 9 * sizes["C"] * np.prod(p.shape)
    case = timing.Case("conv_layer", sizes, float(operations), p.error)
    peers = {
        "halide": lambda: halide_peer(p),
        "torch": lambda: torch_peer(p),
        "numpy": lambda: numpy_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())

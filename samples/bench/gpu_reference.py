"""What a few rows of a sample must be at large sizes, by NumPy in double precision on the host.

Written from what the samples compute, not from their text. A row comes with the error that sums in single
precision may have: for n products of magnitude m in all, n * m / 2^23, tensor cores rounding towards zero.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

ROWS = 6  # of the output that are compared
ROUNDED = 2.0**-23


def compare(sample, inputs, output, generator):
    """The largest error of the rows as a share of what is allowed; None without a reference."""
    find = REFERENCES.get(sample)
    if find is None or not output.size:
        return None
    inputs = {**inputs, "width": output.shape[-1]}
    worst = 0.0
    for _ in range(ROWS):
        at = tuple(int(generator.integers(n)) for n in output.shape[: LEADING[sample]])
        value, bound = find(inputs, at)
        error = np.abs(output[at].astype(np.float64) - value)
        share = np.where(np.isnan(error), np.inf, error / np.maximum(bound, 1e-30))
        worst = max(worst, float(share.max()))
    return worst


def _sum(pairs, terms):
    """The sums of products of the pairs of matrices, and their bound."""
    value = magnitude = 0.0
    for a, b in pairs:
        a, b = a.astype(np.float64), b.astype(np.float64)
        value, magnitude = value + a @ b, magnitude + np.abs(a) @ np.abs(b)
    return value, terms * ROUNDED * magnitude


def gemm(x, at):
    return _sum([(x["A"][at[0]], x["B"])], x["A"].shape[1])


def conv1d(x, at):
    taps = len(x["K"])
    return _sum([(sliding_window_view(x["I"][at[0]], taps), x["K"])], taps)


def conv2d(x, at, step=1):
    taps = len(x["K"])
    rows = [sliding_window_view(x["I"][step * at[0] + s], taps)[::step] for s in range(taps)]
    return _sum(zip(rows, x["K"], strict=True), taps * taps)


def downsample(x, at):
    return conv2d(x, at, 2)


def upsample(x, at):
    """Output y takes every other tap, beginning with y % 2, along both axes."""
    kernel, (y,) = x["K"], at
    half = (len(kernel) + 1) // 2
    width = x["width"]
    value, bound = np.zeros(width), np.zeros(width)
    for q in (0, 1):
        taps = np.zeros((half, half))
        part = kernel[y % 2 :: 2, q::2]
        taps[: part.shape[0], : part.shape[1]] = part
        rows = [sliding_window_view(x["I"][y // 2 + s], half) for s in range(half)]
        found = _sum(zip(rows, taps, strict=True), half * half)
        count = len(value[q::2])
        value[q::2], bound[q::2] = found[0][:count], found[1][:count]
    return value, bound


def conv_layer(x, at):
    """With bias and ReLU: the larger of two numbers is no further from its like than they are."""
    n, y = at
    image, filters = x["I"][n], x["F"]
    width = image.shape[1] - 2
    pairs = [(image[y + s, r : r + width], filters[s, r]) for s in range(3) for r in range(3)]
    value, bound = _sum(pairs, 9 * image.shape[2] + 1)
    bias = x["B"].astype(np.float64)
    return np.maximum(value + bias, 0.0), bound + 4 * ROUNDED * (np.abs(bias) + 1)


def attention(x, at):
    """Weights are rounded to half floats, and exponents have the error of their scores."""
    b, i = at
    query, keys, values = (x[name][b].astype(np.float64) for name in "QKV")
    depth = keys.shape[1]
    scores = keys @ query[i] / np.sqrt(depth)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    loose = 2.0**-10 + 8 * depth * ROUNDED * (np.abs(keys) @ np.abs(query[i])).max()
    spread = weights @ np.abs(values)
    return weights @ values, loose * spread + len(keys) * ROUNDED * spread + 2.0**-14


REFERENCES = {
    "gemm_f16": gemm, "conv1d": conv1d, "conv2d": conv2d, "downsample": downsample,
    "upsample": upsample, "conv_layer": conv_layer, "attention": attention,
    "attention_fused": attention,
}  # fmt: skip
LEADING = dict.fromkeys(REFERENCES, 1) | {
    "conv_layer": 2, "attention": 2, "attention_fused": 2,
}  # fmt: skip

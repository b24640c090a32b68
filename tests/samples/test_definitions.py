"""What a sample computes is what its name says: the oracle against formulas written with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np
import pytest
from sample_table import FOLDER, SAMPLES, Array, cases

Inputs = Mapping[str, Array]


def gemm(i: Inputs) -> Array:
    return i["A"] @ i["B"]


def requantised(i: Inputs) -> Array:
    scaled = np.maximum(gemm(i) + i["bias"], 0).astype(np.float32) * np.float32(0.0005)
    return np.clip(np.rint(scaled), 0, 255)


def smoothed(picture: Array) -> Array:
    """A quarter, a half and a quarter along both axes, edges repeated."""
    p = np.pad(picture, 1, mode="edge")
    rows = (p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]) / 4
    made: Array = (rows[:-2] + 2 * rows[1:-1] + rows[2:]) / 4
    return made


def conv1d(i: Inputs) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(i["I"], i["K"].size, axis=1)
    return windows @ i["K"]


def conv2d(i: Inputs) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(i["I"], i["K"].shape)
    return np.einsum("yxsr,sr->yx", windows, i["K"])


def downsample(i: Inputs) -> Array:
    return conv2d(i)[::2, ::2]


def upsample(i: Inputs, height: int, width: int) -> Array:
    taps = np.pad(i["K"], (0, i["K"].shape[0] % 2))
    out = np.zeros((height, width))
    for p in (0, 1):
        for q in (0, 1):
            phase = conv2d({"I": i["I"], "K": taps[p::2, q::2]})
            target = out[p::2, q::2]
            target[:] = phase[: target.shape[0], : target.shape[1]]
    return out


def lanczos(size_in: int, size_out: int) -> Array:
    """The dense matrix of one direction."""
    scale = size_in / size_out
    wide = max(scale, 1.0)
    centre = (np.arange(size_out) + 0.5) * scale - 0.5
    z = (np.arange(size_in)[None, :] - centre[:, None]) / wide
    weights = np.where(np.abs(z) < 3, np.sinc(z) * np.sinc(z / 3), 0.0)
    normalised: Array = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def recursive(i: Inputs) -> Array:
    x = i["X"]
    y = np.zeros((x.shape[0] + 2, 2))
    for t in range(x.shape[0]):
        y[t + 2] = x[t] + 1.8 * y[t + 1] - 0.9 * y[t]
    return y[2:]


def recursive_bf16(i: Inputs) -> Array:
    """Both sides of 1 / (1 - a z - b z^2) times three polynomials, whose product is rounded."""
    a, b = 1.8, -0.9
    taps, step = np.ones(1), 1
    for _ in range(3):
        factor = np.zeros(2 * step + 1)
        factor[[0, step, 2 * step]] = 1, a, -b
        taps, step = np.convolve(taps, factor), 2 * step
        a, b = a * a + 2 * b, -b * b
    x = i["X"]
    y = np.zeros_like(x)
    y[:16] = recursive({"X": x[:16]})
    short = np.stack([np.convolve(x[:, c], rounded(taps)) for c in (0, 1)], axis=1)
    for t in range(16, x.shape[0]):
        y[t] = short[t] + a * y[t - 8] + b * y[t - 16]
    return y


def rounded(x: Array) -> Array:
    """To bf16."""
    near: Array = x.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    return near


def exactly(x: Array) -> Array:
    return x


def denoise(
    i: Inputs, operand: Callable[[Array], Array] = exactly, from_middle: bool = False
) -> Array:
    """Tile by tile, with the DCT as matrix products, whose operands may be rounded: of the tile, or of how
    far it is `from_middle`."""
    image = i["I"]
    height, width, _ = image.shape
    k = np.arange(16)
    dct = np.cos(np.pi * (2 * k[None, :] + 1) * k[:, None] / 32) * np.sqrt(2 / 16)
    dct[0] /= np.sqrt(2)
    dct = operand(dct)
    squared_sine = np.sin(np.pi * (k + 0.5) / 16) ** 2
    window = np.outer(squared_sine, squared_sine)[:, :, None]
    padded = np.pad(image, ((8, 16), (8, 16), (0, 0)), mode="symmetric")
    out = np.zeros_like(padded)
    for top in range(0, height + 8, 8):
        for left in range(0, width + 8, 8):
            middle = padded[top + 8, left + 8] if from_middle else 0.0
            tile = operand(padded[top : top + 16, left : left + 16] - middle)
            columns = operand(np.einsum("uy,yxc->uxc", dct, tile))
            spectrum = np.einsum("uxc,vx->uvc", columns, dct)
            weak = np.abs(spectrum) < 0.2
            weak[0, 0] = False  # a tile keeps its mean
            spectrum[weak] = 0
            columns = operand(np.einsum("uy,uvc->yvc", dct, operand(spectrum)))
            back = np.einsum("yvc,vx->yxc", columns, dct)
            out[top : top + 16, left : left + 16] += (back + middle) * window
    return out[8 : 8 + height, 8 : 8 + width]


def conv_layer(i: Inputs) -> Array:
    taps = np.lib.stride_tricks.sliding_window_view(i["I"], (3, 3), axis=(1, 2))
    return np.maximum(np.einsum("nyxcsr,srck->nyxk", taps, i["F"]) + i["B"], 0)


def quantised_layer(i: Inputs) -> Array:
    taps = np.lib.stride_tricks.sliding_window_view(i["I"], (3, 3), axis=(1, 2))
    sums = np.einsum("nyxcsr,srck->nyxk", taps, i["F"]) + i["B"]
    shifted: Array = np.clip(((sums >> 7) + 1) >> 1, 0, 255)
    return shifted


def windows(i: Inputs, axes: tuple[int, ...]) -> Array:
    """Those of 3 along each axis."""
    return np.lib.stride_tricks.sliding_window_view(i["I"], (3,) * len(axes), axis=axes)


def blocked(i: Inputs) -> Array:
    """Blocks of 16 channels as channels, and back."""
    c, h, w, inside = i["I"].shape
    image = np.moveaxis(i["I"], 0, 2).reshape(h, w, c * inside)
    filters = np.einsum("nbrscke->rsbcenk", i["F"])
    r, s, *_, n, k = filters.shape
    found = np.einsum(
        "yxcrs,rsck->yxk", windows({"I": image}, (0, 1)), filters.reshape(r, s, c * inside, n * k)
    )
    return np.moveaxis(found.reshape(*found.shape[:2], n, k), 2, 0)


def attention(i: Inputs) -> Array:
    scores = i["Q"] @ i["K"].transpose(0, 2, 1) / np.sqrt(i["Q"].shape[2])
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights / weights.sum(axis=2, keepdims=True) @ i["V"]


def blur(i: Inputs) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(i["I"], (3, 3), axis=(0, 1))
    total: Array = windows.sum(axis=(3, 4))
    return (total + 4) // 9


def smooth(i: Inputs) -> Array:
    y = i["x"].copy()
    for t in range(1, len(y)):
        y[t] = y[t - 1] + 0.2 * (y[t] - y[t - 1])
    return y


def unsharp(image: Array) -> Array:
    wide = np.pad(image.astype(np.float64), ((0, 0), (1, 1), (1, 1)), "edge")
    across = (wide[:, :, :-2] + 2 * wide[:, :, 1:-1] + wide[:, :, 2:]) / 4
    soft = (across[:, :-2] + 2 * across[:, 1:-1] + across[:, 2:]) / 4
    sharp: Array = image + 1.5 * (image - soft)
    return sharp


# Tested where these machines are, in test_apps, and in codegen/vector/test_movement.
ELSEWHERE = ("amx/", "arm/", "cuda/", "apps/", "bench/movement/")

FORMULAS: dict[str, Callable[[Inputs, Mapping[str, int]], Array | tuple[Array, ...]]] = {
    "gemm_f32": lambda i, s: gemm(i),
    "gemm_bf16": lambda i, s: gemm(i),
    "gemm_u8s8": lambda i, s: gemm(i),
    "gemm_requant": lambda i, s: requantised(i),
    "conv1d": lambda i, s: conv1d(i),
    "conv1d_bf16": lambda i, s: conv1d(i),
    "conv1d_u8s8": lambda i, s: conv1d(i),
    "conv2d": lambda i, s: conv2d(i),
    "downsample": lambda i, s: downsample(i),
    "downsample_bf16": lambda i, s: downsample(i),
    "upsample": lambda i, s: upsample(i, s["H"], s["W"]),
    "resize": lambda i, s: lanczos(s["H"], s["OH"]) @ i["I"] @ lanczos(s["W"], s["OW"]).T,
    "recursive": lambda i, s: recursive(i),
    "recursive_bf16": lambda i, s: recursive_bf16(i),
    "denoise": lambda i, s: denoise(i),
    "denoise_bf16": lambda i, s: denoise(i, rounded, True),
    "conv_layer": lambda i, s: conv_layer(i),
    "conv_layer_u8s8": lambda i, s: quantised_layer(i),
    "conv2d_u8s8": lambda i, s: np.einsum("yxcrs,rsck->yxk", windows(i, (0, 1)), i["F"]),
    "conv2d_bf16": lambda i, s: np.einsum("yxcrs,rsck->yxk", windows(i, (0, 1)), i["F"]),
    "conv2d_nchwc_u8s8": lambda i, s: blocked(i),
    "conv3d_u8s8": lambda i, s: np.einsum("zyxcqrs,qrsck->zyxk", windows(i, (0, 1, 2)), i["F"]),
    "depthwise_u8s8": lambda i, s: np.einsum("yxcrs,rsc->yxc", windows(i, (0, 1)), i["F"]),
    "grouped_u8s8": lambda i, s: np.einsum("yxgcrs,grsck->yxgk", windows(i, (0, 1)), i["F"]),
    "attention": lambda i, s: attention(i),
    "attention_fused": lambda i, s: attention(i),
    "tutorial/01_copy": lambda i, s: i["I"],
    "tutorial/02_brighten": lambda i, s: np.rint(np.clip(i["I"] * 1.4 + 10, 0, 255)),
    "tutorial/03_blur": lambda i, s: blur(i),
    "tutorial/04_reduction": lambda i, s: (i["I"].mean(axis=1), i["I"].max(axis=1)),
    "tutorial/05_scan": lambda i, s: smooth(i),
    "tutorial/06_no_schedule": lambda i, s: unsharp(i["I"]),
    "tutorial/07_tune_it": lambda i, s: i["A"] @ i["B"].T,
    "tutorial/08_tensor_instruction": lambda i, s: gemm(i),
    "tutorial/09_gpu": lambda i, s: smoothed(i["I"]),
    "tutorial/10_why_slow": lambda i, s: i["I"].mean(axis=0),
}


def test_every_sample_has_a_formula_and_sizes() -> None:
    files = {str(p.relative_to(FOLDER).with_suffix("")) for p in FOLDER.rglob("*.hb")}
    files = {name for name in files if not name.startswith(ELSEWHERE)}
    assert set(FORMULAS) == set(SAMPLES) == files


@pytest.mark.parametrize("name", SAMPLES)
def test_oracle_agrees_with_the_formula(name: str) -> None:
    for case in cases(name):
        wide = {
            n: a.astype(np.int64 if a.dtype.kind in "iu" else np.float64)
            for n, a in case.inputs.items()
        }
        found = FORMULAS[name](wide, case.sizes)
        expected = found if isinstance(found, tuple) else (found,)
        for output, want in zip(case.references.items(), expected, strict=True):
            have = output[1].value.astype(np.float64)
            assert have.shape == want.shape
            scale = max(1.0, float(np.abs(want).max(initial=0)))
            assert np.abs(have - want).max(initial=0) <= 2e-5 * scale, (case.sizes, output[0])

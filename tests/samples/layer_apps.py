"""What the applications of `samples/apps` for networks, sound and small matrices should give: NumPy
alone. With their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from number_apps import Array, Inputs, _floats, _then

LOG, HOP = 6, 20  # of windows of sound
BANDS = 12


def windows(a: Array, by: int) -> Array:
    """Of 3 x 3 pixels of N, H, W, C, with a border of zeros."""
    wide = np.pad(a, [(0, 0), (by, by), (by, by), (0, 0)])
    return np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(1, 2))


def depthwise_separable_conv(a: Array, f: Array, p: Array, bias: Array) -> Array:
    return np.maximum(np.einsum("nyxcrs,rsc,ck->nyxk", windows(a, 1), f, p) + bias, 0)


def resnet_block(a: Array, f: Array, g: Array, e: Array, *scales: Array) -> Array:
    (f0, f1), (g0, g1), (e0, e1) = scales
    first = np.maximum(a @ f * f0 + f1, 0)
    second = np.maximum(np.einsum("nyxmrs,rsmk->nyxk", windows(first, 1), g) * g0 + g1, 0)
    return np.maximum(second @ e * e0 + e1 + a, 0)


def _bytes_of(v: Array, zero: int) -> Array:
    return np.clip(np.rint(v) + zero, 0, 255)


def quantised_conv(
    a: Array, f: Array, bias: Array, scale: Array, zero_in: int, zero_out: int
) -> Array:
    sums = np.einsum("nyxcrs,rsck->nyxk", windows(a.astype(int) - zero_in, 0), f.astype(int)) + bias
    return _bytes_of(np.float32(sums) * scale, zero_out)


def quantised_fully_connected(
    a: Array, b: Array, bias: Array, scale: Array, zero_in: int, zero_out: int
) -> Array:
    return _bytes_of(np.float32((a.astype(int) - zero_in) @ b.astype(int) + bias) * scale, zero_out)


def quantised_pool(a: Array) -> tuple[Array, Array]:
    n, h, w, c = a.shape
    cells = a.reshape(n, h // 2, 2, w // 2, 2, c).astype(int)
    return (cells.sum(axis=(2, 4)) + 2) // 4, cells.max(axis=(2, 4))


def quantised_add(
    a: Array,
    b: Array,
    scale_a: float,
    zero_a: int,
    scale_b: float,
    zero_b: int,
    scale: float,
    zero: int,
) -> Array:
    f = np.float32
    total = (f(a) - f(zero_a)) * f(scale_a) + (f(b) - f(zero_b)) * f(scale_b)
    return np.maximum(_bytes_of(total / f(scale), zero), zero)


def quantised_softmax(x: Array, scale: float) -> Array:
    e = np.exp((x.astype(float) - x.max(axis=1, keepdims=True)) * scale)
    return np.minimum(np.rint(256 * e / e.sum(axis=1, keepdims=True)), 255)


def _spectra(a: Array) -> Array:
    length = 1 << LOG
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)
    return np.fft.rfft(hann * np.lib.stride_tricks.sliding_window_view(a, length)[::HOP])


def stft(a: Array) -> Array:
    found = _spectra(a)
    return np.stack([found.real, found.imag])


def mel_spectrogram(a: Array) -> Array:
    top = 1127.01048 * np.log(1 + 8000 / 700)
    centres = 700 * (np.exp(np.linspace(0, top, BANDS + 2) / 1127.01048) - 1)
    f = np.linspace(0, 8000, (1 << LOG) // 2 + 1)
    weights = [np.interp(f, centres[b : b + 3], (0, 1, 0), 0, 0) for b in range(BANDS)]
    return np.log(np.maximum(np.abs(_spectra(a)) ** 2 @ np.transpose(weights), 1e-10))


def cholesky(a: Array, ridge: float) -> Array:
    n = a.shape[0]
    lower = np.tril(a.transpose(2, 0, 1))
    whole = lower + np.tril(lower, -1).transpose(0, 2, 1) + ridge * np.eye(n)
    return np.linalg.cholesky(whole).transpose(1, 2, 0)


def _image(r: np.random.Generator, *shape: int) -> Array:
    return r.integers(0, 256, shape).astype(np.uint8)


def _quantised(a: tuple[int, ...], f: tuple[int, ...]) -> Inputs:
    """Bytes, signed bytes, and of each channel of the result a bias and a scale; two zero points."""

    def draw(r: np.random.Generator) -> list[Any]:
        filters = r.integers(-128, 128, f).astype(np.int8)
        bias = r.integers(-1000, 1000, f[-1]).astype(np.int32)
        return [_image(r, *a), filters, bias, np.float32(r.uniform(0.0005, 0.002, f[-1])), 117, 130]

    return draw


CASES: dict[str, tuple[Callable[..., Any], Inputs, dict[str, int]]] = {
    "depthwise_separable_conv": (
        depthwise_separable_conv,
        _floats((2, 5, 7, 9), (3, 3, 9), (9, 19), (19,)),
        {},
    ),
    "resnet_block": (
        resnet_block,
        _floats((1, 5, 7, 9), (9, 5), (3, 3, 5, 5), (5, 9), (2, 5), (2, 5), (2, 9)),
        {},
    ),
    "quantised_conv": (quantised_conv, _quantised((2, 7, 9, 5), (3, 3, 5, 19)), {}),
    "quantised_fully_connected": (quantised_fully_connected, _quantised((7, 37), (37, 19)), {}),
    "quantised_pool": (quantised_pool, lambda r: [_image(r, 2, 6, 10, 19)], {}),
    "quantised_add": (
        quantised_add,
        lambda r: [_image(r, 9, 37), _image(r, 9, 37), 0.02, 128, 0.03, 120, 0.04, 110],
        {},
    ),
    "quantised_softmax": (quantised_softmax, lambda r: [_image(r, 9, 37), 0.05], {}),
    "stft": (stft, _floats((7 * HOP + (1 << LOG),)), {"L": LOG, "hop": HOP}),
    "mel_spectrogram": (
        mel_spectrogram,
        _floats((7 * HOP + (1 << LOG),)),
        {"L": LOG, "hop": HOP, "B": BANDS},
    ),
    "cholesky": (cholesky, _then(_floats((8, 8, 21), low=-0.5, high=0.5), 8.0), {}),
}

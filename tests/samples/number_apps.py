"""What those applications of `samples/apps` should give that a short formula says: NumPy alone, in f64
where they are floats. With their inputs."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Inputs = Callable[[np.random.Generator], list[Any]]
STEPS, TERMS = 4, 5  # of what repeats itself; L of fft


def _floats(*shapes: tuple[int, ...], low: float = -1, high: float = 1) -> Inputs:
    return lambda r: [np.float32(r.uniform(low, high, shape)) for shape in shapes]


def _whole(t: type, high: int, *shapes: tuple[int, ...]) -> Inputs:
    return lambda r: [r.integers(0, high, shape).astype(t) for shape in shapes]


def blur(a: Array) -> Array:
    wide = a.astype(int)
    rows = sum(wide[:, i : i + a.shape[1] - 2] for i in range(3)) % 65536 // 3
    return sum(rows[i : i + a.shape[0] - 2] for i in range(3)) % 65536 // 3


def black_scholes(s: Array, k: Array, t: Array, r: float, v: float) -> tuple[Array, Array]:
    normal = np.vectorize(lambda x: 0.5 * (1 + erf(x / np.sqrt(2))))
    d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    d2, later = d1 - v * np.sqrt(t), k * np.exp(-r * t)
    call = s * normal(d1) - later * normal(d2)
    return call, call - s + later  # what both are worth differs by what is paid


def n_body(position: Array, mass: Array, softening: float) -> Array:
    away = position[:, None, :] - position[:, :, None]
    return (mass * away / (np.sum(away**2, axis=0) + softening**2) ** 1.5).sum(axis=2)


def mandelbrot(left: float, top: float, pitch: float) -> Array:
    """In f32, of which the escape of a point near the border depends."""
    x, y = np.arange(MANDELBROT["W"]), np.arange(MANDELBROT["H"])
    f = np.float32
    cx, cy = np.meshgrid(f(left) + f(x) * f(pitch), f(top) - f(y) * f(pitch))
    zx, zy, count = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, int)
    with np.errstate(all="ignore"):
        for t in range(64):
            inside = (count == t) & (zx * zx + zy * zy <= 4)
            zx, zy = (
                np.where(inside, zx * zx - zy * zy + cx, zx),
                np.where(inside, 2 * zx * zy + cy, zy),
            )
            count += inside
    return count


def heat_3d(a: Array, rate: float) -> Array:
    for _ in range(STEPS):
        p = np.pad(a, 1, mode="edge")
        near = p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1]
        near = near + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2]
        a = a + rate * (near - 6 * a)
    return a


def jacobi(b: Array, u: Array) -> Array:
    for _ in range(STEPS):
        p = np.pad(u, 1)
        u = (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - b) / 4
    return u


def median(a: Array) -> Array:
    p = np.pad(a, 1, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(p, (3, 3)), axis=(2, 3))


def gemv(a: Array, x: Array, y: Array, alpha: float, beta: float) -> Array:
    return alpha * (a @ x) + beta * y


def triangular_solve(lower: Array, b: Array) -> Array:
    return np.linalg.solve(np.tril(lower), b)


def rotary(x: Array, base: float) -> Array:
    t, d = np.arange(x.shape[0]), np.arange(x.shape[3])
    turned = (x[:, :, 0] + 1j * x[:, :, 1]) * np.exp(1j * t[:, None] / base ** (d / x.shape[3]))[
        :, None
    ]
    return np.stack([turned.real, turned.imag], axis=2)


def top_k(a: Array) -> tuple[Array, Array]:
    columns = np.argsort(-a, axis=1, kind="stable")[:, :TERMS]
    return np.take_along_axis(a, columns, 1), columns


def int4_gemv(w: Array, scale: Array, zero: Array, x: Array) -> Array:
    digits = np.concatenate([w % 16, w // 16], axis=2).astype(float) - zero[:, :, None]
    return np.einsum("mg,mgk,gk->m", scale, digits, x)


def hist(a: Array) -> Array:
    """In f32 as far as what is rounded goes."""
    f = np.float32
    y = f(0.299) * f(a[0]) + f(0.587) * f(a[1]) + f(0.114) * f(a[2])
    level = np.rint(np.clip(y, 0, 255)).astype(int)
    total = np.cumsum(np.bincount(level.ravel(), minlength=256))
    scaled = f(total[level]) * f(255) / f(y.size)
    return np.rint(np.clip(f(a) - y + scaled, 0, 255))


def iir_blur(x: Array, a: float) -> Array:
    y = x.copy()
    for t in range(1, len(y)):
        y[t] = a * x[t] + (1 - a) * y[t - 1]
    for t in reversed(range(len(y) - 1)):
        y[t] = a * y[t] + (1 - a) * y[t + 1]
    return y


def fft(a: Array) -> Array:
    found = np.fft.fft(a[0] + 1j * a[1])
    return np.stack([found.real, found.imag])


def _options(r: np.random.Generator) -> list[Any]:
    ranges = ((5, 30), (1, 100), (0.25, 10))
    return [np.float32(r.uniform(*x, 101)) for x in ranges] + [0.02, 0.3]


def _weights(r: np.random.Generator) -> list[Any]:
    w, zero = r.integers(0, 256, (9, 3, 32)), r.integers(0, 16, (9, 3))
    return [w.astype(np.uint8), *_floats((9, 3))(r), zero.astype(np.uint8), *_floats((3, 64))(r)]


def _then(inputs: Inputs, *numbers: float) -> Inputs:
    return lambda r: [*inputs(r), *numbers]


MANDELBROT = {"H": 19, "W": 45}
# By name: what it is, its inputs, and what is set when it is compiled.
CASES: dict[str, tuple[Callable[..., Any], Inputs, dict[str, int]]] = {
    "blur": (blur, _whole(np.uint16, 1 << 16, (39, 63)), {}),
    "black_scholes": (black_scholes, _options, {}),
    "n_body": (n_body, _then(_floats((3, 37), (37,)), 0.1), {}),
    "mandelbrot": (mandelbrot, lambda _: [-2.0, 1.2, 0.06], MANDELBROT),
    "heat_3d": (heat_3d, _then(_floats((5, 6, 21)), 0.1), {"T": STEPS}),
    "jacobi": (jacobi, _floats((9, 21), (9, 21)), {"T": STEPS}),
    "median": (median, _whole(np.uint8, 256, (19, 61)), {}),
    "gemv": (gemv, _then(_floats((7, 131), (131,), (7,)), 1.5, 0.5), {}),
    "triangular_solve": (triangular_solve, _floats((13, 13), (13, 21), low=1, high=2), {}),
    "rotary": (rotary, _then(_floats((9, 3, 2, 21)), 10000.0), {}),
    "top_k": (top_k, lambda r: [np.float32(r.integers(0, 30, (11, 37)))], {"K": TERMS}),
    "int4_gemv": (int4_gemv, _weights, {}),
    "hist": (hist, _whole(np.uint8, 256, (3, 19, 37)), {}),
    "iir_blur": (iir_blur, _then(_floats((19, 37)), 0.3), {}),
    "fft": (fft, _floats((2, 5, 1 << TERMS)), {"L": TERMS}),
}

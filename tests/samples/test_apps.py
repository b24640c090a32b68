"""The applications of `samples/apps` against NumPy in f64, compiled with their own schedules."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import camera_apps
import layer_apps
import number_apps
import numpy as np
import picture_apps
import pytest

import hbc

APPS = Path(__file__).parents[2] / "samples" / "apps"
Array = np.ndarray
LEVELS, INTENSITIES = 4, 5  # of local_laplacian here; more compile for seconds


def edged(a: Array, by: int) -> Array:
    """The last two dimensions with the border repeated."""
    return np.pad(a, [(0, 0)] * (a.ndim - 2) + [(by, by)] * 2, mode="edge")


def correlated(a: Array, weights: Array) -> Array:
    """Each inner pixel with its neighbours, weighted."""
    rows, columns = weights.shape
    h, w = a.shape[0] - rows + 1, a.shape[1] - columns + 1
    parts = (weights[i, j] * a[i : i + h, j : j + w] for i in range(rows) for j in range(columns))
    return np.sum(list(parts), axis=0)


X = np.outer([1, 2, 1], [-1, 0, 1])


def sobel(a: Array) -> Array:
    return np.hypot(correlated(edged(a, 1), X), correlated(edged(a, 1), X.T))


def unsharp(a: Array) -> Array:
    i = np.arange(-3, 4)
    taps = np.exp(-(i**2) / (2 * 1.5**2)) / (np.sqrt(2 * np.pi) * 1.5)
    gray = np.tensordot([0.299, 0.587, 0.114], a, 1)
    blurred = correlated(edged(gray, 3), np.outer(taps, taps))
    return a * (2 * gray - blurred) / gray


def gain(a: Array, black: float, exposure: float, red: float, blue: float) -> Array:
    balance = np.array([red, 1, blue]).reshape(3, 1, 1)
    v = np.minimum(np.maximum(a - black, 0) * balance * exposure / (1 - black), 1)
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)


def harris(a: Array) -> Array:
    gx, gy = correlated(a, X) / 12, correlated(a, X.T) / 12
    xx, yy, xy = (correlated(g, np.ones((3, 3))) for g in (gx * gx, gy * gy, gx * gy))
    return xx * yy - xy * xy - 0.04 * (xx + yy) ** 2


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layernorm(x: Array, gain: Array, shift: Array) -> Array:
    scale = 1 / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return (x - x.mean(axis=1, keepdims=True)) * scale * gain + shift


def rmsnorm(x: Array, gain: Array) -> Array:
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * gain


def max_filter(a: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(edged(a, 3), (7, 7))
    return windows.max(axis=(2, 3))


def taken(a: Array, rows: Array, columns: Array) -> Array:
    return a.take(rows, -2, mode="wrap").take(columns, -1, mode="wrap")


def halved(a: Array, weights: tuple[int, ...], first: int) -> Array:
    """Every second pixel of a plane that repeats itself, weighted with those from `first` on."""
    y, x = np.arange(0, a.shape[-2], 2), np.arange(0, a.shape[-1], 2)
    taps = [(n + first, w / sum(weights)) for n, w in enumerate(weights)]
    return np.sum([v * w * taken(a, y + i, x + j) for i, v in taps for j, w in taps], axis=0)


def local_laplacian(a: Array, levels: int = LEVELS, intensities: int = INTENSITIES) -> Array:
    """On a plane so wide that no level sees how it goes on beyond its border."""
    by = 16 << levels
    size = [-(-n // (1 << levels)) << levels for n in a.shape]
    plane = np.pad(a, [(by, by + s - n) for s, n in zip(size, a.shape, strict=True)], mode="edge")
    k = np.arange(intensities).reshape(-1, 1, 1) / (intensities - 1)
    t = (plane - k) * (intensities - 1)
    g, i = [plane + 0.125 * t * np.exp(-t * t / 2)], [plane]
    for _ in range(1, levels):
        g.append(halved(g[-1], (1, 1), 0))
        i.append(halved(i[-1], (1, 3, 3, 1), -1))
    result = 0
    for level in reversed(range(levels)):
        y, x = (np.arange(n) for n in i[level].shape)
        p = g[level]
        if level + 1 < levels:
            up = g[level + 1]
            p = p - (3 * taken(up, y // 2, x // 2) + taken(up, (y + 1) // 2, (x + 1) // 2)) / 4
            far = [n // 2 - 1 + 2 * (n % 2) for n in (y, x)]
            rows = (3 * result.take(y // 2, 0) + result.take(far[0], 0, mode="wrap")) / 4
            result = (3 * rows.take(x // 2, 1) + rows.take(far[1], 1, mode="wrap")) / 4
        v = np.clip(i[level], 0, 1) * (intensities - 1)
        c = np.clip(v.astype(int), 0, intensities - 2)
        low, high = (np.take_along_axis(p, c[None] + n, 0)[0] for n in (0, 1))
        result = result + (1 - (v - c)) * low + (v - c) * high
    return result[by : by + a.shape[0], by : by + a.shape[1]]


def csr_product(ptr: Array, column: Array, value: Array, x: Array) -> Array:
    return np.array([value[a:b] @ x[column[a:b]] for a, b in pairwise(ptr)])


IMAGE, ROWS = (37, 61), (9, 83)
FORMULAS = number_apps.CASES | picture_apps.CASES | layer_apps.CASES | camera_apps.CASES
# By name: what it is, and the shapes of its inputs.
CASES: dict[str, tuple[Callable[..., Array], tuple[tuple[int, ...], ...]]] = {
    "sobel": (sobel, (IMAGE,)),
    "unsharp": (unsharp, ((3, *IMAGE),)),
    "harris": (harris, (IMAGE,)),
    "gain": (gain, ((3, *IMAGE), (), (), (), ())),
    "csr_product": (csr_product, ((60,), (500,), (500,), (83,))),
    "softmax": (softmax, (ROWS,)),
    "layernorm": (layernorm, (ROWS, ROWS[1:], ROWS[1:])),
    "rmsnorm": (rmsnorm, (ROWS, ROWS[1:])),
    "max_filter": (max_filter, (IMAGE,)),
    "local_laplacian": (local_laplacian, (IMAGE,)),
}


def test_every_application_has_a_test() -> None:
    assert {file.stem for file in APPS.glob("*.hb")} == CASES.keys() | FORMULAS.keys()


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_numpy_makes(name: str) -> None:
    reference, shapes = CASES[name]
    random = np.random.default_rng(11)
    if name == "max_filter":
        inputs = [random.integers(0, 256, shape, np.uint8) for shape in shapes]
    elif name == "csr_product":
        ends = np.sort(random.integers(0, 501, shapes[0]))
        inputs = [random.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
        inputs[:2] = ends.astype(np.int32), random.integers(0, 83, shapes[1], np.int32)
    else:  # pixels are positive: unsharp divides by their luminance
        inputs = [np.float32(random.uniform(0.1, 1, shape)) for shape in shapes]
    settings = {"J": LEVELS, "K": INTENSITIES} if name == "local_laplacian" else {}
    found = hbc.compile(APPS / f"{name}.hb", target="c", **settings)(*inputs)
    want = reference(*(a if a.dtype.kind in "iu" else a.astype(np.float64) for a in inputs))
    np.testing.assert_allclose(found, want, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", FORMULAS)
def test_it_is_what_a_formula_says(name: str) -> None:
    reference, draw, settings = FORMULAS[name]
    inputs = draw(np.random.default_rng(7))
    found = hbc.compile(APPS / f"{name}.hb", target="c", **settings)(*inputs)
    floats = (a.astype(float) if getattr(a, "dtype", None) == np.float32 else a for a in inputs)
    wanted = reference(*(inputs if name in ("mandelbrot", "hist") else floats))
    several = tuple(found.values()) if isinstance(found, dict) else (found,)
    for got, want in zip(several, wanted if len(several) > 1 else (wanted,), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=2e-5)

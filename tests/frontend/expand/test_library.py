"""Every function of the library against NumPy, on random data of its whole domain."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hbc
from hbc.frontend.expand.imports import LIBRARY

Array = Any


def floats(seed: int, low: float = -4, high: float = 4) -> Array:
    return np.random.default_rng(seed).uniform(low, high, 257).astype("f4")


def wide_floats(seed: int, positive: bool = False) -> Array:
    """Of all magnitudes from 1e-13 to 1e13, and both signs."""
    random = np.random.default_rng(seed)
    signs = 1 if positive else random.choice([-1, 1], 257)
    return (signs * np.exp(random.uniform(-30, 30, 257))).astype("f4")


def bits(seed: int) -> Array:
    """Words of 32 bits: random ones, and those of a single bit."""
    random = np.random.default_rng(seed).integers(0, 2**32, 257, dtype="u4")
    random[:34] = [0, 2**32 - 1, *(1 << n for n in range(32))]
    return random


def bytes_of(seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 256, 257).astype("u1")


def words_of(seed: int) -> Array:
    return np.random.default_rng(seed).integers(-(2**31), 2**31, 257).astype("i4")


def whole(t: str, seed: int) -> Array:
    """Integers over the whole range of a type, its ends among them."""
    limits = np.iinfo(t)
    random = np.random.default_rng(seed).integers(limits.min, limits.max, 257, endpoint=True)
    random[:4] = [limits.min, limits.max, limits.min, limits.max][seed % 2 :] + [0] * (seed % 2)
    return random.astype(t)


def half_up(x: Array) -> Array:
    return np.round(x)


# Module, expression of the inputs a and b, their arrays, what it gives by NumPy in f64 or integers.
VALUES: list[tuple[str, str, str, Array, Array, Callable[[Array, Array], Array]]] = [
    ("math", "rounding_average(a, b)", "u8", bytes_of(1), bytes_of(2), lambda a, b: (a + b + 1) // 2),
    ("math", "halving_average(a, b)", "u8", bytes_of(1), bytes_of(2), lambda a, b: (a + b) // 2),
    ("math", "absd(a, b)", "u8", bytes_of(1), bytes_of(2), lambda a, b: abs(a - b)),
    ("math", "absd(a, b)", "f32", floats(1), floats(2), lambda a, b: abs(a - b)),
    ("math", "square(a)", "f32", floats(1), floats(2), lambda a, b: a * a),
    ("math", "cube(a + b)", "f32", floats(1), floats(2), lambda a, b: (a + b) ** 3),
    ("math", "lerp(a, b, 0.25)", "f32", floats(1), floats(2), lambda a, b: 0.75 * a + 0.25 * b),
    ("math", "smoothstep(-1.0, 2.0, a)", "f32", floats(1), floats(2),
     lambda a, b: (t := np.clip((a + 1) / 3, 0, 1)) * t * (3 - 2 * t)),
    ("math", "sign(a) * b", "f32", floats(1), floats(2), lambda a, b: np.sign(a) * b),
    ("math", "a % 1.5 + 7.25 % b", "f32", floats(1), floats(2),
     lambda a, b: np.mod(a, 1.5) + np.mod(7.25, b)),
    ("math", "float_mod(a, 1.5)", "f32", floats(1), floats(2), lambda a, b: np.mod(a, 1.5)),
    ("math", "log2(a)", "f32", floats(1, 0.1), floats(2), lambda a, b: np.log2(a)),
    ("math", "log10(a)", "f32", floats(1, 0.1), floats(2), lambda a, b: np.log10(a)),
    ("math", "power(a, b)", "f32", floats(1, 0.1), floats(2), lambda a, b: a**b),
    ("math", "hypot(a, b)", "f32", wide_floats(1), wide_floats(2), np.hypot),
    ("math", "pow(abs(a), b)", "f32", floats(1), floats(2), lambda a, b: np.abs(a) ** b),
    ("math", "cbrt(a)", "f32", wide_floats(1), floats(2), lambda a, b: np.cbrt(a)),
    ("math", "log1p(a)", "f32", wide_floats(1, positive=True), floats(2), lambda a, b: np.log1p(a)),
    ("math", "expm1(a)", "f32", floats(1, -90, 88), floats(2), lambda a, b: np.expm1(a)),
    ("math", "expm1(a)", "f32", wide_floats(1) / 1e12, floats(2), lambda a, b: np.expm1(a)),
    ("math", "sinh(a)", "f32", floats(1, -88, 88), floats(2), lambda a, b: np.sinh(a)),
    ("math", "sinh(a)", "f32", wide_floats(1) / 1e12, floats(2), lambda a, b: np.sinh(a)),
    ("math", "cosh(a)", "f32", floats(1, -88, 88), floats(2), lambda a, b: np.cosh(a)),
    ("math", "tan(a)", "f32", floats(1, -1.5, 1.5), floats(2), lambda a, b: np.tan(a)),
    ("math", "atan(a)", "f32", wide_floats(1), floats(2), lambda a, b: np.arctan(a)),
    ("math", "atan_small(a)", "f32", floats(1, -0.4, 0.4), floats(2), lambda a, b: np.arctan(a)),
    ("math", "atan_positive(a)", "f32", wide_floats(1, positive=True), floats(2), lambda a, b: np.arctan(a)),
    ("math", "atan2(a, b)", "f32", wide_floats(1), wide_floats(2), np.arctan2),
    ("math", "asin(a)", "f32", floats(1, -1, 1), floats(2), lambda a, b: np.arcsin(a)),
    ("math", "acos(a)", "f32", floats(1, -1, 1), floats(2), lambda a, b: np.arccos(a)),
    ("math", "erf(a)", "f32", floats(1), floats(2), lambda a, b: np.vectorize(math.erf)(a)),
    ("math", "erf_small(a)", "f32", floats(1, -1, 1), floats(2), lambda a, b: np.vectorize(math.erf)(a)),
    ("math", "erfc(a)", "f32", floats(1), floats(2), lambda a, b: np.vectorize(math.erfc)(a)),
    ("math", "erfc_great(a)", "f32", floats(1, 1, 4), floats(2), lambda a, b: np.vectorize(math.erfc)(a)),
    ("math", "trunc(a)", "f32", floats(1), floats(2), lambda a, b: np.trunc(a)),
    ("math", "popcount(a)", "u32", bits(1), bits(2),
     lambda a, b: np.vectorize(lambda v: int(v).bit_count())(a)),
    ("math", "clz(a)", "u32", bits(1), bits(2),
     lambda a, b: np.vectorize(lambda v: 32 - int(v).bit_length())(a)),
    ("math", "filled_below(a)", "u32", bits(1), bits(2),
     lambda a, b: np.vectorize(lambda v: (1 << int(v).bit_length()) - 1)(a)),
    ("math", "bit_reverse(a)", "u32", bits(1), bits(2),
     lambda a, b: np.vectorize(lambda v: int(f"{v:032b}"[::-1], 2))(a)),
    ("math", "i32(saturate(a, u8, 3, 200))", "i32", words_of(1), words_of(2),
     lambda a, b: np.clip(a, 3, 200)),
    ("math", "i32(saturate_u8(a))", "i32", words_of(1), words_of(2), lambda a, b: np.clip(a, 0, 255)),
    ("math", "i32(saturate_i8(a >> 20))", "i32", words_of(1), words_of(2),
     lambda a, b: np.clip(a >> 20, -128, 127)),
    ("math", "i32(saturate_u16(a))", "i32", words_of(1), words_of(2),
     lambda a, b: np.clip(a, 0, 65535)),
    ("math", "i32(saturate_i16(a >> 12))", "i32", words_of(1), words_of(2),
     lambda a, b: np.clip(a >> 12, -32768, 32767)),
    ("math", "saturating_add_u8(a, b)", "u8", whole("u1", 1), whole("u1", 2),
     lambda a, b: np.clip(a + b, 0, 255)),
    ("math", "saturating_sub_u8(a, b)", "u8", whole("u1", 1), whole("u1", 2),
     lambda a, b: np.clip(a - b, 0, 255)),
    ("math", "saturating_add_i8(a, b)", "i8", whole("i1", 1), whole("i1", 2),
     lambda a, b: np.clip(a + b, -128, 127)),
    ("math", "saturating_sub_i8(a, b)", "i8", whole("i1", 1), whole("i1", 2),
     lambda a, b: np.clip(a - b, -128, 127)),
    ("math", "saturating_add_u16(a, b)", "u16", whole("u2", 1), whole("u2", 2),
     lambda a, b: np.clip(a + b, 0, 65535)),
    ("math", "saturating_sub_u16(a, b)", "u16", whole("u2", 1), whole("u2", 2),
     lambda a, b: np.clip(a - b, 0, 65535)),
    ("math", "saturating_add_i16(a, b)", "i16", whole("i2", 1), whole("i2", 2),
     lambda a, b: np.clip(a + b, -32768, 32767)),
    ("math", "saturating_sub_i16(a, b)", "i16", whole("i2", 1), whole("i2", 2),
     lambda a, b: np.clip(a - b, -32768, 32767)),
    ("math", "i64(widening_mul_u8(u8((a & 255)), u8((b & 255))))", "i64",
     whole("i8", 1), whole("i8", 2), lambda a, b: (a & 255) * (b & 255)),
    ("math", "i64(widening_mul_i8(i8((a & 255) - 128), i8((b & 255) - 128)))", "i64",
     whole("i8", 1), whole("i8", 2), lambda a, b: ((a & 255) - 128) * ((b & 255) - 128)),
    ("math", "i64(widening_mul_u16(u16((a & 65535)), u16((b & 65535))))", "i64",
     whole("i8", 1), whole("i8", 2), lambda a, b: (a & 65535) * (b & 65535)),
    ("math", "i64(widening_mul_i16(i16((a & 65535) - 32768), i16((b & 65535) - 32768)))", "i64",
     whole("i8", 1), whole("i8", 2), lambda a, b: ((a & 65535) - 32768) * ((b & 65535) - 32768)),
    ("math", "mul_high_u16(a, b)", "u16", whole("u2", 1), whole("u2", 2), lambda a, b: (a * b) >> 16),
    ("math", "mul_high_i16(a, b)", "i16", whole("i2", 1), whole("i2", 2), lambda a, b: (a * b) >> 16),
    # -32768 squared alone does not fit: it is 32768, which i16(...) wraps.
    ("math", "mul_round_i16(a, b)", "i16", whole("i2", 1), whole("i2", 2),
     lambda a, b: (((a * b + 16384) >> 15) + 32768) % 65536 - 32768),
    ("math", "rounding_shift(a >> 2, 5)", "i32", words_of(1), words_of(2),
     lambda a, b: ((a >> 2) + 16) >> 5),
    ("image", "luma(a, b, a * b)", "f32", floats(1), floats(2),
     lambda a, b: 0.299 * a + 0.587 * b + 0.114 * a * b),
    ("image", "blue_difference(a, b, a * b)", "f32", floats(1), floats(2),
     lambda a, b: (a * b - (0.299 * a + 0.587 * b + 0.114 * a * b)) / 1.772),
    ("image", "red_difference(a, b, a * b)", "f32", floats(1), floats(2),
     lambda a, b: (a - (0.299 * a + 0.587 * b + 0.114 * a * b)) / 1.402),
    ("image", "linear_of_srgb(a)", "f32", floats(1, 0, 1), floats(2),
     lambda a, b: np.where(a <= 0.04045, a / 12.92, ((a + 0.055) / 1.055) ** 2.4)),
    ("image", "srgb_of_linear(a)", "f32", floats(1, 0, 1), floats(2),
     lambda a, b: np.where(a <= 0.0031308, a * 12.92, 1.055 * abs(a) ** (1 / 2.4) - 0.055)),
    ("ml", "relu(a)", "f32", floats(1), floats(2), lambda a, b: np.maximum(a, 0)),
    ("ml", "leaky_relu(a, 0.1)", "f32", floats(1), floats(2), lambda a, b: np.where(a < 0, a * 0.1, a)),
    ("ml", "relu6(a * 3)", "f32", floats(1), floats(2), lambda a, b: np.clip(a * 3, 0, 6)),
    ("ml", "sigmoid(a * 4)", "f32", floats(1), floats(2), lambda a, b: 1 / (1 + np.exp(-4 * a))),
    ("ml", "silu(a)", "f32", floats(1), floats(2), lambda a, b: a / (1 + np.exp(-a))),
    ("ml", "hard_sigmoid(a)", "f32", floats(1), floats(2), lambda a, b: np.clip(a / 6 + 0.5, 0, 1)),
    ("ml", "hard_swish(a)", "f32", floats(1), floats(2), lambda a, b: a * np.clip(a / 6 + 0.5, 0, 1)),
    ("ml", "gelu(a)", "f32", floats(1), floats(2),
     lambda a, b: 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))),
    ("ml", "softplus(a * 30)", "f32", floats(1), floats(2), lambda a, b: np.logaddexp(0, a * 30)),
    ("ml", "i32(requantised_u8(a, 0.0000001, 7))", "i32", words_of(1), words_of(2),
     lambda a, b: np.clip(half_up(a * 1e-7) + 7, 0, 255)),
    ("ml", "i32(requantised_i8(a, 0.0000001, -3))", "i32", words_of(1), words_of(2),
     lambda a, b: np.clip(half_up(a * 1e-7) - 3, -128, 127)),
    ("ml", "dequantised(i32(a * 20), 0.5, 3)", "f32", floats(1), floats(2),
     lambda a, b: (np.trunc(a * 20) - 3) * 0.5),
    ("ml", "f32(quantised_u8(a, 0.03, 128))", "f32", floats(1), floats(2),
     lambda a, b: np.clip(half_up(a / np.float32(0.03)) + 128, 0, 255)),
    ("ml", "f32(quantised_i8(a, 0.03, 0))", "f32", floats(1), floats(2),
     lambda a, b: np.clip(half_up(a / np.float32(0.03)), -128, 127)),
]  # fmt: skip


# Right to a share of the value, however small that is.
RELATIVE = re.compile(
    r"(hypot|cbrt|log1p|expm1|sinh|cosh|tan|atan|atan2|asin|acos|erf|erfc|trunc)\("
)


@pytest.mark.parametrize(("module", "text", "kind", "a", "b", "by_numpy"), VALUES, ids=lambda v: v
                         if isinstance(v, str) else "")  # fmt: skip
def test_values(
    module: str, text: str, kind: str, a: Array, b: Array, by_numpy: Callable[[Array, Array], Array]
) -> None:
    inside = re.sub(r"\b([ab])\b", lambda m: f"{m[1].upper()}[i]", text)
    kernel = hbc.compile(
        f'import "std/{module}.hb"\nsize N\ninput A: {kind}[N]\ninput B: {kind}[N]\n'
        f"output O: {kind}[N]\nO[i] = {inside}\nbound_of_B[i] = B[i]\n".replace(
            "bound_of_B[i] = B[i]\n", ""
        ),
        target="c", schedule="none",
    )  # fmt: skip
    wide = (a.astype("f8"), b.astype("f8")) if kind == "f32" else (a.astype("i8"), b.astype("i8"))
    got, want = kernel(a, b), by_numpy(*wide)
    if kind == "f32":
        near_tie = np.zeros(len(a), bool)
        if "quantised" in text and "dequantised" not in text:  # a rounding error decides ties
            scaled = wide[0] / np.float32(0.03)
            near_tie = abs(scaled - np.floor(scaled) - 0.5) < 1e-3
        small = 1e-37 if RELATIVE.match(text) else 3e-6
        assert np.allclose(got[~near_tie], want[~near_tie], rtol=3e-6, atol=small)
        assert (~near_tie).sum() > 200
    elif "requantised" in text:
        scaled = wide[0] * 1e-7
        near_tie = abs(scaled - np.floor(scaled) - 0.5) < 1e-3
        assert np.array_equal(got[~near_tie], want[~near_tie])
    else:
        assert np.array_equal(got, want)


# Expression of the complex z and w, and what it gives by NumPy in f64.
COMPLEX: list[tuple[str, Callable[[Array, Array], Array]]] = [
    ("(re(z), im(w))", lambda z, w: z.real + 1j * w.imag),
    ("(norm2(z), norm2(w))", lambda z, w: abs(z) ** 2 + 1j * abs(w) ** 2),
    ("conj(z)", lambda z, w: np.conj(z)),
    ("cadd(z, w)", lambda z, w: z + w),
    ("csub(z, conj(w))", lambda z, w: z - np.conj(w)),
    ("cmul(z, w)", lambda z, w: z * w),
    ("cmul(cmul(z, w), cadd(z, w))", lambda z, w: z * w * (z + w)),
    ("cdiv(z, w)", lambda z, w: z / w),
    ("cscale(z, 0.25)", lambda z, w: z / 4),
    ("times_i(z)", lambda z, w: 1j * z),
    ("expi(re(z))", lambda z, w: np.exp(1j * z.real)),
    ("cexp(select(re(z) < re(w), z, times_i(w)))",
     lambda z, w: np.exp(np.where(z.real < w.real, z, 1j * w))),
    ("c32(cmul(c64(z), c64(w)))", lambda z, w: z * w),
]  # fmt: skip


@pytest.mark.parametrize(("text", "by_numpy"), COMPLEX, ids=[text for text, _ in COMPLEX])
def test_complex_numbers(text: str, by_numpy: Callable[[Array, Array], Array]) -> None:
    inside = re.sub(r"\b([zw])\b", lambda m: f"({m[1].upper()}[i, 0], {m[1].upper()}[i, 1])", text)
    kernel = hbc.compile(
        f'import "std/complex.hb"\nsize N\ninput Z: f32[N, 2]\ninput W: f32[N, 2]\n'
        f"output A: f32[N]\noutput B: f32[N]\n(A[i], B[i]) = {inside}\n",
        target="c", schedule="none",
    )  # fmt: skip
    z, w = (np.stack([floats(n), floats(n + 1)], -1) for n in (1, 3))
    got, want = kernel(z, w), by_numpy(*(x[:, 0] + 1j * x[:, 1].astype("f8") for x in (z, w)))
    for part, expected in zip(got.values(), (want.real, want.imag), strict=True):
        assert np.allclose(part, expected, rtol=1e-5, atol=1e-5 * max(1, abs(expected).max()))


@pytest.mark.parametrize(("name", "start"), [("argmax", "lowest"), ("argmin", "highest")])
def test_places_of_extremes(name: str, start: str) -> None:
    kernel = hbc.compile(
        'import "std/math.hb"\nsize H, W\ninput A: i8[H, W]\noutput best: i8[H]\noutput at: i32[H]\n'
        f"reduce x in W\n(best[y], at[y]) = ({start}, 0)\n"
        f"(best[y], at[y]) = {name}((A[y, x], i32(x)), (best[y], at[y]))\n",
        target="c", schedule="none",
    )  # fmt: skip
    a = np.random.default_rng(1).integers(-128, 128, (40, 300)).astype("i1")
    a[0] = -128  # the first of equal ones
    assert np.array_equal(kernel(a)["at"], getattr(np, name)(a, axis=1))  # argmax( argmin(


H, W = 9, 13
IMAGE = np.random.default_rng(5).uniform(-1, 1, (H, W)).astype("f4")


def padded(mode: str) -> Array:
    """The picture with 30 more at each side."""
    return np.pad(IMAGE.astype("f8"), 30, mode=mode)  # type: ignore[call-overload]


def window(wide: Array, dy: int, dx: int) -> Array:
    return wide[30 + dy : 30 + dy + H, 30 + dx : 30 + dx + W]


def weighted(weights: dict[tuple[int, int], float]) -> Array:
    wide = padded("edge")
    return sum(weight * window(wide, *at) for at, weight in weights.items())


def half_of(wide: Array) -> Array:
    rows = (wide[:-3:2] + 3 * (wide[1:-2:2] + wide[2:-1:2]) + wide[3::2]) / 8
    return (rows[:, :-3:2] + 3 * (rows[:, 1:-2:2] + rows[:, 2:-1:2]) + rows[:, 3::2]) / 8


def twice_of() -> Array:
    wide, found = padded("edge"), np.zeros((H, W))
    for y in range(H):
        for x in range(W):
            rows = []
            for row in (y // 2 - 1 + 2 * (y % 2), y // 2):
                near, own = (
                    wide[30 + row, 30 + x // 2 - 1 + 2 * (x % 2)],
                    wide[30 + row, 30 + x // 2],
                )
                rows.append((near + 3 * own) / 4)
            found[y, x] = (rows[0] + 3 * rows[1]) / 4
    return found


PICTURES: list[tuple[str, Callable[[], Array]]] = [
    ("clamped(A, H, W)[y - 20, x + 15]", lambda: window(padded("edge"), -20, 15)),
    ("zero_outside(A, H, W)[y - 3, x + 5]", lambda: window(padded("constant"), -3, 5)),
    ("reflected(A, H, W)[y - 20, x + 15]", lambda: window(padded("symmetric"), -20, 15)),
    ("repeated(A, H, W)[y - 20, x + 15]", lambda: window(padded("wrap"), -20, 15)),
    ("blur3_x(edge)[y, x]", lambda: weighted({(0, -1): 0.25, (0, 0): 0.5, (0, 1): 0.25})),
    ("blur3_y(edge)[y, x]", lambda: weighted({(-1, 0): 0.25, (0, 0): 0.5, (1, 0): 0.25})),
    ("blur5_x(edge)[y, x]",
     lambda: weighted({(0, d): w / 16 for d, w in zip(range(-2, 3), (1, 4, 6, 4, 1), strict=True)})),
    ("blur5_y(edge)[y, x]",
     lambda: weighted({(d, 0): w / 16 for d, w in zip(range(-2, 3), (1, 4, 6, 4, 1), strict=True)})),
    ("half(edge)[y, x]", lambda: half_of(np.pad(IMAGE.astype("f8"), ((1, 30), (1, 30)), "edge"))[:H, :W]),
    ("half_y(half_x(edge))[y, x]",
     lambda: half_of(np.pad(IMAGE.astype("f8"), ((1, 30), (1, 30)), "edge"))[:H, :W]),
    ("twice(edge)[y, x]", twice_of),
    ("twice_y(twice_x(edge))[y, x]", twice_of),
    ("sobel_x(edge)[y, x]", lambda: weighted({(dy, dx): (2 - abs(dy)) * dx for dy in (-1, 0, 1)
                                              for dx in (-1, 1)})),
    ("sobel_y(edge)[y, x]", lambda: weighted({(dy, dx): (2 - abs(dx)) * dy for dx in (-1, 0, 1)
                                              for dy in (-1, 1)})),
]  # fmt: skip


@pytest.mark.parametrize(("text", "by_numpy"), PICTURES, ids=[text for text, _ in PICTURES])
def test_pictures(text: str, by_numpy: Callable[[], Array]) -> None:
    kernel = hbc.compile(
        'import "std/image.hb"\nsize H, W\ninput A: f32[H, W]\noutput O: f32[H, W]\n'
        f"edge = clamp_edge(A)\nO[y, x] = {text}\n",
        target="c", schedule="none",
    )  # fmt: skip
    assert np.allclose(kernel(IMAGE), by_numpy(), rtol=1e-5, atol=1e-6)


ROWS: list[tuple[str, Callable[[Array], Array]]] = [
    ("row_sum(A, y, W)", lambda a: a.sum(1)),
    ("row_mean(A, y, W)", lambda a: a.mean(1)),
    ("row_max(A, y, W)", lambda a: a.max(1)),
    ("row_variance(A, mean, y, W)", lambda a: a.var(1)),
    ("mean_square(A, y, W)", lambda a: (a * a).mean(1)),
]


@pytest.mark.parametrize(("text", "by_numpy"), ROWS, ids=[text for text, _ in ROWS])
def test_rows(text: str, by_numpy: Callable[[Array], Array]) -> None:
    kernel = hbc.compile(
        'import "std/ml.hb"\nsize H, W\ninput A: f32[H, W]\noutput O: f32[H]\n'
        f"mean[y] = row_mean(A, y, W)\nO[y] = {text}\n",
        target="c", schedule="none",
    )  # fmt: skip
    assert np.allclose(kernel(IMAGE), by_numpy(IMAGE.astype("f8")), rtol=1e-5, atol=1e-6)


def test_every_function_is_tested() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    for file in sorted(LIBRARY.glob("*.hb")):
        for name in re.findall(r"^def (\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(rf"\b{name}\(", here), f"{file.name}: {name}"

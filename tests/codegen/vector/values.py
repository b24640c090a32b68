"""What the operations are tried on: every pair of a type's corner values, then its whole range."""

from __future__ import annotations

from functools import cache
from zlib import crc32

import numpy as np

from hbc.ir.lang.types import BOOL, DTYPES, DType
from hbc.ir.meaning.numpy_types import Array, bits_dtype, numpy_dtype

COUNT = 592  # 16 x 16 pairs of corners, the rest random

# Rounding, overflow of the integer types, the limits of the polynomials, quadrants of sin and cos.
_FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, np.inf, -np.inf, np.nan, 127.5, -128.5, 255.99, 32767.5,
    -2147483648.0, 4294967040.0,
)  # fmt: skip
_MORE = (
    1.5, 2.5, -0.5, 0.49999997, -0.99, 8388609.0, -8388607.5, 65504.0, 65519.9, 65520.0, -32769.0,
    2147483520.0, 2147483648.0, 4294967296.0, 9.2233715e18, 9.223372e18, -9.223372e18, 1e19, 1e-40,
    -1e-45, 1.1754944e-38, 5.9604645e-8, 2.9802322e-8, 6.0975552e-5, 3.4028235e38, -3.4028235e38,
    88.72283, 88.8, -87.3, -103.97, -104.5, 0.6931472, 0.70710677, 0.625, 9.01, 1.5707964,
    3.1415927, -4.712389, 100.0, 30000.5, 1e10, 1e300,
)  # fmt: skip


@cache
def values(name: str) -> Array:
    """The input `a_f32`, `b_i8`, ... Pairs of corners stand at the same place in a and b."""
    letter, element = name[0], DTYPES[name[2:]]
    rng = np.random.default_rng(crc32(name.encode()))
    corners = _corners(element)
    start = {"a": np.repeat(corners, 16), "b": np.tile(corners, 16)}
    head = start.get(letter, rng.choice(corners, 256)).view(numpy_dtype(element))
    array = np.concatenate([head, _random(rng, element, COUNT - len(head))])
    array.flags.writeable = False
    return array


def _corners(t: DType) -> Array:
    """Sixteen values."""
    held = numpy_dtype(t)
    if t == BOOL:
        return np.arange(16) % 2 == 1
    if t.is_float:
        with np.errstate(over="ignore"):
            return np.array(_FLOATS).astype(held)
    low, high = t.limits
    small = (0, 1, 2, 3, 5, 7, 8, t.bits - 1, t.bits, 100)
    if low == 0:
        return np.array([*small, high, high - 1, high // 2, high // 2 + 1, 10, 64], held)
    return np.array([*small[:8], -1, -2, -7, -8, low, low + 1, high, high - 1], held)


def _random(rng: np.random.Generator, t: DType, count: int) -> Array:
    """A third of any bits at all, a third of moderate size, the rest further corners."""
    held = numpy_dtype(t)
    if t == BOOL:
        return rng.random(count) < 0.5
    anything = rng.integers(0, 1 << t.bits, count, bits_dtype(t).type).view(held)
    if not t.is_float:
        return np.where(rng.random(count) < 0.5, anything, anything % held.type(13))
    with np.errstate(over="ignore", invalid="ignore"):
        moderate = (rng.uniform(-1, 1, count) * np.exp2(rng.integers(-8, 9, count))).astype(held)
        more = rng.choice(np.array(_MORE), count).astype(held)
    kind = rng.integers(0, 3, count)
    return np.where(kind == 0, anything, np.where(kind == 1, moderate, more))


@cache
def bit_patterns(t: DType) -> Array:
    """Every value of a type of 8 or 16 bits, in 2^16 elements."""
    return np.arange(1 << 16).astype(bits_dtype(t)).view(numpy_dtype(t))


@cache
def around_halves(t: DType, wide: DType) -> Array:
    """For every value of a float type of 8 or 16 bits: itself, the middle between it and the next one, and
    the neighbours of that middle in `wide` (f32 or f64)."""
    held = numpy_dtype(wide)
    with np.errstate(all="ignore"):
        halves = bit_patterns(t).astype(held)
        middle = halves + (np.roll(halves, -1) - halves) / 2
        # The last finite value: the middle between it and what would come next is infinity's.
        last = np.isfinite(halves) & ~np.isfinite(np.roll(halves, -1))
        step = halves - np.roll(halves, 1)
        middle = np.where(last, halves + step / 2, middle).astype(held)
        around = [np.nextafter(middle, held.type(end)) for end in (np.inf, -np.inf)]
        return np.concatenate([halves, middle, *around])

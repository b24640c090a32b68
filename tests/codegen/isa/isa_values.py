"""Full-range operands: random bits, special values, sums that round, overflow and underflow."""

from __future__ import annotations

from collections.abc import Mapping

import ml_dtypes
import numpy as np

from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import DType
from hbc.ir.meaning.contraction import shape
from hbc.ir.meaning.numpy_types import Array, bits_dtype, numpy_dtype

Generator = np.random.Generator
DRAWN = ("bits", "special", "near", "small", "large")
REGIMES = (*DRAWN, "mixed", "alone")


def operands(
    i: Instruction, sizes: Mapping[str, int], regime: str, random: Generator
) -> dict[str, Array]:
    """Arrays for all operands of an instruction; `alone`: special values plus products that are 0."""
    if regime == "alone":
        special = operands(i, sizes, "special", random)
        names = [i.operands[n].name for n in i.factors]
        return special | {name: np.zeros_like(special[name]) for name in names}
    return {
        o.name: values(o.element, shape(i, n, sizes), regime, random)
        for n, o in enumerate(i.operands)
    }


def values(element: DType, extents: tuple[int, ...], regime: str, random: Generator) -> Array:
    """An array of one regime; `mixed` draws the regime anew for each element."""
    count = int(np.prod(extents))
    if regime == "mixed":
        choices = np.stack([values(element, (count,), r, random) for r in DRAWN])
        flat = choices[random.integers(0, len(choices), count), np.arange(count)]
    elif not element.is_float:
        flat = integers(element, count, regime, random)
    else:
        flat = floats(element, count, regime, random)
    return np.ascontiguousarray(flat.reshape(extents))


def integers(element: DType, count: int, regime: str, random: Generator) -> Array:
    low, high = element.limits
    if regime in ("bits", "near"):
        drawn = random.integers(low, high, count, endpoint=True)
    elif regime == "special":
        drawn = random.choice([low, low + 1, 0, 1, high - 1, high, max(low, -1)], count)
    else:
        drawn = random.choice([low, high] if regime == "small" else [high, high - 1], count)
    return drawn.astype(numpy_dtype(element))


def floats(element: DType, count: int, regime: str, random: Generator) -> Array:
    dtype = numpy_dtype(element)
    info = ml_dtypes.finfo(dtype)
    if regime == "bits":
        top = (1 << element.bits) - 1
        return random.integers(0, top, count, bits_dtype(element), endpoint=True).view(dtype)
    if regime == "special":
        least, tiny, huge = (float(x) for x in (info.smallest_subnormal, info.tiny, info.max))
        chosen = [0.0, least, tiny - least, tiny, 1.0, 1 + float(info.eps), huge, np.inf, np.nan]
        signed = random.choice(chosen, count) * random.choice([-1.0, 1.0], count)
        return signed.astype(dtype)
    # Products and sums of these meet at about the same magnitude: near 1, at the least normal
    # number, at the largest number.
    reach = {"near": 0, "small": info.minexp, "large": info.maxexp}[regime]
    scale = reach if element.bits == 32 else reach / 2
    exponent = scale + random.integers(-5, 4, count)
    drawn = np.ldexp(random.uniform(1, 2, count), exponent.astype(int))
    with np.errstate(over="ignore"):
        return (drawn * random.choice([-1.0, 1.0], count)).astype(dtype)


def differences(got: Array, wanted: Array) -> list[str]:
    """Where two arrays differ in a bit, NaNs alike."""
    bits = np.dtype(f"u{got.dtype.itemsize}")
    a, b = (np.ascontiguousarray(x).view(bits) for x in (got, wanted))
    unequal = a != b
    if got.dtype.kind not in "iu":
        unequal &= ~(np.isnan(got) & np.isnan(wanted))
    return [
        f"{n}: {got[n]} ({a[n]:#x}), described {wanted[n]} ({b[n]:#x})"
        for n in map(tuple, np.argwhere(unequal))
    ]

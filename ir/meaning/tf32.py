"""TF32: floats of 32 bits of which 10 of the significand count, as NVIDIA's tensor cores multiply them.

Rounding is to the nearest, ties away from zero, as `cvt.rna.tf32.f32` does it (PTX ISA, "cvt").
"""

from __future__ import annotations

import numpy as np

from hbc.ir.meaning.numpy_types import Array

BITS = 11
"""Of the significand, the hidden one included."""
LEAST = -136
"""Exponent of the least step: the exponents are those of f32, with subnormals."""
BEYOND = 2.0**128


def to_tf32(x: Array) -> Array:
    """Each number rounded, in the type that it has; infinities and NaNs stay."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(x)
        step = np.maximum(exponent - BITS, LEAST)
        whole = np.floor(np.abs(np.ldexp(x, -step)) + 0.5)
        rounded = np.copysign(np.ldexp(whole, step), x)
        rounded = np.where(np.abs(rounded) >= BEYOND, np.copysign(np.inf, x), rounded)
        return np.asarray(np.where(np.isfinite(x), rounded, x), x.dtype)

"""Pins the rounding to TF32 against the bits: half of the last one is added, those below it are cut off."""

from __future__ import annotations

import numpy as np

from hbc.ir.lang import fold
from hbc.ir.meaning.tf32 import to_tf32

SPECIAL = (
    0, 0x80000000, 1, 0xFFF, 0x1000, 0x1FFF, 0x007FFFFF, 0x00800000, 0x3F801000, 0x3F800FFF,
    0xBF803000, 0x7F7FEFFF, 0x7F7FF000, 0x7F7FFFFF, 0x7F800000, 0xFF800000,
)  # fmt: skip


def numbers() -> np.ndarray:
    random = np.random.default_rng(1).integers(0, 1 << 32, 50_000, np.uint64).astype(np.uint32)
    bits = np.concatenate([random, np.array(SPECIAL, np.uint32)])
    return bits[~np.isnan(bits.view(np.float32))]


def by_bits(bits: np.ndarray) -> np.ndarray:
    """What cvt.rna.tf32.f32 does to finite numbers; infinities stay."""
    rounded = (bits.astype(np.uint64) + 0x1000 & 0xFFFFE000).astype(np.uint32)
    return np.where(bits & 0x7F800000 == 0x7F800000, bits, rounded)


def test_arrays_of_floats_and_of_doubles() -> None:
    bits = numbers()
    for t in (np.float32, np.float64):
        got = to_tf32(bits.view(np.float32).astype(t)).astype(np.float32)
        np.testing.assert_array_equal(got.view(np.uint32), by_bits(bits))


def test_numbers_that_are_folded() -> None:
    bits = numbers()[-3000:]
    got = [fold.to_tf32(float(x)) for x in bits.view(np.float32)]
    np.testing.assert_array_equal(np.array(got, np.float32).view(np.uint32), by_bits(bits))


def test_nans_stay() -> None:
    assert np.isnan(to_tf32(np.array([np.nan], np.float32))).all()
    assert np.isnan(fold.to_tf32(float("nan")))

"""Integers of 4 bits, two in a byte: what inputs of `i4` and `u4` are filled with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hbc.frontend.program.funcs import Fill, Image
from hbc.ir.lang.kernel import Packed
from hbc.ir.lang.types import I4, I8, U8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_BITS = 4


def in_pairs(values: Array) -> Array:
    """The low 4 bits of integers, those with even places in the last dimension in the low halves of bytes."""
    import numpy as np

    nibbles = values.astype(np.int8).view(np.uint8) & 15
    if nibbles.shape[-1] % 2:
        nibbles = np.concatenate([nibbles, np.zeros_like(nibbles[..., :1])], axis=-1)
    return np.ascontiguousarray(nibbles[..., ::2] | nibbles[..., 1::2] << _BITS)


def unpacked(image: Image, held: Packed) -> Image:
    """The input as it would be with a byte for each of its integers."""
    whole = I8 if held.element == I4 else U8
    extents = (*image.extents[:-1], held.extent)
    return replace(image, element=whole, extents=extents, packed=None)


def within(fill: Fill, held: Packed) -> Fill:
    """The fill with no more than the values that 4 bits hold."""
    if fill.kind != "random":
        return fill
    low, high = held.element.limits
    seed, *ends = fill.args
    least, most = map(int, ends) if ends else (low, high)
    return replace(fill, args=(seed, max(low, least), min(high, most)))

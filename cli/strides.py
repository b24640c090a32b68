"""Arrays whose rows lie apart, as the strided entry points take them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hbc.cli.data import Array

ODD = 77


def padded_shape(shape: tuple[int, ...], padding: int) -> tuple[int, ...]:
    """The shape with rows longer by `padding` elements."""
    return (*shape[:-1], shape[-1] + padding)


def row_strides(shape: tuple[int, ...]) -> list[int]:
    """The strides in elements of a dense array of that shape, the last one left out."""
    return [math.prod(shape[dim + 1 :]) for dim in range(len(shape) - 1)]


def pad(array: Array, padding: int) -> Array:
    """The array with rows longer by `padding` elements, which hold what no kernel should read: NaN,
    or an odd number."""
    import numpy as np

    shape = padded_shape(array.shape, padding)
    # ml_dtypes' floats are of kind V.
    wide: Array = np.full(shape, np.nan if array.dtype.kind in "fV" else 0, array.dtype)
    if array.dtype.kind in "iu":
        wide[...] = ODD
    wide[..., : array.shape[-1]] = array
    return wide


def unpad(wide: Array, padding: int) -> tuple[Array, Array]:
    """The array and, apart, the padding behind its rows."""
    length = wide.shape[-1] - padding
    return wide[..., :length], wide[..., length:]

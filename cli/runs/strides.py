"""Arrays whose rows lie apart, as the strided entry points take them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbc.frontend.program.funcs import Image
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Check, Gapless

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

PADDING = 5  # elements, or rows, that the lengthened dimension has more
_STRIDE = re.compile(r"\w+_stride\d+")
ODD = 77


def lengthened(image: Image, gapless: Sequence[Gapless] = ()) -> int:
    """The dimension to lengthen: the one after which the kernel takes no gap, if there is such; else the last
    one whose extent is not a literal, for kernels may rely on the strides that literal inner extents give."""
    for g in gapless:
        inner = image.extents[g.dim + 1 :] if g.name == image.name else ()
        if not all(isinstance(e, ir.Const) for e in inner):
            return g.dim + 1
    open_ = [dim for dim, e in enumerate(image.extents) if not isinstance(e, ir.Const)]
    return open_[-1] if open_ else 0


def padding(checks: Sequence[Check]) -> int:
    """PADDING, or a multiple of it where the kernel wants strides that something divides."""
    divisor = 1
    for check in checks:
        match check.condition:
            case ir.Binary(
                ir.Op.EQ, ir.Binary(ir.Op.MOD, ir.Var(name=name), ir.Const(value=n)), _
            ) if _STRIDE.fullmatch(name):
                divisor = math.lcm(divisor, int(n))
            case _:
                pass
    return PADDING * divisor


def longer_shape(
    shape: tuple[int, ...], dim: int | None, padding: int = PADDING
) -> tuple[int, ...]:
    """The shape with dimension `dim` longer by the padding; the same for None."""
    if dim is None:
        return shape
    return (*shape[:dim], shape[dim] + padding, *shape[dim + 1 :])


def row_strides(shape: tuple[int, ...]) -> list[int]:
    """The strides in elements of a dense array of that shape, the last one left out."""
    return [math.prod(shape[dim + 1 :]) for dim in range(len(shape) - 1)]


def spread(array: Array, dim: int, padding: int = PADDING, byte: int | None = None) -> Array:
    """The array in the memory of a longer one, the rest of which holds what no kernel should read:
    NaN, or an odd number; or this byte everywhere."""
    import numpy as np

    # ml_dtypes' floats are of kind V.
    rest = np.nan if array.dtype.kind in "fV" else ODD if array.dtype.kind in "iu" else 0
    wide: Array = np.full(longer_shape(array.shape, dim, padding), rest, array.dtype)
    if byte is not None:
        wide.view(np.uint8)[...] = byte
    np.moveaxis(wide, dim, 0)[: array.shape[dim]] = np.moveaxis(array, dim, 0)
    return wide


def gather_rows(wide: Array, dim: int, padding: int = PADDING) -> tuple[Array, Array]:
    """The array out of the longer one, and the rest."""
    import numpy as np

    length = wide.shape[dim] - padding
    kept, rest = np.split(wide, [length], axis=dim)
    return np.ascontiguousarray(kept), np.ascontiguousarray(rest)

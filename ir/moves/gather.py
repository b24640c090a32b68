"""Gathers: which input location each output location reads, and what follows from that alone.

Locations are row-major numbers within one array; several arguments lie behind each other, so that one
number says both the argument and the place in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]
Locations = NDArray[np.int32]

ZERO = -1  # the output location holds 0, the identity of every fold
UNDEFINED = -2  # the output location holds no value


@dataclass(frozen=True, slots=True, eq=False)
class Gather:
    """`out[l] = in[index[l]]`; `index` has one entry for each location of `output`."""

    inputs: tuple[Shape, ...]
    output: Shape
    index: Locations

    def __post_init__(self) -> None:
        count = sum(map(prod, self.inputs))
        assert self.index.shape == (prod(self.output),)
        assert self.index.size == 0 or (self.index.min() >= UNDEFINED and self.index.max() < count)


def identity(shape: Shape) -> Gather:
    """Moves nothing."""
    return Gather((shape,), shape, np.arange(prod(shape), dtype=np.int32))


def compose(outer: Gather, inner: Gather) -> Gather:
    """`outer` after `inner`; `outer` takes one argument, of the shape that `inner` makes."""
    assert outer.inputs == (inner.output,)
    return Gather(inner.inputs, outer.output, followed(outer.index, inner.index))


def followed(outer: Locations, inner: Locations) -> Locations:
    """The index of `outer` after `inner`, for their indices alone."""
    kept = np.concatenate([inner, np.array([UNDEFINED, ZERO], dtype=inner.dtype)])
    return kept[outer]  # -1 and -2 count from the end: ZERO is the last


def inverse(gather: Gather) -> Gather | None:
    """What undoes it, or None where a value is lost. Needs one argument."""
    (shape,) = gather.inputs
    index = gather.index
    read = index[index >= 0]
    if np.unique(read).size != prod(shape):
        return None
    back = np.empty(prod(shape), dtype=np.int32)
    where = np.flatnonzero(index >= 0).astype(np.int32)
    back[index[where]] = where
    return Gather((gather.output,), shape, back)


def same(left: Gather, right: Gather) -> bool:
    """Whether both move the same elements to the same places. Shapes matter only by their sizes:
    a reshape moves nothing."""
    sizes = [[prod(shape) for shape in gather.inputs] for gather in (left, right)]
    return sizes[0] == sizes[1] and np.array_equal(left.index, right.index)


def execute(
    gather: Gather, arguments: Sequence[NDArray[np.int32]], zero: int, undefined: int
) -> NDArray[np.int32]:
    """The output array of value numbers. `zero` and `undefined` are the numbers of those values."""
    values = np.concatenate([*(a.reshape(-1) for a in arguments), [undefined, zero]])
    taken: NDArray[np.int32] = values[gather.index].reshape(gather.output).astype(np.int32)
    return taken


def permute_axes(shape: Shape, axes: Sequence[int]) -> Gather:
    """As NumPy's transpose: axis d of the output is axis `axes[d]` of the input."""
    order = np.arange(prod(shape), dtype=np.int32).reshape(shape).transpose(axes)
    return Gather((shape,), order.shape, order.reshape(-1))


def interleave(count: int, ways: int) -> Gather:
    """`ways` runs of `count` elements, element by element: out[i * ways + w] = in[w * count + i]."""
    moved = permute_axes((ways, count), (1, 0))
    return Gather(((ways * count,),), (ways * count,), moved.index)

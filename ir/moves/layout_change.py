"""Layout changes with names: which element of the inputs each element of the outputs is.

Elements are numbered over all arrays, one behind the other, so that a change is one gather, whatever the
arrays are called and however they are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from hbc.ir.moves.gather import Gather, Shape, permute_axes, same


@dataclass(frozen=True, slots=True, eq=False)
class LayoutChange:
    """`gather` takes all inputs behind each other to all outputs behind each other, both flat."""

    name: str
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    gather: Gather

    @property
    def size(self) -> int:
        return sum(map(prod, self.outputs))


def _change(
    name: str, inputs: tuple[Shape, ...], outputs: tuple[Shape, ...], rows: int, columns: int
) -> LayoutChange:
    """The elements, as a matrix of so many rows and columns, transposed."""
    index = permute_axes((rows, columns), (1, 0)).index
    flat = (rows * columns,)
    return LayoutChange(name, inputs, outputs, Gather((flat,), flat, index))


def transpose(rows: int, cols: int) -> LayoutChange:
    """out[j, i] = in[i, j]"""
    return _change("transpose", ((rows, cols),), ((cols, rows),), rows, cols)


def interleave(k: int, count: int) -> LayoutChange:
    """`k` arrays of `count` elements to one: out[i * k + w] = in_w[i]. The pack of a VNNI operand is
    that of 4 rows of bytes, or 2 of 16-bit elements."""
    return _change("interleave", ((count,),) * k, ((count * k,),), k, count)


def deinterleave(k: int, count: int) -> LayoutChange:
    """One array to `k` arrays of `count` elements: out_w[i] = in[i * k + w]"""
    return _change("deinterleave", ((count * k,),), ((count,),) * k, count, k)


def aos_to_soa(channels: int, count: int) -> LayoutChange:
    """`count` structures of `channels` elements to one array for each channel."""
    return _change("aos_to_soa", ((count, channels),), ((count,),) * channels, count, channels)


def soa_to_aos(channels: int, count: int) -> LayoutChange:
    """One array for each channel to structures of all channels."""
    return _change("soa_to_aos", ((count,),) * channels, ((count, channels),), channels, count)


Maker = Callable[[int, int], LayoutChange]

# name -> its parameters, and the change for them. A count that is not given is made to fill registers.
CHANGES: Mapping[str, tuple[tuple[str, str], Maker]] = {
    "transpose": (("rows", "cols"), transpose),
    "interleave": (("k", "count"), interleave),
    "deinterleave": (("k", "count"), deinterleave),
    "aos_to_soa": (("channels", "count"), aos_to_soa),
    "soa_to_aos": (("channels", "count"), soa_to_aos),
}


def is_change(gather: Gather, change: LayoutChange) -> bool:
    """Whether a gather moves the same elements to the same places, however its arrays are cut."""
    count = sum(map(prod, gather.inputs))
    return same(Gather(((count,),), (prod(gather.output),), gather.index), change.gather)


def transposed_as(gather: Gather) -> tuple[int, int] | None:
    """The rows and columns of the matrix that the gather transposes, or None. All changes above are
    transposes: interleaving k arrays of n is one of k rows and n columns."""
    size = gather.index.size
    if size < 2 or sum(map(prod, gather.inputs)) != size:
        return None
    second = int(gather.index[1])  # the first element of the second row: there are so many columns
    if second <= 0 or size % second:
        return None
    rows, columns = size // second, second
    index = permute_axes((rows, columns), (1, 0)).index
    return (rows, columns) if np.array_equal(gather.index, index) else None

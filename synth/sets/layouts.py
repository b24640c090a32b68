"""Single gathers with names: loads, reshapes and the like. Each gives its index and its shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from hbc.ir.moves.gather import UNDEFINED, Gather, Shape, permute_axes


class Mismatch(Exception):
    """The arguments' shapes do not suit; the message says why."""


def reshape(source: Shape, output: Shape | None) -> Gather:
    """The same elements in row-major order."""
    wanted = source if output is None else output
    if prod(wanted) != prod(source):
        raise Mismatch(f"{list(source)} has {prod(source)} elements, {list(wanted)} {prod(wanted)}")
    return Gather((source,), wanted, np.arange(prod(source), dtype=np.int32))


def transpose(source: Shape) -> Gather:
    """The last two axes exchanged."""
    if len(source) < 2:
        raise Mismatch(f"{list(source)} has no two axes to exchange")
    axes = [*range(len(source) - 2), len(source) - 1, len(source) - 2]
    return permute_axes(source, axes)


def rot_idx(source: Shape, by: int) -> Gather:
    """Axes rotated: the first `by` become the last."""
    axes = [(d + by) % len(source) for d in range(len(source))]
    return permute_axes(source, axes)


def stack(sources: Sequence[Shape]) -> Gather:
    """A new last axis, whose index says which argument."""
    if len(set(sources)) > 1:
        raise Mismatch("`stack` takes arrays of one shape")
    size, count = prod(sources[0]), len(sources)
    index = np.arange(size, dtype=np.int32)[:, None] + np.arange(count, dtype=np.int32) * size
    return Gather(tuple(sources), (*sources[0], count), index.reshape(-1))


def concatenate(sources: Sequence[Shape]) -> Gather:
    """The arguments behind each other along the first axis."""
    if len({source[1:] for source in sources}) > 1:
        raise Mismatch("`concat` takes arrays that differ in the first extent only")
    shape = (sum(source[0] for source in sources), *sources[0][1:])
    return Gather(tuple(sources), shape, np.arange(prod(shape), dtype=np.int32))


def broadcast(source: Shape, output: Shape | None, group: int) -> Gather:
    """New axes after the first `group`, along which elements repeat."""
    if output is None:
        raise Mismatch("the shape of a broadcast must be given: name it in a statement of its own")
    new = len(output) - len(source)
    if not 0 <= group <= len(source) or new < 0:
        raise Mismatch(f"{list(source)} cannot be broadcast to {list(output)}")
    if (*output[:group], *output[group + new :]) != source:
        raise Mismatch(
            f"{list(source)} with new axes after the first {group} is not {list(output)}"
        )
    index = np.arange(prod(source), dtype=np.int32).reshape(source)
    index = index.reshape(*source[:group], *([1] * new), *source[group:])
    return Gather((source,), output, np.broadcast_to(index, output).reshape(-1))


def load_rep(source: Shape, output: Shape | None) -> Gather:
    """Column-major load, from the beginning again past the end."""
    linear, wanted = _column_major(output)
    return Gather((source,), wanted, (linear % prod(source)).astype(np.int32))


def load_trunc(source: Shape, output: Shape | None) -> Gather:
    """Column-major load; past the end there is no value."""
    linear, wanted = _column_major(output)
    return Gather(
        (source,), wanted, np.where(linear < prod(source), linear, UNDEFINED).astype(np.int32)
    )


def load_grid_2d(source: Shape, output: Shape | None) -> Gather:
    """[H, W] to [ni, nj, a, b]: in[i + ni*a, j + nj*b]; outside there is no value."""
    if len(source) != 2 or output is None or len(output) != 4:
        raise Mismatch("`load_grid_2d` takes [H, W] to [ni, nj, a, b]")
    i, j, a, b = np.indices(output)
    row, column = i + output[0] * a, j + output[1] * b
    inside = (row < source[0]) & (column < source[1])
    index = np.where(inside, row * source[1] + column, UNDEFINED)
    return Gather((source,), output, index.reshape(-1).astype(np.int32))


def _column_major(
    output: Shape | None,
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], Shape]:
    if output is None:
        raise Mismatch("the shape of a load must be given: name it in a statement of its own")
    index = np.indices(output).reshape(len(output), -1)
    strides = [prod(output[:d]) for d in range(len(output))]
    return np.asarray(sum(index[d] * strides[d] for d in range(len(output)))), output

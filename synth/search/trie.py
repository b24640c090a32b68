"""A set of gathers as a trie: rows of codes in lexicographic order, and where prefixes end.

All gathers that agree so far are one range of rows, judged once. Only columns in which some range
splits are branches; the others are known with the prefix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hbc.synth.sets.gather_set import Codes, GatherSet

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """`codes[row]` in order; `original[row]` is the number of the gather. `starts[column]`: the rows
    that first differ from their predecessor in that column."""

    codes: Codes
    original: Numbers
    starts: dict[int, Numbers]

    @property
    def columns(self) -> int:
        return int(self.codes.shape[1])

    @property
    def last_split(self) -> int:
        return max(self.starts, default=-1)


def make_trie(gathers: GatherSet) -> Trie:
    codes = np.ascontiguousarray(gathers.codes)
    big_endian = codes.astype(codes.dtype.newbyteorder(">"))
    packed = big_endian.view(np.dtype((np.void, codes.dtype.itemsize * codes.shape[1]))).reshape(-1)
    original = np.argsort(packed, kind="stable")
    ordered = codes[original]
    differ = ordered[1:] != ordered[:-1]
    first = differ.argmax(axis=1)
    starts = {int(c): np.flatnonzero(first == c) + 1 for c in np.unique(first)}
    return Trie(ordered, original, starts)


def count_children(trie: Trie, column: int, low: Numbers, high: Numbers) -> Numbers:
    """How many ranges each range splits into at a column."""
    starts = trie.starts[column]
    first = np.searchsorted(starts, low, side="right")
    return np.searchsorted(starts, high, side="left") - first + 1


def split(trie: Trie, column: int, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The children of all ranges: for each the number of its parent, and its own range."""
    starts = trie.starts[column]
    first = np.searchsorted(starts, low, side="right")
    count = np.searchsorted(starts, high, side="left") - first + 1
    parent = np.repeat(np.arange(len(low)), count)
    within = np.arange(len(parent)) - np.repeat(np.cumsum(count) - count, count)
    padded = np.append(starts, 0)
    place = first[parent] + within
    begins = np.where(within == 0, low[parent], padded[place - 1])
    ends = np.where(
        within == count[parent] - 1, high[parent], padded[np.minimum(place, len(starts))]
    )
    return parent, begins, ends

"""What a register made of others is, lane by lane: which single instruction could make it.

`lane` and `source` say for each lane of the made register which lane of which register it reads; both are
-1 where it is 0, and -2 where it does not matter. Patterns are those of one or of two source registers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Pattern = Callable[[Numbers, Numbers, int], bool]  # lane, source, lanes of a 128-bit group

# The source of lanes that do not matter.
FREE = -2


def is_rotation(lane: Numbers, source: Numbers, group: int) -> bool:
    """out[i] = a[(i + c) % n]."""
    fixed = source >= 0
    return _one_of((lane - np.arange(lane.size))[fixed] % lane.size)


def is_within(lane: Numbers, source: Numbers, group: int) -> bool:
    """The same permutation within each group of 128 bits."""
    fixed = source >= 0
    own = np.arange(lane.size)
    if group < 2 or (lane[fixed] // group != own[fixed] // group).any():
        return False
    return _agrees(lane % group, fixed, own % group)


def is_within_each(lane: Numbers, source: Numbers, group: int) -> bool:
    """Any permutation within each group."""
    fixed = source >= 0
    return bool((lane // group == np.arange(lane.size) // group)[fixed].all())


def is_alignment_within(lane: Numbers, source: Numbers, group: int) -> bool:
    """In each group lanes c, c + 1, ... of the groups of two registers behind each other."""
    return is_within_each(lane, source, group) and _aligned(lane % group, source, group)


def is_alignment(lane: Numbers, source: Numbers, group: int) -> bool:
    """Lanes c, c + 1, ... of two registers behind each other."""
    return _aligned(lane, source, lane.size)


def _aligned(lane: Numbers, source: Numbers, size: int) -> bool:
    own = np.arange(lane.size) % size
    for shift in range(size):
        wraps = (own + shift >= size).astype(np.int64)
        if _matches(lane, (own + shift) % size, source) and _sources_follow(source, wraps):
            return True
    return False


def is_blend(lane: Numbers, source: Numbers, group: int) -> bool:
    """Every lane stays where it is."""
    fixed = source >= 0
    return bool((lane == np.arange(lane.size))[fixed].all())


def is_even(lane: Numbers, source: Numbers, group: int) -> bool:
    """a[0], b[0], a[2], b[2], ..."""
    return _alternates(lane, source, 0)


def is_odd(lane: Numbers, source: Numbers, group: int) -> bool:
    """a[1], b[1], a[3], b[3], ..."""
    return _alternates(lane, source, 1)


def is_zip(lane: Numbers, source: Numbers, group: int) -> bool:
    """The lower or the upper halves of both registers, lane by lane."""
    own = np.arange(lane.size)
    halves = (own // 2, own // 2 + lane.size // 2)
    return any(_matches(lane, half, source) for half in halves) and _sources_follow(source, own % 2)


def is_unzip(lane: Numbers, source: Numbers, group: int) -> bool:
    """Every second lane of the one, then of the other register."""
    own = np.arange(lane.size)
    half = lane.size // 2
    every = (2 * own % lane.size, 2 * own % lane.size + 1)
    follow = half > 0 and _sources_follow(source, own // half)
    return follow and any(_matches(lane, second, source) for second in every)


def is_unpacking(lane: Numbers, source: Numbers, group: int) -> bool:
    """The low or the high halves of each group of both registers, element by element."""
    if group < 2:
        return False
    own = np.arange(lane.size)
    for half in (0, group // 2):
        wanted = own - own % group + half + own % group // 2
        if _matches(lane, wanted, source) and _sources_follow(source, own % 2):
            return True
    return False


def is_halves(lane: Numbers, source: Numbers, group: int) -> bool:
    """In each group the first half from a, the second from b, the same lanes in each group."""
    if group < 2:
        return False
    own = np.arange(lane.size)
    fixed = source >= 0
    inside = bool((lane[fixed] // group == own[fixed] // group).all())
    same = _agrees(lane % group, fixed, own % group)
    return inside and same and _sources_follow(source, own % group // (group // 2))


def is_quarters(lane: Numbers, source: Numbers, group: int) -> bool:
    """Whole groups of 128 bits: the first half of them from a, the second from b."""
    own = np.arange(lane.size)
    fixed = source >= 0
    if lane.size < 2 * group or (lane[fixed] % group != own[fixed] % group).any():
        return False
    whole = _agrees(lane // group, fixed, own // group)
    return whole and _sources_follow(source, own // (lane.size // 2))


def is_chunks(lane: Numbers, source: Numbers, group: int) -> bool:
    """Whole groups of 128 bits, from anywhere."""
    own = np.arange(lane.size)
    fixed = source >= 0
    if (lane[fixed] % group != own[fixed] % group).any():
        return False
    place = np.where(fixed, lane // group + source * lane.size, FREE)
    return _agrees(place, fixed, own // group)


def is_anything(lane: Numbers, source: Numbers, group: int) -> bool:
    return True


ONE: dict[str, Pattern] = {
    "rotate": is_rotation, "align": is_rotation, "within": is_within, "halves": is_halves,
    "within each": is_within_each, "align within": is_alignment_within, "chunks": is_chunks,
    "unpack": is_unpacking, "even": is_even, "odd": is_odd, "quarters": is_quarters,
    "zip": is_zip, "unzip": is_unzip, "permute one": is_anything, "permute two": is_anything,
}  # fmt: skip
TWO: dict[str, Pattern] = {
    "align": is_alignment, "blend": is_blend, "even": is_even, "odd": is_odd,
    "align within": is_alignment_within, "chunks": is_chunks,
    "unpack": is_unpacking, "halves": is_halves, "quarters": is_quarters,
    "zip": is_zip, "unzip": is_unzip, "permute two": is_anything,
}  # fmt: skip
INDEXED = ("within each", "permute one", "permute two")  # which read a register of indices
MASKED = ("blend",)


def _one_of(values: Numbers) -> bool:
    return values.size > 0 and bool((values == values[0]).all())


def _matches(lane: Numbers, wanted: Numbers, source: Numbers) -> bool:
    fixed = source >= 0
    return bool((lane[fixed] == wanted[fixed]).all())


def _sources_follow(source: Numbers, part: Numbers) -> bool:
    """Whether all lanes of part 0 read one register, and all of part 1 one, maybe the same."""
    return all(np.unique(source[(part == p) & (source >= 0)]).size <= 1 for p in (0, 1))


def _alternates(lane: Numbers, source: Numbers, offset: int) -> bool:
    own = np.arange(lane.size)
    return _matches(lane, own - own % 2 + offset, source) and _sources_follow(source, own % 2)


def _agrees(values: Numbers, fixed: NDArray[np.bool_], key: Numbers) -> bool:
    """Whether lanes with the same key have the same value."""
    return all(np.unique(values[fixed & (key == k)]).size <= 1 for k in np.unique(key))

"""Moves of a register that exchange bits of its index, one exchange after the other.

Element `i` comes from the place that has the bits of `i` in another order, some of them turned around:
bits of bytes in reverse, bits of bytes transposed. Each exchange of two bits of the index, or turn of
one, moves elements by one distance up and down.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hbc.ir.moves.gather import Locations


def exchanges(row: Locations) -> list[Locations] | None:
    """Moves that bring the row about one after the other, each [element]: its place before. None where it is
    no such move of one register, or one that needs no second."""
    count = row.size.bit_length() - 1
    if row.size != 1 << count or (row < 0).any():
        return None
    place = np.arange(row.size, dtype=np.int32)
    turned = int(row[0])
    comes = [int(row[1 << bit]) ^ turned for bit in range(count)]
    if sorted(comes) != [1 << bit for bit in range(count)]:
        return None
    from_bit = [bits.bit_length() - 1 for bits in comes]
    made = np.full(row.size, turned)
    for bit in range(count):
        made ^= (place >> bit & 1) << from_bit[bit]
    if not (made == row).all():
        return None
    steps = [*_turns(turned, count), *(_swapped(place, *pair) for pair in _pairs(from_bit))]
    return steps if len(steps) > 1 else None


def _turns(turned: int, count: int) -> Iterator[Locations]:
    """Those of the sources' bits come first."""
    for bit in range(count):
        if turned >> bit & 1:
            yield np.arange(1 << count, dtype=np.int32) ^ np.int32(1 << bit)


def _pairs(from_bit: list[int]) -> list[tuple[int, int]]:
    """Exchanges of bits by which each comes from where it does, in the order in which they are done."""
    left, pairs = list(from_bit), []
    for bit in range(len(left)):
        if left[bit] != bit:
            other = left.index(bit)
            left[other], left[bit] = left[bit], bit
            pairs.append((bit, other))
    return pairs[::-1]


def _swapped(place: Locations, first: int, second: int) -> Locations:
    differ = (place >> first ^ place >> second) & 1
    return np.asarray(place ^ (differ << first | differ << second), dtype=np.int32)


def composed(steps: list[Locations]) -> Locations:
    """What they do together."""
    row = np.arange(steps[0].size, dtype=np.int32)
    for step in steps:
        row = row[step]
    return row

"""Folds batches of arrays: multisets are found by sums of random 64-bit numbers.

The sum over a multiset depends on no order and counts multiplicities; 0 adds nothing. Two different
multisets share a sum with probability 2^-64: such a state would be caught when its solution is
executed exactly, and no state is ever lost by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.problem import JUNK, ZERO, Universe

# The constants of splitmix64 (Steele, Lea and Flood, 2014).
STEP = np.uint64(0x9E3779B97F4A7C15)
ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """`keys[term]`; for each operation the sums of the known folds, ascending, and their numbers."""

    keys: NDArray[np.uint64]
    sums: dict[str, NDArray[np.uint64]]
    terms: dict[str, NDArray[np.int32]]
    compared: bool


def random_numbers(count: int) -> NDArray[np.uint64]:
    """Always the same; made here because importing `numpy.random` takes as long as a small search."""
    numbers = np.arange(1, count + 1, dtype=np.uint64) * STEP
    for shift, factor in ROUNDS:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers


def make_folder(universe: Universe) -> Folder:
    keys = random_numbers(universe.count) | np.uint64(1)
    keys[ZERO] = 0
    sums: dict[str, NDArray[np.uint64]] = {}
    terms: dict[str, NDArray[np.int32]] = {}
    operations = {term.operation for term in universe.packed} | {""}
    for operation in sorted(operations):
        pairs = [(0, ZERO)]
        for term in universe.packed:
            if term.operation == operation:
                total = sum(int(keys[e]) * times for e, times in term.elements) % (1 << 64)
                pairs.append((total, term.number))
        pairs.sort()
        sums[operation] = np.array([total for total, _ in pairs], dtype=np.uint64)
        terms[operation] = np.array([number for _, number in pairs], dtype=np.int32)
    return Folder(keys, sums, terms, operations != {""})


def fold(folder: Folder, values: NDArray[Any], length: int, operation: str) -> NDArray[np.int32]:
    """[states, n] to [states, n / length]."""
    key = operation if folder.compared else ""
    if key not in folder.sums:
        key = ""  # the goals have no such fold: only 0 can come of it
    grouped = folder.keys[values].reshape(len(values), -1, length).sum(axis=2)
    sums = folder.sums[key]
    place = np.minimum(np.searchsorted(sums, grouped), len(sums) - 1)
    folded: NDArray[np.int32] = np.where(sums[place] == grouped, folder.terms[key][place], JUNK)
    return folded.astype(np.int32)

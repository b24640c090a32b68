"""The states that chosen gathers make, some at a time so that what is looked up stays in the
processor's cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import Locations
from hbc.synth.prunings.run import Batch
from hbc.synth.search.probes import Frontier
from hbc.synth.search.trie import Numbers, Trie
from hbc.synth.sets.gather_set import GatherSet

AT_ONCE = 1 << 16  # locations
SHARED = 2  # candidates, on average, that choose one gather for one state


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """Candidates with the values of the step's output, one row each."""

    chosen: Frontier
    values: Batch


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """How values are found by `take` in flat tables. Output location o of composition a is location
    `after[a, o]` of the first hole's output (two more hold no value and 0); there, gather h reads
    `source[location * codes + code[h, cell[location]]]` of a state."""

    after: Locations
    cell: Locations
    source: Numbers
    codes: int


def make_lookup(gathers: GatherSet, after: Locations) -> Lookup:
    """Negative locations, which stand for no value and 0, are counted from the end here."""
    size, codes = gathers.source.shape
    width = sum(map(prod, gathers.inputs)) + 2
    after = np.where(after < 0, after + size + 2, after)
    ends = np.repeat([[-2], [-1]], codes, axis=1)
    source = np.concatenate([gathers.source, ends])
    source = np.where(source < 0, source + width, source)
    cell = np.concatenate([gathers.cell, [0, 0]])
    return Lookup(after, cell, source.astype(np.int64).ravel(), codes)


def complete(
    lookup: Lookup, trie: Trie, inputs: Batch, frontier: Frontier, most: int
) -> Iterator[Completed]:
    """The values of the step's output, some candidates at a time."""
    for start in range(0, len(frontier), most):
        part = frontier.pick(slice(start, start + most))
        yield Completed(part, values(lookup, trie, inputs, part))


def values(lookup: Lookup, trie: Trie, inputs: Batch, part: Frontier) -> Batch:
    """[candidate, output location]: what it holds."""
    pairs = part.state * len(trie.codes) + part.low
    different, pair = np.unique(pairs, return_inverse=True)
    size = lookup.cell.size
    whole = np.arange(size)[None, :]
    held = np.empty((len(part), lookup.after.shape[1]), dtype=np.uint16)
    if different.size * SHARED > len(part):
        for rows in _pieces(len(part), held.shape[1]):
            state, low = part.state[rows], part.low[rows]
            held[rows] = _read(lookup, trie, inputs, state, low, lookup.after[part.after[rows]])
        return held
    # One gather for one state, and then where compositions bring what it made.
    made = np.empty((different.size, size), dtype=np.uint16)
    for rows in _pieces(different.size, size):
        state, low = np.divmod(different[rows], len(trie.codes))
        made[rows] = _read(lookup, trie, inputs, state, low, whole)
    flat = made.ravel()
    for rows in _pieces(len(part), held.shape[1]):
        place = lookup.after[part.after[rows]] + (pair[rows] * size)[:, None]
        flat.take(place, out=held[rows], mode="clip")
    return held


def _read(
    lookup: Lookup, trie: Trie, inputs: Batch, state: Numbers, low: Numbers, where: NDArray[Any]
) -> Batch:
    """What candidates hold at locations of the first hole's output: [candidate, location]."""
    row = (low * trie.codes.shape[1])[:, None]
    code = trie.codes.ravel().take(lookup.cell.take(where) + row)
    source = lookup.source.take(np.multiply(where, lookup.codes, dtype=np.int64) + code)
    if len(inputs) > 1:
        source += (state * inputs.shape[1])[:, None]
    held: Batch = inputs.ravel().take(source)
    return held


def _pieces(count: int, width: int) -> Iterator[slice]:
    step = max(1, AT_ONCE // max(1, width))
    return (slice(start, start + step) for start in range(0, count, step))

"""Judges a gather that is only partly known: one location of the step's output at a time.

A location is tested as soon as the column of the trie that determines it is known: against what it may
hold (`residual`), and against the other members of its crowd.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.record import mutable
from hbc.ir.moves.gather import Locations
from hbc.synth.prunings.demands import Crowd
from hbc.synth.prunings.possible import Table
from hbc.synth.prunings.run import Batch
from hbc.synth.search.trie import Numbers, Trie
from hbc.synth.sets.gather_set import GatherSet

MOST_PROBES = 3  # locations of one column: the rest is tested when a state is complete
MOST_READERS = 3  # places to which later holes bring one location
MOST_PARTNERS = 14  # that a location is compared with
BEFORE = 10
TRIAL = 20_000  # comparisons after which crowds must have been worth it
WORTH = 25  # one candidate in so many must fail them


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """Candidates: state, composed later holes, and a range of rows of the trie."""

    state: Numbers
    after: Numbers
    low: Numbers
    high: Numbers

    def __len__(self) -> int:
        return len(self.state)

    def pick(self, rows: NDArray[np.bool_] | Numbers | slice) -> Frontier:
        return Frontier(self.state[rows], self.after[rows], self.low[rows], self.high[rows])


@mutable
class Tally:
    """How many candidates were compared with their crowds, and how many failed."""

    compared: int = 0
    failed: int = 0

    @property
    def worthwhile(self) -> bool:
        return self.compared < TRIAL or self.failed * WORTH >= self.compared


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """`locations[c]`: some output locations of the first hole that column c determines. `readers[a,
    l]`: where composition a of the later holes brings location l, -1 where nowhere. `after[a, o]`: what
    output location o reads. For each output location its partners in crowds (-1: none), the crowds,
    and `kinds[crowd, t]`."""

    gathers: GatherSet
    locations: list[Locations]
    readers: Locations
    after: Locations
    partners: Locations
    crowd: Locations
    kinds: Locations
    tally: Tally = field(default_factory=Tally)


def make_probes(gathers: GatherSet, after: Locations, crowds: list[Crowd]) -> Probes:
    size, outputs = gathers.cell.size, after.shape[1]
    columns = gathers.codes.shape[1]
    order = np.argsort(gathers.cell, kind="stable").astype(np.int32)
    bounds = np.searchsorted(gathers.cell[order], np.arange(columns + 1))
    locations = [order[a : min(b, a + MOST_PROBES)] for a, b in pairwise(bounds)]
    readers = np.full((len(after), size, MOST_READERS), -1, dtype=np.int32)
    filled = np.zeros((len(after), size), dtype=np.int32)
    numbers = np.arange(len(after))
    for output in range(outputs):
        location = after[:, output]
        room = (location >= 0) & (filled[numbers, np.maximum(location, 0)] < MOST_READERS)
        rows, where = numbers[room], location[room]
        readers[rows, where, filled[rows, where]] = output
        filled[rows, where] += 1
    partners, crowd, kinds = _partners(crowds, outputs)
    return Probes(gathers, locations, readers, after, partners, crowd, kinds)


def _partners(crowds: list[Crowd], outputs: int) -> tuple[Locations, Locations, Locations]:
    """Members of each location's smallest crowd."""
    partners = np.full((outputs, MOST_PARTNERS), -1, dtype=np.int32)
    crowd = np.zeros((outputs, MOST_PARTNERS), dtype=np.int32)
    filled = np.zeros(outputs, dtype=np.int32)
    chosen = sorted((c for c in crowds if c.locations.size > 1), key=lambda c: c.locations.size)
    for number, one in enumerate(chosen):
        for place, location in enumerate(one.locations):
            if filled[location]:
                continue  # a smaller crowd tells more
            # Neighbours first, those before it above all: they are the first to be known.
            near = np.delete(np.roll(one.locations, -place), 0)
            others = np.concatenate([near[::-1][:BEFORE], near[: max(0, near.size - BEFORE)]])
            others = others[:MOST_PARTNERS]
            partners[location, : others.size] = others
            crowd[location] = number
            filled[location] = others.size
    kinds = np.stack([one.kinds for one in chosen]) if chosen else np.zeros((0, 1), dtype=np.int32)
    width = int(filled.max(initial=0))
    return partners[:, :width], crowd[:, :width], kinds


def probe(
    probes: Probes, trie: Trie, column: int, inputs: Batch, residual: Table, frontier: Frontier
) -> Frontier:
    """What remains of the frontier after the tests of one column. `residual` is [output location,
    term], or has the state as a further first dimension."""
    for location in probes.locations[column]:
        for readers in probes.readers[:, location].T:
            if not len(frontier):
                return frontier
            if not (readers >= 0).any():
                break
            code = trie.codes[:, column].take(frontier.low)
            source = probes.gathers.source[location]
            if len(inputs) == 1 and residual.ndim == 2:
                # What is read depends on the code alone: one small table decides.
                terms = inputs[0][source]
                table = residual[readers[:, None], terms] | (readers < 0)[:, None]
                good = table.ravel().take(frontier.after * terms.size + code)
            else:
                good = _allowed(inputs, residual, readers, source.take(code), frontier)
            if not good.all():
                frontier, code = frontier.pick(np.flatnonzero(good)), code[good]
            # A comparison with a crowd costs as much as ten tests of a term alone.
            if len(probes.kinds) and probes.tally.worthwhile:
                term = inputs[frontier.state, source.take(code)]
                output = readers.take(frontier.after)
                good = _unlike(probes, trie, column, inputs, frontier, output, term)
                if not good.all():
                    frontier = frontier.pick(np.flatnonzero(good))
    return frontier


def _allowed(
    inputs: Batch, residual: Table, readers: Locations, source: Locations, frontier: Frontier
) -> NDArray[np.bool_]:
    """Whether what is read from locations `source` may stand where `readers` bring it."""
    width = inputs.shape[1]
    term = inputs.ravel().take(
        frontier.state * width + np.where(source < 0, source + width, source)
    )
    output = readers.take(frontier.after).astype(np.int64)
    place = output if residual.ndim == 2 else output + frontier.state * residual.shape[1]
    good: NDArray[np.bool_] = residual.ravel().take(place * residual.shape[-1] + term, mode="wrap")
    return good | (output < 0)


def _unlike(
    probes: Probes, trie: Trie, column: int, inputs: Batch, frontier: Frontier,
    output: NDArray[np.int32], term: NDArray[np.uint16],
) -> NDArray[np.bool_]:  # fmt: skip
    """Whether the term at `output` is of another kind than those of its crowd known already."""
    good = np.ones(len(frontier), dtype=np.bool_)
    rows = np.flatnonzero((output >= 0) & (probes.partners[output, 0] >= 0))
    if not rows.size:
        return good
    gathers, width = probes.gathers, inputs.shape[1]
    partners = probes.partners[output[rows]]
    read = _looked_up(probes.after, frontier.after[rows], partners)
    inside = np.maximum(read, 0)
    cell = gathers.cell.take(inside)
    known = (partners >= 0) & (read >= 0) & (cell < column)
    some = np.flatnonzero(known.any(axis=1))
    rows, known, inside, cell = rows[some], known[some], inside[some], cell[some]
    code = _looked_up(trie.codes, frontier.low[rows], cell)
    source = gathers.source.ravel().take(inside * gathers.source.shape[1] + code)
    other = _looked_up(inputs, frontier.state[rows], np.where(source < 0, source + width, source))
    crowd = probes.crowd[output[rows], 0]
    kind = probes.kinds[crowd, term[rows]]
    same = _looked_up(probes.kinds, crowd, other) == kind[:, None]
    good[rows] = ~(known & same).any(axis=1)
    probes.tally.compared += rows.size
    probes.tally.failed += int((~good).sum())
    return good


def _looked_up(table: NDArray[Any], row: NDArray[Any], column: NDArray[Any]) -> NDArray[Any]:
    """`table[row[:, None], column]`, several times as fast; a negative column reads anything."""
    place = (row.astype(np.int64) * table.shape[1])[:, None] + column
    looked_up: NDArray[Any] = table.ravel().take(place)
    return looked_up

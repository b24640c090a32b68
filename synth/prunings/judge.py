"""Judges complete states at a cut: allowed terms, demands, copies; each can be switched off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.cut import Cut
from hbc.synth.prunings.problem import JUNK, ZERO
from hbc.synth.prunings.run import Batch, Batches

COUNTED_AT_ONCE = 256  # states whose table of copies stays in the processor's cache


def judge(cut: Cut, values: Batches, count: int) -> NDArray[np.int64]:
    """The numbers of the states that pass."""
    alive = np.arange(count)
    columns: dict[int, Batch] = {}  # [location, state]: the states' are one run of memory
    for number in {*cut.allowed, *(n for together in cut.demands for n, _ in together.places)}:
        columns[number] = np.ascontiguousarray(values[number].T)
    for number, table in cut.allowed.items():
        for location in np.flatnonzero(~table.all(axis=1)):
            good = table[location].take(_held(columns[number][location], alive))
            if not good.all():
                alive = alive[good]
    for together in cut.demands:
        met = np.zeros(alive.size, dtype=together.bits.dtype)
        for number, where in together.places:
            for location in where:
                met |= together.bits.take(_held(columns[number][location], alive))
        good = met == together.all_met
        if not good.all():
            alive = alive[good]
    return alive


def _held(column: Batch, alive: NDArray[np.int64]) -> Batch:
    """What the states alive hold at a location."""
    return column if alive.size == column.size else column[alive]


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """`least[n][l]`: how many copies of what location l of node n holds reach the goals at least;
    `most[t]`: how many of term t may."""

    least: dict[int, NDArray[np.int64]]
    most: NDArray[np.int64]


def judge_copies(copies: Copies, values: Batches, alive: NDArray[np.int64]) -> NDArray[np.int64]:
    """Without the states that hold too many copies of something."""
    parts = (alive[n : n + COUNTED_AT_ONCE] for n in range(0, alive.size, COUNTED_AT_ONCE))
    return np.concatenate([alive[:0], *(_few_copies(copies, values, part) for part in parts)])


def _few_copies(copies: Copies, values: Batches, alive: NDArray[np.int64]) -> NDArray[np.int64]:
    terms = copies.most.size
    total = np.zeros(alive.size * terms, dtype=np.int64)
    own = (np.arange(alive.size) * terms)[:, None]  # where the counts of a state begin
    for number, least in copies.least.items():
        held: Batch = values[number][alive]
        for weight in np.unique(least[least > 0]):
            where = np.flatnonzero(least == weight)
            some = held if where.size == least.size else held[:, where]
            total += weight * np.bincount((some + own).ravel(), minlength=total.size)
    counts = total.reshape(-1, terms)
    counts[:, ZERO] = 0
    most = copies.most.copy()
    most[JUNK] = 0
    return alive[(counts <= most).all(axis=1)]

"""Which terms each location may hold in a solution: a pass from the goals back, one node at a time.

A location that some gather leaves unread may hold anything. That is why gathers which cannot be part
of a solution are dropped on the way: without them more locations are known to be read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.possible import Table, joined
from hbc.synth.prunings.problem import JUNK, ZERO, Pack, Packed, Universe
from hbc.synth.sets.gather_set import GatherSet

MOST_ENTRIES = 8_000_000  # gathers times locations that are looked at one by one
AT_A_TIME = 1 << 20


def viable_gathers(gathers: GatherSet, inputs: Table, allowed: Table) -> GatherSet:
    """Without the gathers that bring a location nothing it may hold, or one location to two that
    may have nothing in common."""
    ends = constant_pairs(gathers, inputs, allowed)
    good = np.ones((gathers.codes.shape[1], gathers.source.shape[1]), dtype=np.bool_)
    np.logical_and.at(good, gathers.cell, ends)
    cells = np.arange(gathers.codes.shape[1])
    alive = np.ones(gathers.size, dtype=np.bool_)
    for cell in cells[~good.all(axis=1)]:
        alive &= good[cell][gathers.codes[:, cell]]
    kept = gathers if alive.all() else gathers.subset(np.flatnonzero(alive))
    if kept.size * kept.cell.size > MOST_ENTRIES or allowed.all():
        return kept
    agreeing = np.concatenate(
        [_agreeing(kept, part, inputs, allowed) for part in _parts(kept)] or [np.ones(0, np.bool_)]
    )
    return kept if agreeing.all() else kept.subset(np.flatnonzero(agreeing))


def constant_pairs(gathers: GatherSet, inputs: Table, allowed: Table) -> Table:
    """[output location, code]: whether what the code brings can be allowed there."""
    pairs = np.empty(gathers.source.shape, dtype=np.bool_)
    for code in range(gathers.source.shape[1]):
        pairs[:, code] = (inputs[gathers.source[:, code]] & allowed).any(axis=1)
    return pairs


def _parts(gathers: GatherSet) -> list[NDArray[np.int64]]:
    step = max(1, AT_A_TIME // max(1, gathers.cell.size))
    return [np.arange(s, min(s + step, gathers.size)) for s in range(0, gathers.size, step)]


def _agreeing(
    gathers: GatherSet, part: NDArray[np.int64], inputs: Table, allowed: Table
) -> NDArray[np.bool_]:
    """Whether, for every location that a gather reads, all its readers can be content at once."""
    rows = gathers.rows(part)
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    repeated = ordered[:, 1:] == ordered[:, :-1]
    again = np.flatnonzero(repeated.any(axis=1))
    agreeing = np.ones(len(part), dtype=np.bool_)
    packed = np.packbits(allowed, axis=1)
    held = np.packbits(inputs, axis=1)
    for row in again:
        starts = np.flatnonzero(np.r_[True, ~repeated[row]])
        common = np.bitwise_and.reduceat(packed[order[row]], starts, axis=0)
        common &= held[ordered[row][starts]]
        agreeing[row] = common.any(axis=1).all()
    return agreeing


def allowed_inputs(gathers: GatherSet, count: int, allowed: Table) -> Table:
    """What the inputs may hold: the union over the gathers, everything where one does not read."""
    table = joined(gathers.reach()[:, :count].T, allowed)
    table[~always_read(gathers, count)] = True
    return table


def always_read(gathers: GatherSet, count: int) -> NDArray[np.bool_]:
    """Which input locations every gather reads. False where that is too much to find out."""
    if gathers.size * gathers.cell.size > MOST_ENTRIES:
        return np.zeros(count, dtype=np.bool_)
    always = np.ones(count, dtype=np.bool_)
    for part in _parts(gathers):
        read = np.zeros((len(part), count + 2), dtype=np.bool_)
        read[np.arange(len(part))[:, None], gathers.rows(part)] = True
        always &= read[:, :count].all(axis=0)
    return always


def allowed_elements(node: Pack, source: Table, allowed: Table, universe: Universe) -> Table:
    """What the folded locations may hold, by the folds that are allowed."""
    grouped = source.reshape(-1, node.length, universe.count)
    table = np.zeros(grouped.shape, dtype=np.bool_)
    free = allowed[:, JUNK]
    table[free] = True
    for term in universe.packed:
        rows = np.flatnonzero(allowed[:, term.number] & ~free)
        if rows.size and term.count <= node.length:
            table[rows] |= _elements_of(term, grouped[rows])
    empty = allowed[:, ZERO] & ~free
    table[empty, :, ZERO] = True
    return table.reshape(-1, universe.count)


def _elements_of(term: Packed, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[row, place, term]: which element of `term` may stand where, the others elsewhere."""
    elements = np.array([element for element, _ in term.elements])
    single = np.array([times == 1 for _, times in term.elements])
    held_here = held[:, :, elements]
    elsewhere = (held_here.sum(axis=1, keepdims=True) - held_here) >= 1
    missing = (~elsewhere).sum(axis=2, keepdims=True)
    table = np.zeros(held.shape, dtype=np.bool_)
    # An element that occurs once need not be elsewhere as well.
    table[:, :, elements] = held_here & ((missing - (~elsewhere & single)) == 0)
    if term.count < held.shape[1]:
        table[:, :, ZERO] = held[:, :, ZERO] & (missing[:, :, 0] == 0)
    return table

"""How few instructions do by what has to lie in registers that are no outputs.

An output that no instruction makes of sources alone reads something that was made before. From a source
beside it comes only what an instruction brings to its place at once: bytes that have to change blocks, or to
leave a word that is not moved whole, do not. All other bytes lay in what was made before, each in a place of
its own: two outputs of 8 f32 of AVX2, of which 7 each must have been moved before, take two further
instructions, not one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.synth.shuffles.choices import NOWHERE, Choosing

Mask = NDArray[np.bool_]


def carrying_bound(
    rows: Sequence[Locations], long: Sequence[bool], machine: Choosing
) -> int:  # fmt: skip
    """No program makes the rows, of which no two may be one, with fewer instructions. `long`: which of them
    no instruction makes of sources."""
    lanes = machine.lanes
    if machine.widest > 2 or not any(long):
        return len(rows)
    owned = _owned(rows)
    spare = [lanes - int(own.sum()) for own in owned]
    wholes, needs = [], []
    for row, own, is_long in zip(rows, owned, long, strict=True):
        if is_long:
            wholes.append(int(own.sum()))
            needs.append(wholes[-1] - direct(row, own, machine))
    further = 0
    while not _fits(further, wholes, needs, spare, lanes):
        further += 1
    return len(rows) + further


def _owned(rows: Sequence[Locations]) -> list[Mask]:
    """The bytes of each row that no earlier one wants."""
    seen = np.zeros(0, dtype=np.int32)
    owned: list[Mask] = []
    for row in rows:
        own = (row >= 0) & ~np.isin(row, seen)
        first = np.zeros(row.size, dtype=np.bool_)
        first[np.unique(row, return_index=True)[1]] = True
        owned.append(own & first)
        seen = np.union1d(seen, row)
    return owned


def _fits(
    further: int, wholes: Sequence[int], needs: Sequence[int], spare: Sequence[int], lanes: int
) -> bool:
    """Whether so many further registers may hold it all. A row that reads a source too has what it needs in
    one register, which has room for few such; the others have all that they want in two."""
    smallest = max(1, min(needs))
    beside = further * (lanes // smallest) + sum(room // smallest for room in spare)
    more = sorted(whole - need for whole, need in zip(wholes, needs, strict=True))
    without = more[: max(0, len(more) - beside)]
    return sum(needs) + sum(without) <= further * lanes + sum(spare)


def direct(row: Locations, own: Mask, machine: Choosing) -> int:
    """At most so many of its own bytes an instruction takes from a source beside what was made."""
    lanes, most = machine.lanes, 0
    tables = [(form.per, machine.sources(form)[None]) for form in machine.choosing[2]]
    fixed = machine.fixed[2].rows
    if len(fixed):
        tables.append((lanes, fixed[:, :, None]))
    for per, places in tables:
        for start in (0, lanes):
            for source in np.unique(row[own] // lanes):
                taken = _taken(row, own, per, places, start, source * lanes)
                most = max(most, int(taken.max(initial=0)))
    return most


def _taken(
    row: Locations, own: Mask, per: int, places: NDArray[np.int32], start: int, source: int
) -> NDArray[np.int64]:
    """[instruction]: bytes that are taken by units that read of the source only what is right.
    places[instruction, byte, alternative]."""
    lanes = row.size
    wanted = row[None, :, None]
    inside = (places >= start) & (places < start + lanes)
    right = inside & (places - start + source == wanted)
    fine = right | (wanted == UNDEFINED) | ((places >= 0) & ~inside)
    fine |= (places == ZERO) & (wanted == ZERO)
    fine &= places != NOWHERE
    shape = (len(places), lanes // per, per, places.shape[2])
    able = fine.reshape(shape).all(axis=2)
    counts = (right & own[None, :, None]).reshape(shape).sum(axis=2)
    best = np.where(able, counts, 0).max(axis=2).sum(axis=1)
    return np.where(able.any(axis=2).all(axis=1), best, 0)

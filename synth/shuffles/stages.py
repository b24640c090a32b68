"""Many registers in two stages: one moves whole blocks of registers, or stays within them, and what it makes
serves several outputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hbc.ir.moves.gather import UNDEFINED, Locations
from hbc.synth.shuffles.choices import BLOCK

Stages = tuple[
    Locations, Locations
]  # the rows of the first, of the sources; of the second, of the first


def blocks_first(rows: Locations) -> Iterator[Stages]:
    """Registers in which every block of the outputs finds, in its own place, all blocks that it wants."""
    lanes = rows.shape[1]
    blocks = lanes // BLOCK
    wanted: list[list[int]] = []
    for block in range(blocks):
        part = rows[:, block * BLOCK : (block + 1) * BLOCK]
        wanted.append([int(b) for b in np.unique(part[part >= 0] // BLOCK)])
    count = max(map(len, wanted))
    if count > 2 * max(len(rows), int(rows.max(initial=0)) // lanes + 1):
        return
    first = np.full((count, lanes), UNDEFINED, dtype=np.int32)
    for block, some in enumerate(wanted):
        for register, source in enumerate(some):
            here = np.arange(BLOCK) + source * BLOCK
            first[register, block * BLOCK : (block + 1) * BLOCK] = here
    second = rows.copy()
    for block, some in enumerate(wanted):
        part = second[:, block * BLOCK : (block + 1) * BLOCK]
        place = {source: register for register, source in enumerate(some)}
        for at in zip(*np.nonzero(part >= 0), strict=True):
            source, byte = divmod(int(part[at]), BLOCK)
            part[at] = place[source] * lanes + block * BLOCK + byte
    yield first, second


def blocks_last(rows: Locations) -> Iterator[Stages]:
    """Registers of the outputs' blocks, each in the place of the blocks that it is made of."""
    lanes = rows.shape[1]
    blocks = lanes // BLOCK
    homes: list[list[tuple[int, int]]] = [[] for _ in range(blocks)]
    for register, row in enumerate(rows):
        for block in range(blocks):
            part = row[block * BLOCK : (block + 1) * BLOCK]
            places = np.unique(part[part >= 0] % lanes // BLOCK)
            if places.size > 1:
                return
            if places.size:
                homes[int(places[0])].append((register, block))
    count = max(map(len, homes))
    if count == 0 or count > 2 * len(rows):
        return
    first = np.full((count, lanes), UNDEFINED, dtype=np.int32)
    second = np.full_like(rows, UNDEFINED)
    for home, some in enumerate(homes):
        here = slice(home * BLOCK, (home + 1) * BLOCK)
        for number, (register, block) in enumerate(some):
            there = slice(block * BLOCK, (block + 1) * BLOCK)
            first[number, here] = rows[register, there]
            moved = np.arange(home * BLOCK, (home + 1) * BLOCK) + number * lanes
            second[register, there] = np.where(rows[register, there] == UNDEFINED, UNDEFINED, moved)
    yield first, second


def spread_first(rows: Locations) -> Iterator[Stages]:
    """Every source with its bytes where outputs have them, which then only choose."""
    lanes = rows.shape[1]
    count = int(rows.max(initial=0)) // lanes + 1
    first = np.full((count, lanes), UNDEFINED, dtype=np.int32)
    for row in rows:
        for at in np.flatnonzero(row >= 0):
            source = int(row[at]) // lanes
            if first[source, at] not in (UNDEFINED, row[at]):
                return
            first[source, at] = row[at]
    here = np.arange(lanes, dtype=np.int32)
    second = np.where(rows >= 0, rows // lanes * lanes + here, rows).astype(np.int32)
    yield first, second


def grouped_first(rows: Locations) -> Iterator[Stages]:
    """Bytes that stand together in outputs are brought together within the blocks of their source."""
    lanes = rows.shape[1]
    count = int(rows.max(initial=0)) // lanes + 1
    for size in (8, 4, 2):
        places: dict[tuple[int, bytes], int] = {}
        taken: dict[int, int] = {}
        units = rows.reshape(-1, size)
        first = np.full(count * lanes, UNDEFINED, dtype=np.int32)
        second = np.full(units.shape, UNDEFINED, dtype=np.int32)
        for number, unit in enumerate(units):
            held = unit[unit >= 0]
            if not held.size:
                second[number] = unit
                continue
            block = int(held[0]) // BLOCK
            key = block, unit.tobytes()
            if key not in places:
                places[key] = block * BLOCK + taken.get(block, 0)
                taken[block] = taken.get(block, 0) + size
            if (held // BLOCK != block).any() or taken[block] > BLOCK or (unit == -1).any():
                break
            first[places[key] : places[key] + size] = unit
            second[number] = np.arange(size) + places[key]
        else:
            yield first.reshape(-1, lanes), second.reshape(rows.shape)

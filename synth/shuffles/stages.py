"""Many registers in two stages: one moves whole blocks of registers, or stays within them, and what it makes
serves several outputs. `size`: the elements of a block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hbc.ir.moves.gather import UNDEFINED, Locations

Stages = tuple[
    Locations, Locations
]  # the rows of the first, of the sources; of the second, of the first


def blocks_first(rows: Locations, size: int) -> Iterator[Stages]:
    """Registers in which every block of the outputs finds, in its own place, all blocks that it wants."""
    lanes = rows.shape[1]
    blocks = lanes // size
    wanted: list[list[int]] = []
    for block in range(blocks):
        part = rows[:, block * size : (block + 1) * size]
        wanted.append([int(b) for b in np.unique(part[part >= 0] // size)])
    count = max(map(len, wanted))
    if count > 2 * max(len(rows), int(rows.max(initial=0)) // lanes + 1):
        return
    first = np.full((count, lanes), UNDEFINED, dtype=np.int32)
    for block, some in enumerate(wanted):
        for register, source in enumerate(some):
            here = np.arange(size) + source * size
            first[register, block * size : (block + 1) * size] = here
    second = rows.copy()
    for block, some in enumerate(wanted):
        part = second[:, block * size : (block + 1) * size]
        place = {source: register for register, source in enumerate(some)}
        for at in zip(*np.nonzero(part >= 0), strict=True):
            source, byte = divmod(int(part[at]), size)
            part[at] = place[source] * lanes + block * size + byte
    yield first, second


def blocks_last(rows: Locations, size: int) -> Iterator[Stages]:
    """Registers of the outputs' blocks, each in the place of the blocks that it is made of."""
    lanes = rows.shape[1]
    blocks = lanes // size
    homes: list[list[tuple[int, int]]] = [[] for _ in range(blocks)]
    for register, row in enumerate(rows):
        for block in range(blocks):
            part = row[block * size : (block + 1) * size]
            places = np.unique(part[part >= 0] % lanes // size)
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
        here = slice(home * size, (home + 1) * size)
        for number, (register, block) in enumerate(some):
            there = slice(block * size, (block + 1) * size)
            first[number, here] = rows[register, there]
            moved = np.arange(home * size, (home + 1) * size) + number * lanes
            second[register, there] = np.where(rows[register, there] == UNDEFINED, UNDEFINED, moved)
    yield first, second


def spread_first(rows: Locations, size: int) -> Iterator[Stages]:
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


def grouped_first(rows: Locations, size: int) -> Iterator[Stages]:
    """Bytes that stand together in outputs are brought together within the blocks of their source."""
    lanes = rows.shape[1]
    count = int(rows.max(initial=0)) // lanes + 1
    for width in (size // 2, size // 4, size // 8):
        places: dict[tuple[int, bytes], int] = {}
        taken: dict[int, int] = {}
        units = rows.reshape(-1, width)
        first = np.full(count * lanes, UNDEFINED, dtype=np.int32)
        second = np.full(units.shape, UNDEFINED, dtype=np.int32)
        for number, unit in enumerate(units):
            held = unit[unit >= 0]
            if not held.size:
                second[number] = unit
                continue
            block = int(held[0]) // size
            key = block, unit.tobytes()
            if key not in places:
                places[key] = block * size + taken.get(block, 0)
                taken[block] = taken.get(block, 0) + width
            if (held // size != block).any() or taken[block] > size or (unit == -1).any():
                break
            first[places[key] : places[key] + width] = unit
            second[number] = np.arange(width) + places[key]
        else:
            yield first.reshape(-1, lanes), second.reshape(rows.shape)

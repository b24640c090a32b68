"""Moves through shared memory, and what moves cost either way: in clocks of a multiprocessor for a warp.

The numbers are those of compute capability 8.0: 32 shuffles, 64 selects, comparisons and additions a clock,
32 banks of 4 bytes (CUDA C++ Programming Guide, arithmetic throughput and shared memory).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.moves.columns import Column, Group, InMemory, where
from hbc.codegen.moves.shared_shuffles import shared
from hbc.codegen.text.writer import INDENT
from hbc.ir.ground.record import record
from hbc.ir.moves.bank_conflicts import arrangements, wavefronts_of_warps
from hbc.ir.moves.shared_shuffles import SharedShuffle

Numbers = NDArray[np.int64]

SHUFFLE = 1.0
SELECT = 1.0  # with its comparison
ADDRESS = 0.5
ACCESS = 1.0  # of shared memory, times its bank conflicts
BARRIER = 2.0
SECTOR = 0.25  # 32 bytes of memory
SECTOR_WORDS = 8
SHARED = "shared"


@record
class Price:
    """Of a move by registers and shuffles, and whether shared memory is cheaper."""

    instructions: float
    shared_is_better: bool


def price(group: Group, columns: Sequence[Column]) -> Price:
    """For columns that read registers; shared memory serves only where elements change lanes."""
    exchange = shared(group, columns)
    served = {number for shuffle in exchange.shuffles for number in shuffle.registers}
    crossing = bool(served)
    total = sum(_shared_price(shuffle) for shuffle in exchange.shuffles)
    for number, column in enumerate(columns):
        if number in served:
            continue
        cost, crosses = _column_price(group, column)
        total += cost
        crossing |= crosses
    if not crossing or any(_in_memory(group, column) for column in columns):
        return Price(total, False)
    if not group.width:
        return Price(total, True)
    words, stored = _words(group, columns)
    through = BARRIER + ACCESS * sum(map(wavefronts_of_warps, words.T))
    for lane, register in _read(group, columns, stored):
        wanted = register >= 0
        through += ADDRESS + ACCESS * wavefronts_of_warps(words[lane[wanted], register[wanted]])
    return Price(total, through < total)


def _shared_price(shuffle: SharedShuffle) -> float:
    """The select of what is sent, the shuffle, and a select for each register that it serves."""
    sent = np.unique(shuffle.sent[shuffle.sent >= 0]).size
    return SHUFFLE + ADDRESS + SELECT * (sent - 1 + len(shuffle.registers))


def _in_memory(group: Group, column: Column) -> bool:
    return any(isinstance(group.held[n], InMemory) for n in np.unique(column.array) if n >= 0)


def _column_price(group: Group, column: Column) -> tuple[float, bool]:
    """Its clocks, and whether elements change lanes."""
    cared = column.array >= 0
    if not cared.any() or _in_memory(group, column):
        return 0.0, False
    lane, register, names = where(group, column)
    selects = SELECT * (len(names) - 1)
    if (lane == np.arange(lane.size))[cared].all():
        return selects, False
    sent = np.full(lane.size, -1)
    sent[lane[cared]] = register[cared]
    if (sent[lane[cared]] == register[cared]).all():
        return selects + SHUFFLE + ADDRESS, True
    return selects + SHUFFLE * len(names) + ADDRESS, True


def sectors(columns: Iterable[Column]) -> float:
    """The price of loading them from memory, beside that of the load instructions."""
    total = 0.0
    for column in columns:
        read = column.array >= 0
        for number in np.unique(column.array[read]):
            places = column.place[column.array == number]
            total += SECTOR * np.unique(places // SECTOR_WORDS).size
    return total


def _words(group: Group, columns: Sequence[Column]) -> tuple[Numbers, list[str]]:
    """[lane, register] where each is stored, in the arrangement with the fewest bank conflicts; and the
    names of the registers."""
    stored: list[str] = []
    for column in columns:
        if (column.array >= 0).any():
            stored += [name for name in where(group, column)[2] if name not in stored]
    best: tuple[int, Numbers] | None = None
    reads = list(_read(group, columns, stored))
    for words in arrangements(group.lanes, max(1, len(stored))).values():
        conflicts = sum(map(wavefronts_of_warps, words.T))
        conflicts += sum(wavefronts_of_warps(words[at[r >= 0], r[r >= 0]]) for at, r in reads)
        if best is None or conflicts < best[0]:
            best = (conflicts, words)
    assert best is not None
    return best[1], stored


def _read(
    group: Group, columns: Sequence[Column], stored: Sequence[str]
) -> list[tuple[Numbers, Numbers]]:
    """For each column the lane and the register (-1: nothing) that each lane reads."""
    sources = []
    for column in columns:
        cared = column.array >= 0
        lane, register, names = where(group, column)
        numbers = np.array([stored.index(name) for name in names] or [0])
        sources.append((lane, np.where(cared, numbers[register], -1)))
    return sources


def exchanged(group: Group, columns: Sequence[Column], start: int) -> tuple[list[Column], int]:
    """Prints the stores of all registers that the columns read, from element `start` of shared memory on,
    and the barrier. The columns as reads of shared memory, and how many elements it takes."""
    words, stored = _words(group, columns)
    for number, register in enumerate(stored):
        address = group.of_lane(words[:, number] + start, np.ones(group.lanes, dtype=np.bool_))
        if group.threads > group.lanes:
            group.out.line("if (active)")
        indent = INDENT if group.threads > group.lanes else ""
        group.out.line(f"{indent}{SHARED}[{address}] = {register};")
    group.out.line("__syncwarp();" if group.width else "__syncthreads();")
    memory = len(group.held)
    group.held.append(InMemory(SHARED))
    moved = []
    for column, (lane, source) in zip(columns, _read(group, columns, stored), strict=True):
        read = source >= 0
        place = np.where(read, words[lane, np.maximum(source, 0)] + start, 0)
        moved.append(Column(np.where(read, memory, column.array), place))
    return moved, int(words.max(initial=-1)) + 1

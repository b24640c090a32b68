"""What a gather costs on a GPU, counted in instructions: exact, because every location is known.

Arrays are [threads, registers, ...]: the first axis runs over the threads of a warp, the rest is
unrolled. An output register that every thread reads from one register of its own costs nothing: it is
a name. From several registers it takes selects, from other threads a shuffle for each register that is
sent, and zeros where not all threads have them another select.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hbc.ir.gather import Gather

# Issue slots of a warp on compute capability 8.x and 9.0: 32 shuffles take 32 lanes / (32 per clock and
# multiprocessor) against 128 simple operations (CUDA C++ Programming Guide, arithmetic throughput).
SHUFFLE_SLOTS = 4.0
SELECT_SLOTS = 1.0
ADDRESS_SLOTS = 1.0  # the source lane of a shuffle, where threads differ in it
DISTINCT_SELECT_CONDITIONS = 1.0  # a comparison for each select


@dataclass(frozen=True, slots=True)
class Cost:
    """Instructions of a warp, and the issue slots they take."""

    shuffles: int
    selects: int
    addresses: int

    @property
    def slots(self) -> float:
        return (
            self.shuffles * SHUFFLE_SLOTS
            + self.selects * (SELECT_SLOTS + DISTINCT_SELECT_CONDITIONS)
            + self.addresses * ADDRESS_SLOTS
        )


def gather_cost(gather: Gather) -> Cost:
    """The cost of one application. Arguments lie behind each other, as registers of the threads do
    when all of them have the same number of threads."""
    threads = gather.output[0] if gather.output else 1
    shared = all(shape and shape[0] == threads for shape in gather.inputs)
    index = gather.index.reshape(threads, -1)
    thread, register = _places(gather, index) if shared else (np.zeros_like(index), index)
    own = np.arange(threads)[:, None]
    shuffles = selects = addresses = 0
    for column in range(index.shape[1]):
        live = index[:, column] >= 0
        if not live.any():
            continue
        senders, lanes = register[live, column], thread[live, column]
        sources = np.unique(senders).size
        moved = bool((lanes != own[live, 0]).any())
        if moved:
            shuffles += sources
            distance = np.unique((lanes - own[live, 0]) % threads)
            addresses += int(distance.size > 1 or sources > 1)
        selects += sources - 1 + int(not live.all())
    return Cost(shuffles, selects, addresses)


def _places(gather: Gather, index: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> tuple[
    np.ndarray[tuple[int, ...], np.dtype[np.int64]], np.ndarray[tuple[int, ...], np.dtype[np.int64]]
]:  # fmt: skip
    """Thread and register of each source, registers numbered over all arguments."""
    thread = np.zeros(index.shape, dtype=np.int64)
    register = np.full(index.shape, -1, dtype=np.int64)
    start = first = 0
    for shape in gather.inputs:
        width = int(np.prod(shape[1:], dtype=np.int64))
        size = shape[0] * width
        here = (index >= start) & (index < start + size)
        thread[here] = (index[here] - start) // width
        register[here] = (index[here] - start) % width + first
        start += size
        first += width
    return thread, register

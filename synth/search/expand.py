"""One step of the search: from the states before a hole to those that may come after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hbc.synth.prunings.possible import Table
from hbc.synth.prunings.run import Batch
from hbc.synth.prunings.watch import Watch
from hbc.synth.search.complete import Completed, Lookup, complete
from hbc.synth.search.probes import Frontier, Probes, probe
from hbc.synth.search.trie import Numbers, Trie, count_children, split

MOST_RANGES = 400_000  # of a frontier
BYTES_OF_A_RANGE = 64  # while it is tested
IDLE_COLUMNS = 6  # in a row, none of which drops one candidate in WORTH
WORTH = 50
FEW = 64  # candidates that are completed rather than tested further
MOST_VALUES = 2_000_000  # locations that are completed at a time


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many ranges of rows a frontier may have, and how many candidates are completed at a time."""

    ranges: int
    completed: int


def expand(
    probes: Probes, lookup: Lookup, trie: Trie, inputs: Batch, residual: Table, bounds: Bounds,
    watch: Watch,
) -> Iterator[Completed]:  # fmt: skip
    """All candidates that pass the tests of single locations."""
    states, afters = len(inputs), len(probes.after)
    step = max(1, bounds.ranges // afters)
    for start in range(0, states, step):
        some = np.arange(start, min(start + step, states))
        state = np.repeat(some, afters)
        low = np.zeros(len(state), dtype=np.int64)
        after = np.tile(np.arange(afters), len(some))
        waiting = [(0, Frontier(state, after, low, low + len(trie.codes)))]
        while waiting:
            column, frontier = waiting.pop()
            for finished in _descend(
                probes, trie, inputs, residual, column, frontier, waiting, bounds.ranges, watch
            ):
                yield from complete(lookup, trie, inputs, finished, bounds.completed)


def _descend(
    probes: Probes, trie: Trie, inputs: Batch, residual: Table, column: int, frontier: Frontier,
    waiting: list[tuple[int, Frontier]], most: int, watch: Watch,
) -> Iterator[Frontier]:  # fmt: skip
    """Tests column after column, until all gathers are told apart and the tests say little; a
    frontier that grows too long waits in part."""
    idle = 0
    while column < trie.columns and len(frontier):
        watch.check()
        if column in trie.starts:
            count = count_children(trie, column, frontier.low, frontier.high)
            total = count.sum()
            if total > most and len(frontier) > 1:
                half = len(frontier) // 2
                waiting.append((column, frontier.pick(slice(half, None))))
                frontier = frontier.pick(slice(0, half))
                continue
            if total > len(frontier):
                parent, low, high = split(trie, column, frontier.low, frontier.high)
                frontier = Frontier(frontier.state[parent], frontier.after[parent], low, high)
        elif column > trie.last_split and (len(frontier) <= FEW or idle >= IDLE_COLUMNS):
            break
        before = len(frontier)
        watch.tried += len(frontier)
        frontier = probe(probes, trie, column, inputs, residual, frontier)
        idle = idle + 1 if len(frontier) * WORTH > before * (WORTH - 1) else 0
        column += 1
    if len(frontier):
        yield frontier


def original_numbers(trie: Trie, part: Frontier) -> Numbers:
    """Which gathers the candidates chose."""
    return trie.original[part.low]

"""Copy counts, the paper's second test: how often what a location holds reaches the goals at least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.allowed import MOST_ENTRIES
from hbc.synth.prunings.analysis import Analysis
from hbc.synth.prunings.judge import Copies
from hbc.synth.prunings.plan import live_nodes
from hbc.synth.prunings.problem import ANYTHING, Move, Pack, Problem
from hbc.synth.sets.gather_set import GatherSet


def copy_counts(problem: Problem, analysis: Analysis) -> dict[int, Copies]:
    """For each cut where something must be copied, by the number of the node after it. A goal of n
    equal terms allows n copies: what counts is how often a term stands in the goals, not where."""
    sizes = [int(np.prod(node.shape, dtype=np.int64)) for node in problem.nodes]
    least = [np.zeros(size, dtype=np.int64) for size in sizes]
    for goal in problem.goals:
        least[goal.node] += goal.values != ANYTHING
    most = problem.universe.occurrences
    counts: dict[int, Copies] = {}
    for number in reversed(range(len(problem.nodes))):
        live = live_nodes(problem, number + 1)
        counted = {n: least[n].copy() for n in live if least[n].any()}
        if counted:
            counts[number + 1] = Copies(counted, most)
        node = problem.nodes[number]
        match node:
            case Pack(arguments=(argument,)):
                least[argument] += np.repeat(least[number], node.length)
            case Move(arguments=arguments):
                count = sum(sizes[a] for a in arguments)
                read = least_reads(analysis.sets[number], count, least[number])
                start = 0
                for argument in arguments:
                    least[argument] += read[start : start + sizes[argument]]
                    start += sizes[argument]
            case _:
                pass
    return counts


def least_reads(gathers: GatherSet, count: int, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each input location the least, over the gathers, of the weights of the outputs that read
    it. 0, which is always right, where that is too much to find out."""
    if gathers.size * gathers.cell.size > MOST_ENTRIES or not weights.any():
        return np.zeros(count, dtype=np.int64)
    best: NDArray[np.int64] | None = None
    for row in range(gathers.size):
        index = gathers.rows(np.array([row]))[0]
        read = index >= 0
        total = np.bincount(index[read], weights=weights[read], minlength=count).astype(np.int64)
        best = total if best is None else np.minimum(best, total)
        if not best.any():
            break
    return np.zeros(count, dtype=np.int64) if best is None else best

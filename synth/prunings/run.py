"""Executes nodes on batches of states: one row of term numbers for each state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.folding import Folder, fold
from hbc.synth.prunings.problem import JUNK, ZERO, Known, Move, Pack, Problem

Batch = NDArray[np.uint16]  # [state, location]
Batches = Mapping[int, Batch]  # by node


def arguments(problem: Problem, number: int, values: Batches, count: int) -> Batch:
    """[state, location]: the arguments of a node behind each other, then JUNK and ZERO, which the
    locations -2 and -1 reach."""
    parts = [values_of(problem, a, values, count) for a in problem.nodes[number].arguments]
    ends = np.broadcast_to(np.array([JUNK, ZERO], dtype=np.uint16), (count, 2))
    return np.concatenate([*parts, ends], axis=1)


def values_of(problem: Problem, number: int, values: Batches, count: int) -> Batch:
    node = problem.nodes[number]
    if isinstance(node, Known):
        return np.broadcast_to(node.values.astype(np.uint16), (count, node.values.size))
    return values[number]


def run_fixed(problem: Problem, folder: Folder, number: int, values: Batches, count: int) -> Batch:
    """The values of a node that leaves no choice."""
    node = problem.nodes[number]
    match node:
        case Known():
            return values_of(problem, number, values, count)
        case Pack():
            source = values_of(problem, node.arguments[0], values, count)
            return fold(folder, source, node.length, node.operation).astype(np.uint16)
        case Move():
            index = node.gathers.gather(0).index
            return arguments(problem, number, values, count)[:, index]
        case _:
            assert_never(node)


def run_ahead(
    problem: Problem, folder: Folder, numbers: Iterable[int], values: dict[int, Batch], count: int
) -> None:
    """Adds nodes that are known in part; what depends on choices still to come is JUNK there, and
    means nothing."""
    for number in numbers:
        for argument in problem.nodes[number].arguments:
            if argument not in values and not isinstance(problem.nodes[argument], Known):
                size = int(np.prod(problem.nodes[argument].shape, dtype=np.int64))
                values[argument] = np.broadcast_to(np.uint16(JUNK), (count, size))
        values[number] = run_fixed(problem, folder, number, values, count)

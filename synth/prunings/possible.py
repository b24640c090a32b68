"""Which terms each location may hold, whatever is chosen: a pass from the first node to the last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.problem import JUNK, ZERO, Known, Move, Pack, Problem, Universe
from hbc.synth.sets.gather_set import GatherSet

Table = NDArray[np.bool_]  # [location, term]

SPARSE = 4  # times fewer entries than there is room for
BITS_AT_A_TIME = 1 << 28


def possible_terms(problem: Problem, sets: dict[int, GatherSet]) -> list[Table]:
    """One table for each node. `sets` are the gathers still in question, by node."""
    tables: list[Table] = []
    for number, node in enumerate(problem.nodes):
        match node:
            case Known():
                tables.append(constant(node.values, problem.universe.count))
            case Move():
                inputs = argument_table(tables, node.arguments)
                tables.append(moved(sets[number], inputs))
            case Pack():
                tables.append(folded(node, tables[node.arguments[0]], problem.universe))
    return tables


def constant(values: NDArray[np.int32], count: int) -> Table:
    table = np.zeros((len(values), count), dtype=np.bool_)
    table[np.arange(len(values)), values] = True
    return table


def argument_table(tables: list[Table], arguments: tuple[int, ...]) -> Table:
    """The arguments behind each other, then JUNK and ZERO, for locations -2 and -1."""
    ends = constant(np.array([JUNK, ZERO], dtype=np.int32), tables[0].shape[1])
    return np.concatenate([*(tables[a] for a in arguments), ends])


def moved(gathers: GatherSet, inputs: Table) -> Table:
    return joined(gathers.reach(), inputs)


def joined(left: Table, right: Table) -> Table:
    """The Boolean matrix product: by rows of bits where `left` is sparse, else by floats."""
    width = right.shape[1]
    row, column = np.nonzero(left)
    if not row.size or not width:
        return np.zeros((len(left), width), dtype=np.bool_)
    if row.size * SPARSE > left.size:
        product: NDArray[np.float32] = left.astype(np.float32) @ right.astype(np.float32)
        return np.asarray(product > 0)
    packed = np.zeros((len(right), -(-width // 64) * 8), dtype=np.uint8)
    packed[:, : -(-width // 8)] = np.packbits(right, axis=1)
    words = packed.view(np.uint64)
    filled, starts = np.unique(row, return_index=True)
    words_joined = np.zeros((len(left), words.shape[1]), dtype=np.uint64)
    step = max(1, BITS_AT_A_TIME // (8 * packed.shape[1]))
    begin = 0
    while begin < filled.size:
        # As many rows as keep the intermediate table small, but one at least.
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + step)))
        last = starts[end] if end < filled.size else row.size
        taken = words[column[starts[begin] : last]]
        parts = starts[begin:end] - starts[begin]
        words_joined[filled[begin:end]] = np.bitwise_or.reduceat(taken, parts, axis=0)
        begin = end
    return np.unpackbits(words_joined.view(np.uint8), axis=1, count=width).view(np.bool_)


def folded(node: Pack, source: Table, universe: Universe) -> Table:
    """A fold can be where each of its elements can be among the folded locations."""
    grouped = source.reshape(-1, node.length, universe.count)
    somewhere = np.asarray(grouped.any(axis=1))
    table = np.zeros((len(grouped), universe.count), dtype=np.bool_)
    for term in universe.packed:
        if term.count <= node.length:
            elements = [element for element, _ in term.elements]
            table[:, term.number] = somewhere[:, elements].all(axis=1)
    table[:, ZERO] = grouped[:, :, ZERO].all(axis=1)
    table[:, JUNK] = True
    return table

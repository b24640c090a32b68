"""Which terms each location may hold, whatever is chosen: a pass from the first node to the last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hbc.ir.gather_set import GatherSet
from hbc.synth.problem import JUNK, ZERO, Known, Move, Pack, Problem, Universe

Table = NDArray[np.bool_]  # [location, term]


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
    """The Boolean matrix product."""
    product: NDArray[np.float32] = left.astype(np.float32) @ right.astype(np.float32)
    return np.asarray(product > 0)


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

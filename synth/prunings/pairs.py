"""Pair reachability, the paper's main test: two goal elements must stand, in every state on the way, at
two locations from which one and the same choice of gathers can bring them to their places.

The full relation has (locations x locations)^2 entries. Only those are kept that end in chosen pairs of
goal locations, each with a few partners: one bit for each pair in a table of locations x locations. A
gather moves rows and columns of the table, for all pairs at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.analysis import Analysis
from hbc.synth.prunings.plan import live_nodes
from hbc.synth.prunings.problem import FIRST, Known, Move, Pack, Problem
from hbc.synth.prunings.run import Batches, values_of
from hbc.synth.prunings.watch import Watch
from hbc.synth.sets.gather_set import GatherSet, unique_rows

PARTNERS = 2  # of each goal location
WORD = 64  # pairs that one entry of a table holds
MOST_PAIRS = 8 * WORD
MOST_WORK = 400_000_000  # entries that all gathers of a node move
ROOM_SHARE = 8  # of the room is what the tables of all cuts may take
DROPPED = -1

Bits = NDArray[np.uint64]  # [location, location, word]
Terms = NDArray[np.int32]  # [pair, 2]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """At a cut. Bit p of `bits[l, m]`: the terms `terms[p]` at locations l and m may come to their
    places. Locations are numbered over `nodes`, one behind the other."""

    nodes: tuple[int, ...]
    terms: Terms
    bits: Bits

    def table(self, pair: int) -> NDArray[np.bool_]:
        word, bit = divmod(pair, WORD)
        return (self.bits[:, :, word] >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)


def pair_tables(problem: Problem, analysis: Analysis, watch: Watch) -> dict[int, Pairs]:
    """The tables of the cuts for which they can be afforded, from the last one back, by the number of
    the node after the cut. Raises Stopped when the watch says so."""
    tables: dict[int, Pairs] = {}
    current = _at_goals(problem)
    room = watch.room // ROOM_SHARE
    for number in reversed(range(len(problem.nodes))):
        watch.check()
        watch.tell(f"pairs before {problem.nodes[number].name}")
        node = problem.nodes[number]
        if current is None or not len(current.terms):
            break
        match node:
            case Move() if number in current.nodes:
                current = _before_move(problem, analysis.sets[number], number, current, watch)
            case Pack() if number in current.nodes:
                current = _before_fold(problem, node, number, current)
            case _:
                pass
        if current is not None and number:
            tables[number] = _judged(problem, number, current)
            room -= tables[number].bits.nbytes
            if room < 0:
                del tables[number]
                break
    return {cut: pairs for cut, pairs in tables.items() if len(pairs.terms)}


def _judged(problem: Problem, cut: int, current: Pairs) -> Pairs:
    """The pairs that the nodes live at a cut can be judged by: an array that nothing reads any more has
    been compared with its goal."""
    live = set(live_nodes(problem, cut))
    nodes = [n for n in current.nodes if n in live or isinstance(problem.nodes[n], Known)]
    if len(nodes) == len(current.nodes):
        return current
    kept = _places(problem, nodes, _starts(problem, current.nodes))
    gone = np.setdiff1d(np.arange(current.bits.shape[0]), kept)
    touched = np.bitwise_or.reduce(current.bits[gone], axis=(0, 1))
    touched |= np.bitwise_or.reduce(current.bits[:, gone], axis=(0, 1))
    pairs = np.arange(len(current.terms))
    free = (touched[pairs // WORD] >> (pairs % WORD).astype(np.uint64) & np.uint64(1)) == 0
    inside = Pairs(tuple(nodes), current.terms, current.bits[np.ix_(kept, kept)])
    return _chosen(inside, [int(pair) for pair in pairs[free]])


def _sizes(problem: Problem, nodes: Sequence[int]) -> list[int]:
    return [int(np.prod(problem.nodes[n].shape, dtype=np.int64)) for n in nodes]


def _starts(problem: Problem, nodes: Sequence[int]) -> dict[int, int]:
    ends = np.cumsum([0, *_sizes(problem, nodes)])
    return {node: int(start) for node, start in zip(nodes, ends, strict=False)}


def _at_goals(problem: Problem) -> Pairs | None:
    nodes = tuple(sorted({goal.node for goal in problem.goals}))
    starts = _starts(problem, nodes)
    chosen: list[tuple[int, int, int, int]] = []  # two terms, two locations
    for goal in problem.goals:
        wanted = np.flatnonzero(goal.values >= FIRST)
        for step in range(1, PARTNERS + 1):
            for at, location in enumerate(wanted):
                partner = int(wanted[(at + step) % len(wanted)])
                if partner != location:
                    both = int(goal.values[location]), int(goal.values[partner])
                    start = starts[goal.node]
                    chosen.append((*both, start + int(location), start + partner))
    if not chosen:
        return None
    kept = _spread(len(chosen), MOST_PAIRS)
    size = sum(_sizes(problem, nodes))
    bits = np.zeros((size, size, -(-len(kept) // WORD)), dtype=np.uint64)
    terms = np.zeros((len(kept), 2), dtype=np.int32)
    for pair, row in enumerate(kept):
        first, second, here, there = chosen[row]
        terms[pair] = first, second
        bits[here, there, pair // WORD] |= np.uint64(1) << np.uint64(pair % WORD)
    return Pairs(nodes, terms, bits)


def _spread(count: int, most: int) -> list[int]:
    """At most so many of `count` numbers, evenly apart."""
    step = max(1, -(-count // max(1, most)))
    return list(range(0, count, step))


def _thinned(pairs: Pairs, most: int) -> Pairs:
    """With at most so many pairs."""
    if len(pairs.terms) <= most:
        return pairs
    return _chosen(pairs, _spread(len(pairs.terms), most))


def _chosen(pairs: Pairs, kept: list[int]) -> Pairs:
    bits = np.zeros((*pairs.bits.shape[:2], -(-len(kept) // WORD)), dtype=np.uint64)
    for pair, old in enumerate(kept):
        bits[:, :, pair // WORD] |= pairs.table(old).astype(np.uint64) << np.uint64(pair % WORD)
    return Pairs(pairs.nodes, pairs.terms[kept], bits)


def _before_move(
    problem: Problem, gathers: GatherSet, number: int, current: Pairs, watch: Watch
) -> Pairs | None:
    """Every gather moves the table's rows and columns to where it reads them; None where that is too
    much work even for a few pairs."""
    move = problem.nodes[number]
    nodes = tuple(sorted({*current.nodes, *move.arguments} - {number}))
    old, new = _starts(problem, current.nodes), _starts(problem, nodes)
    sources = np.concatenate([
        np.arange(new[a], new[a] + size)
        for a, size in zip(move.arguments, _sizes(problem, move.arguments), strict=True)
    ])  # fmt: skip
    active = np.flatnonzero(current.bits.any(axis=(1, 2)) | current.bits.any(axis=(0, 2)))
    fixed = np.full(current.bits.shape[0], DROPPED)
    for node, size in zip(current.nodes, _sizes(problem, current.nodes), strict=True):
        if node != number:
            fixed[old[node] : old[node] + size] = np.arange(new[node], new[node] + size)
    start, size = old[number], gathers.cell.size
    inside = active[(active >= start) & (active < start + size)] - start
    rows = gathers.rows(np.arange(gathers.size))[:, inside]
    rows = rows[unique_rows(rows)]
    words = MOST_WORK // max(1, active.size**2 * len(rows))
    if words < 1:
        return None
    current = _thinned(current, int(words) * WORD)
    table = np.ascontiguousarray(current.bits[np.ix_(active, active)])
    count = sum(_sizes(problem, nodes))
    bits = np.zeros((count, count, table.shape[2]), dtype=np.uint64)
    targets = fixed[active]
    places = np.flatnonzero((active >= start) & (active < start + size))
    for row in rows:
        targets[places] = np.where(row >= 0, sources[np.maximum(row, 0)], DROPPED)
        _moved(table, targets, bits)
        watch.check()
    return Pairs(nodes, current.terms, bits)


def _moved(table: Bits, targets: NDArray[np.int64], bits: Bits) -> None:
    """Adds the entries of `table`, its rows and columns at other places; several may fall together."""
    order = np.argsort(targets, kind="stable")
    order = order[targets[order] != DROPPED]
    if not order.size:
        return
    places, first = np.unique(targets[order], return_index=True)
    picked = table[np.ix_(order, order)]
    if places.size < order.size:
        picked = np.bitwise_or.reduceat(
            np.bitwise_or.reduceat(picked, first, axis=0), first, axis=1
        )
    bits[np.ix_(places, places)] |= picked


def _before_fold(problem: Problem, node: Pack, number: int, current: Pairs) -> Pairs:
    """A fold's elements instead of the fold: the first of one with the last of the other and so on. A
    pair of folds that may come from elsewhere as well says nothing about elements."""
    argument = node.arguments[0]
    nodes = tuple(sorted({*current.nodes, argument} - {number}))
    old, new = _starts(problem, current.nodes), _starts(problem, nodes)
    universe = problem.universe
    elements = {term.number: [e for e, _ in term.elements] for term in universe.packed}
    start, size = old[number], _sizes(problem, [number])[0]
    own = slice(start, start + size)
    terms: list[tuple[int, int]] = []
    tables: list[NDArray[np.bool_]] = []
    count = sum(_sizes(problem, nodes))
    for pair, (first, second) in enumerate(current.terms.tolist()):
        table = current.table(pair)
        opened = np.zeros((count, count), dtype=np.bool_)
        inside = table[own, own]
        if inside.sum() == table.sum():
            spread = np.repeat(np.repeat(inside, node.length, axis=0), node.length, axis=1)
            there = slice(new[argument], new[argument] + spread.shape[0])
            opened[there, there] = spread
            chosen = zip(elements.get(first, []), elements.get(second, [])[::-1], strict=False)
            for inner in islice(chosen, PARTNERS):
                terms.append(inner)
                tables.append(opened)
        elif not (table[own].any() or table[:, own].any()):
            kept = [n for n in current.nodes if n != number]
            places = _places(problem, kept, old), _places(problem, kept, new)
            opened[np.ix_(places[1], places[1])] = table[np.ix_(places[0], places[0])]
            terms.append((first, second))
            tables.append(opened)
    bits = np.zeros((count, count, -(-len(terms) // WORD)), dtype=np.uint64)
    for pair, table in enumerate(tables):
        bits[:, :, pair // WORD] |= table.astype(np.uint64) << np.uint64(pair % WORD)
    return Pairs(nodes, np.array(terms, dtype=np.int32).reshape(-1, 2), bits)


def _places(problem: Problem, nodes: Sequence[int], starts: Mapping[int, int]) -> NDArray[np.int64]:
    """The numbers of all locations of some nodes."""
    sizes = _sizes(problem, nodes)
    parts = [np.arange(starts[n], starts[n] + size) for n, size in zip(nodes, sizes, strict=True)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def judge_pairs(
    problem: Problem, pairs: Pairs, values: Batches, alive: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Without the states in which some pair cannot reach its goal."""
    if not alive.size:
        return alive
    held = [
        values_of(problem, n, {}, alive.size) if isinstance(problem.nodes[n], Known)
        else values[n][alive]
        for n in pairs.nodes
    ]  # fmt: skip
    whole = np.concatenate(held, axis=1)
    rows = np.arange(alive.size)
    for pair, (first, second) in enumerate(pairs.terms.tolist()):
        if not rows.size:
            break
        table = pairs.table(pair)
        state, place = np.nonzero(whole[rows] == first)
        states, starts = np.unique(state, return_index=True)
        if not states.size:
            return alive[:0]
        joined = np.bitwise_or.reduceat(table[place], starts, axis=0)
        good = (joined & (whole[rows[states]] == second)).any(axis=1)
        rows = rows[states[good]]
    return alive[rows]

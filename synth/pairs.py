"""Pair reachability, the paper's main test: two goal elements must stand, in every state on the way, at
two locations from which one and the same choice of gathers can bring them to their places.

The full relation has (locations x locations)^2 entries. Only those are kept that end in chosen pairs of
goal locations: each location with a few partners; one packed table of locations x locations for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hbc.ir.gather import Locations
from hbc.synth.analysis import Analysis
from hbc.synth.plan import live_nodes
from hbc.synth.problem import FIRST, Known, Move, Pack, Problem, Universe
from hbc.synth.run import Batches

PARTNERS = 2  # of each goal location
MOST_CELLS = 60_000_000  # entries of all tables of a cut
MOST_WORK = 400_000_000  # pairs of reads that are followed back over one node


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Row p: the terms `first[p]` and `second[p]` must be at two locations that `table[p]` joins.
    Locations are numbered over the nodes of the cut, `starts` says from where."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    table: NDArray[np.bool_]
    starts: Mapping[int, int]


def pair_tables(problem: Problem, analysis: Analysis) -> dict[int, Pairs]:
    """The tables of the cuts for which they can be afforded, from the last one back."""
    found: dict[int, Pairs] = {}
    current = _at_goals(problem)
    for number in reversed(range(len(problem.nodes))):
        if current is None:
            break
        current = _before(problem, analysis, number, current)
        if current is not None:
            found[number] = _at_cut(problem, number, current)
    return {cut: pairs for cut, pairs in found.items() if len(pairs.first)}


# While going back, locations are numbered over all nodes: node n begins at `_starts(problem)[n]`.


def _starts(problem: Problem) -> NDArray[np.int64]:
    sizes = [int(np.prod(node.shape, dtype=np.int64)) for node in problem.nodes]
    return np.cumsum([0, *sizes])


@dataclass(frozen=True, slots=True, eq=False)
class _Following:
    """Pairs of terms with the list of the pairs of locations that will do."""

    terms: list[tuple[int, int]]
    places: list[NDArray[np.int64]]  # [k, 2], distinct rows


def _at_goals(problem: Problem) -> _Following | None:
    starts = _starts(problem)
    terms: list[tuple[int, int]] = []
    places: list[NDArray[np.int64]] = []
    for goal in problem.goals:
        wanted = np.flatnonzero(goal.values >= FIRST)
        for at, location in enumerate(wanted):
            for step in range(1, PARTNERS + 1):
                partner = int(wanted[(at + step) % len(wanted)])
                if partner == location:
                    continue
                terms.append((int(goal.values[location]), int(goal.values[partner])))
                places.append(np.array([[location, partner]]) + starts[goal.node])
    return _Following(terms, places) if terms else None


def _before(
    problem: Problem, analysis: Analysis, number: int, current: _Following
) -> _Following | None:
    node, starts = problem.nodes[number], _starts(problem)
    low, high = int(starts[number]), int(starts[number + 1])
    match node:
        case Known():
            return current
        case Move():
            offsets = _sources(problem, node.arguments, starts)
            gathers = analysis.sets[number]
            total = sum(len(p) for p in current.places) * gathers.size
            if total > MOST_WORK:
                return None
            rows = gathers.rows(np.arange(gathers.size))
            rows = np.where(rows >= 0, offsets[np.maximum(rows, 0)], -1)
            places = [_moved(p, rows, low, high, int(starts[-1])) for p in current.places]
            return _kept(current.terms, places)
        case Pack():
            argument = node.arguments[0]
            return _opened(problem.universe, current, low, high, int(starts[argument]), node.length)


def _sources(
    problem: Problem, arguments: tuple[int, ...], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    return np.concatenate([np.arange(starts[a], starts[a + 1]) for a in arguments])


def _moved(
    places: NDArray[np.int64], rows: NDArray[np.int64] | Locations, low: int, high: int, count: int
) -> NDArray[np.int64]:
    """What the pairs become one node earlier: both locations by the same gather."""
    codes: list[NDArray[np.int64]] = []
    for first, second in places:
        a = rows[:, first - low] if low <= first < high else np.full(len(rows), first)
        b = rows[:, second - low] if low <= second < high else np.full(len(rows), second)
        good = (a >= 0) & (b >= 0)
        codes.append(np.unique(a[good].astype(np.int64) * count + b[good]))
    merged = np.unique(np.concatenate(codes)) if codes else np.zeros(0, dtype=np.int64)
    return np.stack([merged // count, merged % count], axis=1)


def _opened(
    universe: Universe, current: _Following, low: int, high: int, source: int, length: int
) -> _Following:
    """A fold's elements instead of the fold: one pair of elements is enough to tell something."""
    elements = {term.number: [e for e, _ in term.elements] for term in universe.packed}
    terms: list[tuple[int, int]] = []
    places: list[NDArray[np.int64]] = []
    for (first, second), where in zip(current.terms, current.places, strict=True):
        inside = (where >= low) & (where < high)
        if not inside.any():
            terms.append((first, second))
            places.append(where)
            continue
        if not inside.all():
            continue  # a fold that may come from elsewhere as well says nothing about elements
        offsets = np.arange(length)
        left = source + (where[:, 0, None] - low) * length + offsets
        right = source + (where[:, 1, None] - low) * length + offsets
        spread = np.stack(
            [np.repeat(left, length, axis=1), np.tile(right, (1, length))], axis=2
        ).reshape(-1, 2)
        for a, b in zip(elements.get(first, []), elements.get(second, [])[::-1], strict=False):
            terms.append((a, b))
            places.append(np.unique(spread, axis=0))
    return _Following(terms, places)


def _kept(terms: list[tuple[int, int]], places: list[NDArray[np.int64]]) -> _Following | None:
    return _Following(terms, places)


def _at_cut(problem: Problem, cut: int, current: _Following) -> Pairs:
    """Tables over what is live. Pairs that a known array may satisfy say nothing and are left out."""
    starts = _starts(problem)
    nodes = live_nodes(problem, cut)
    column = np.full(int(starts[-1]), -1, dtype=np.int64)
    begins: dict[int, int] = {}
    size = 0
    for node in nodes:
        begins[node] = size
        count = int(starts[node + 1] - starts[node])
        column[starts[node] : starts[node + 1]] = np.arange(size, size + count)
        size += count
    kept = [
        i for i, where in enumerate(current.places) if len(where) and (column[where] >= 0).all()
    ]
    kept = kept[: max(0, MOST_CELLS // max(1, size * size))]
    table = np.zeros((len(kept), size, size), dtype=np.bool_)
    for row, i in enumerate(kept):
        where = column[current.places[i]]
        table[row, where[:, 0], where[:, 1]] = True
    telling = ~table.all(axis=(1, 2))
    chosen = np.array([current.terms[i] for i in kept], dtype=np.int32).reshape(-1, 2)[telling]
    return Pairs(chosen[:, 0], chosen[:, 1], table[telling], begins)


def judge_pairs(pairs: Pairs, values: Batches, alive: NDArray[np.int64]) -> NDArray[np.int64]:
    """Without the states in which some pair cannot reach its goal."""
    if not alive.size:
        return alive
    whole = np.concatenate([values[n][alive] for n in pairs.starts], axis=1)
    good = np.ones(alive.size, dtype=np.bool_)
    for first, second, table in zip(pairs.first, pairs.second, pairs.table, strict=True):
        rows = np.flatnonzero(good)
        if not rows.size:
            break
        left = (whole[rows] == first).astype(np.float32)
        joined = (left @ table.astype(np.float32)) > 0
        good[rows] = (joined & (whole[rows] == second)).any(axis=1)
    return alive[good]

"""What must be somewhere: at a cut of the program, a demand is a set of terms and a set of locations,
one of which holds one of the terms in every solution.

A goal location demands its term. Going back, a location is replaced by all that some gather reads for
it, a fold by its elements. Where as many disjoint demands as locations share the same locations, each
location holds a term of another demand: a crowd, which is a far stronger test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.possible import Table, joined
from hbc.synth.prunings.problem import JUNK, ZERO, Known, Move, Node, Pack, Universe
from hbc.synth.sets.gather_set import GatherSet, grouped_rows, unique_rows

MOST_DEMANDS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Demands:
    """Row d: one of `terms[d]` must be at one of `places[node][d]`, for some node."""

    terms: Table
    places: Mapping[int, Table]

    def __len__(self) -> int:
        return len(self.terms)

    def pick(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Demands:
        return Demands(self.terms[rows], {n: table[rows] for n, table in self.places.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """`locations` of one node hold terms of pairwise different `kinds`; a kind of -1 is no term that
    may stand there at all."""

    locations: NDArray[np.int32]
    kinds: NDArray[np.int32]


def no_demands(count: int) -> Demands:
    return Demands(np.zeros((0, count), dtype=np.bool_), {})


def demands_at(node: int, allowed: Table, possible: Table) -> Demands:
    """One demand for each location that may hold less than half of what it can hold."""
    wanted = allowed & possible
    real = ~wanted[:, ZERO] & ~wanted[:, JUNK]
    real &= 2 * wanted.sum(axis=1) <= possible.sum(axis=1)
    rows = np.flatnonzero(real)
    places = np.zeros((rows.size, len(allowed)), dtype=np.bool_)
    places[np.arange(rows.size), rows] = True
    return Demands(wanted[rows], {node: places})


def united(parts: Sequence[Demands]) -> Demands:
    """All of them, equal ones once."""
    kept = [part for part in parts if len(part)]
    if not kept:
        return parts[0]
    sizes = {n: t.shape[1] for part in kept for n, t in part.places.items()}
    places = {
        n: np.concatenate([p.places.get(n, np.zeros((len(p), size), dtype=np.bool_)) for p in kept])
        for n, size in sizes.items()
    }
    terms = np.concatenate([part.terms for part in kept])
    whole = np.hstack([terms, *(places[n] for n in sorted(places))])
    rows = unique_rows(np.packbits(whole, axis=1))
    return Demands(terms, places).pick(rows[:MOST_DEMANDS])


def within_reach(demands: Demands, possible: Sequence[Table]) -> Demands:
    """Without the locations that can hold none of the terms."""
    places = {
        n: table & joined(demands.terms, possible[n].T) for n, table in demands.places.items()
    }
    return Demands(demands.terms, {n: t for n, t in places.items() if t.any()})


def telling(demands: Demands, possible: Sequence[Table]) -> Demands:
    """Without those that only say that a term has not been lost: whose locations are all that can
    hold it."""
    if not len(demands):
        return demands
    everywhere = np.ones(len(demands), dtype=np.bool_)
    for n, table in demands.places.items():
        everywhere &= ((joined(demands.terms, possible[n].T)) <= table).all(axis=1)
    return demands.pick(~everywhere)


def before(
    number: int, node: Node, demands: Demands, gathers: GatherSet | None, sizes: Sequence[int],
    universe: Universe,
) -> Demands:  # fmt: skip
    """The demands on what is known before `node` is computed."""
    demanded = demands.places.get(number)
    if demanded is None or not len(demands):
        return demands
    rest = {n: table for n, table in demands.places.items() if n != number}
    match node:
        case Known():
            held = demands.terms[:, node.values] & demanded
            return Demands(demands.terms, rest).pick(np.flatnonzero(~held.any(axis=1)))
        case Move():
            assert gathers is not None
            # Most demands share their locations with many others.
            first, group = grouped_rows(np.packbits(demanded, axis=1))
            read = joined(demanded[first], gathers.reach()[:, :-2])[group]
            start = 0
            for argument in node.arguments:
                part = read[:, start : start + sizes[argument]]
                start += sizes[argument]
                rest[argument] = rest[argument] | part if argument in rest else part
            return Demands(demands.terms, rest)
        case Pack():
            return _inside(demands, demanded, rest, node, universe)


def _inside(
    demands: Demands, demanded: Table, rest: Mapping[int, Table], node: Pack, universe: Universe
) -> Demands:
    """A fold that must be here demands its elements; of several folds, what all of them contain. A
    demand that something else may satisfy is given up."""
    parts: list[Demands] = []
    elsewhere = np.zeros(len(demands), dtype=np.bool_)
    for table in rest.values():
        elsewhere |= table.any(axis=1)
    untouched = ~demanded.any(axis=1)
    parts.append(Demands(demands.terms, rest).pick(np.flatnonzero(untouched)))
    contents = {term.number: frozenset(e for e, _ in term.elements) for term in universe.packed}
    rows: list[int] = []
    elements: list[int] = []
    for row in np.flatnonzero(~untouched & ~elsewhere):
        folds = [contents.get(int(t), frozenset()) for t in np.flatnonzero(demands.terms[row])]
        for element in sorted(frozenset.intersection(*folds)):
            rows.append(int(row))
            elements.append(element)
    if rows:
        terms = np.zeros((len(rows), universe.count), dtype=np.bool_)
        terms[np.arange(len(rows)), elements] = True
        spread = np.repeat(demanded[rows], node.length, axis=1)
        parts.append(Demands(terms, {node.arguments[0]: spread}))
    return united(parts)


def crowds(demands: Demands, number: int) -> list[Crowd]:
    """Groups of disjoint demands on the same locations of one node, as many as locations."""
    demanded = demands.places.get(number)
    if demanded is None:
        return []
    only = np.ones(len(demands), dtype=np.bool_)
    for n, table in demands.places.items():
        if n != number:
            only &= ~table.any(axis=1)
    rows = np.flatnonzero(only & demanded.any(axis=1))
    groups: dict[bytes, list[int]] = {}
    for row in rows:
        groups.setdefault(demanded[row].tobytes(), []).append(int(row))
    disjoint: list[Crowd] = []
    for members in groups.values():
        locations = np.flatnonzero(demanded[members[0]]).astype(np.int32)
        if len(members) < locations.size:
            continue
        chosen = _disjoint(demands.terms[members])
        if len(chosen) == locations.size:
            kinds = np.full(demands.terms.shape[1], -1, dtype=np.int32)
            for kind, member in enumerate(chosen):
                kinds[demands.terms[members[member]]] = kind
            disjoint.append(Crowd(locations, kinds))
    return disjoint


@dataclass(frozen=True, slots=True, eq=False)
class SharedCrowd:
    """A crowd over several nodes, seen from one of them: its own locations and the others'."""

    locations: NDArray[np.int32]
    others: tuple[tuple[int, NDArray[np.int64]], ...]
    kinds: NDArray[np.int32]


def shared_crowds(demands: Demands, number: int) -> list[SharedCrowd]:
    """The crowds at a cut that have members in node `number` and in others."""
    demanded = demands.places.get(number)
    if demanded is None:
        return []
    nodes = sorted(demands.places)
    whole = np.hstack([demands.places[n] for n in nodes])
    groups: dict[bytes, list[int]] = {}
    for row in np.flatnonzero(demanded.any(axis=1)):
        groups.setdefault(whole[row].tobytes(), []).append(int(row))
    shared: list[SharedCrowd] = []
    for members in groups.values():
        first = members[0]
        size = int(whole[first].sum())
        others = tuple(
            (n, np.flatnonzero(demands.places[n][first]))
            for n in nodes if n != number and demands.places[n][first].any()
        )  # fmt: skip
        if not others or len(members) < size:
            continue
        chosen = _disjoint(demands.terms[members])
        if len(chosen) == size:
            kinds = np.full(demands.terms.shape[1], -1, dtype=np.int32)
            for kind, member in enumerate(chosen):
                kinds[demands.terms[members[member]]] = kind
            locations = np.flatnonzero(demanded[first]).astype(np.int32)
            shared.append(SharedCrowd(locations, others, kinds))
    return shared


def _disjoint(terms: Table) -> list[int]:
    """A greedy choice of pairwise disjoint rows, smallest first."""
    taken = np.zeros(terms.shape[1], dtype=np.bool_)
    chosen: list[int] = []
    for row in np.argsort(terms.sum(axis=1), kind="stable"):
        if not (terms[row] & taken).any():
            taken |= terms[row]
            chosen.append(int(row))
    return chosen

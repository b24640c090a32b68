"""The tests at a cut, made ready for many states: what each location may hold, and the demands that
this does not imply, nor another demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.analysis import Analysis
from hbc.synth.prunings.demands import Demands
from hbc.synth.prunings.plan import Step
from hbc.synth.prunings.possible import Table
from hbc.synth.prunings.problem import Known, Problem

MOST_COMPARED = 1024  # demands, each with each
TYPES = (np.uint8, np.uint16, np.uint32, np.uint64)

Bits = NDArray[Any]  # unsigned
Places = tuple[tuple[int, NDArray[np.int64]], ...]  # (node, locations)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Up to 64 demands on the same locations: bit d of `bits[t]` says that term t meets demand d."""

    places: Places
    bits: Bits
    all_met: np.unsignedinteger[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The tests of what is known after a step."""

    allowed: dict[int, Table]
    demands: list[Together]


def make_cut(problem: Problem, analysis: Analysis, step: Step, demanded: bool) -> Cut:
    """The tests of what a step makes known and, where `demanded`, of the demands after it."""
    allowed = {n: analysis.allowed[n].copy() for n in (step.output, *step.fixed)}
    for n, preview in step.previews.items():
        allowed[n] = analysis.allowed[n] | ~preview[:, None]
    groups: list[Together] = []
    if demanded and step.end in analysis.cuts:
        demands = unsatisfied(problem, analysis.cuts[step.end])
        groups = grouped(necessary(single(demands, allowed), allowed))
    return Cut({n: t for n, t in allowed.items() if not t.all()}, groups)


def unsatisfied(problem: Problem, demands: Demands) -> Demands:
    """Without those that a known array satisfies, and without known arrays."""
    open_ = np.ones(len(demands), dtype=np.bool_)
    places: dict[int, Table] = {}
    for number, table in demands.places.items():
        node = problem.nodes[number]
        if isinstance(node, Known):
            open_ &= ~(demands.terms[:, node.values] & table).any(axis=1)
        else:
            places[number] = table
    return Demands(demands.terms, places).pick(open_)


def single(demands: Demands, allowed: dict[int, Table]) -> Demands:
    """Without those on one location: they are what that location may hold."""
    count = np.zeros(len(demands), dtype=np.int64)
    for table in demands.places.values():
        count += table.sum(axis=1)
    for number, table in demands.places.items():
        for row, location in np.argwhere(table & (count == 1)[:, None]):
            if number not in allowed:
                allowed[number] = np.ones((table.shape[1], demands.terms.shape[1]), dtype=np.bool_)
            allowed[number][location] &= demands.terms[row]
    return demands.pick(count != 1)


def necessary(demands: Demands, allowed: dict[int, Table]) -> Demands:
    """Without those that are met wherever locations hold what they may, and those that another
    implies: of the same or more terms on the same or more locations."""
    if not 0 < len(demands) <= MOST_COMPARED:
        return demands
    met = np.zeros(len(demands), dtype=np.bool_)
    for number, table in demands.places.items():
        if number in allowed:
            fails = allowed[number].astype(np.float32) @ ~demands.terms.T
            met |= (table & (fails.T == 0)).any(axis=1)
    demands = demands.pick(~met)
    whole = np.hstack([demands.terms, *demands.places.values()]).astype(np.float32)
    within = whole @ whole.T == whole.sum(axis=1)[:, None]  # [d, e]: d implies e
    first = np.tri(len(demands), k=-1, dtype=np.bool_).T  # of two equal ones the first implies
    return demands.pick(~(within & (~within.T | first)).any(axis=0))


def grouped(demands: Demands) -> list[Together]:
    """Those on fewest locations first."""
    groups: dict[bytes, list[int]] = {}
    nodes = sorted(demands.places)
    whole = np.hstack([demands.places[n] for n in nodes]) if nodes else np.zeros((len(demands), 0))
    for row in range(len(demands)):
        groups.setdefault(whole[row].tobytes(), []).append(row)
    groups_by_place: list[Together] = []
    for rows in groups.values():
        where = [(n, np.flatnonzero(demands.places[n][rows[0]])) for n in nodes]
        places = tuple((n, locations) for n, locations in where if locations.size)
        for start in range(0, len(rows), 64):
            part = demands.terms[rows[start : start + 64]]
            kind: type[np.unsignedinteger[Any]] = next(
                t for t in TYPES if len(part) <= np.iinfo(t).bits
            )
            flags: Bits = np.left_shift(np.ones(len(part), kind), np.arange(len(part), dtype=kind))
            bits: Bits = np.bitwise_or.reduce(
                np.where(part, flags[:, None], 0).astype(kind), axis=0
            )
            groups_by_place.append(Together(places, bits, np.bitwise_or.reduce(flags)))
    groups_by_place.sort(key=lambda together: sum(where.size for _, where in together.places))
    return groups_by_place

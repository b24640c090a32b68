"""Judges complete states at a cut: allowed terms, demands, copies, pairs; each can be switched off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hbc.synth.analysis import Analysis
from hbc.synth.demands import Demands
from hbc.synth.plan import Step
from hbc.synth.possible import Table
from hbc.synth.problem import JUNK, Known, Problem
from hbc.synth.run import Batch, Batches

COUNTED_AT_ONCE = 1024  # states whose table of copies stays in the processor's cache

Places = tuple[tuple[int, NDArray[np.int64]], ...]  # (node, locations)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Up to 64 demands on the same locations: bit d of `bits[t]` says that term t meets demand d."""

    places: Places
    bits: NDArray[np.uint64]
    all_met: np.uint64


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The tests of what is known after a step."""

    allowed: dict[int, Table]
    demands: list[Together]


def make_cut(problem: Problem, analysis: Analysis, step: Step, demanded: bool) -> Cut:
    """The tests of what a step makes known and, where `demanded`, of the demands after it."""
    tested = (step.output, *step.fixed)
    allowed = {n: analysis.allowed[n] for n in tested if not analysis.allowed[n].all()}
    for n, known in step.previews.items():
        table = analysis.allowed[n] | ~known[:, None]
        if not table.all():
            allowed[n] = table
    demanded = demanded and step.end in analysis.cuts
    return Cut(allowed, simplified(problem, analysis.cuts[step.end]) if demanded else [])


def simplified(problem: Problem, demands: Demands) -> list[Together]:
    """Those on fewest locations first; without those that a known array satisfies."""
    groups: dict[bytes, tuple[Places, list[int]]] = {}
    for row in range(len(demands)):
        places: list[tuple[int, NDArray[np.int64]]] = []
        satisfied = False
        for number, table in sorted(demands.places.items()):
            where = np.flatnonzero(table[row])
            node = problem.nodes[number]
            if isinstance(node, Known):
                satisfied |= bool(demands.terms[row][node.values[where]].any())
            elif where.size:
                places.append((number, where))
        if not satisfied:
            key = b"".join(n.to_bytes(4, "little") + where.tobytes() for n, where in places)
            groups.setdefault(key, (tuple(places), []))[1].append(row)
    found: list[Together] = []
    for listed, rows in groups.values():
        for start in range(0, len(rows), 64):
            part = demands.terms[rows[start : start + 64]]
            flags = np.uint64(1) << np.arange(len(part), dtype=np.uint64)
            bits = np.bitwise_or.reduce(np.where(part, flags[:, None], np.uint64(0)), axis=0)
            found.append(Together(listed, bits, np.bitwise_or.reduce(flags)))
    found.sort(key=lambda together: sum(where.size for _, where in together.places))
    return found


def judge(cut: Cut, values: Batches, count: int) -> NDArray[np.int64]:
    """The numbers of the states that pass."""
    alive = np.arange(count)
    columns: dict[
        int, Batch
    ] = {}  # [location, state]: a location of all states is one run of memory
    for number in {*cut.allowed, *(n for together in cut.demands for n, _ in together.places)}:
        columns[number] = np.ascontiguousarray(values[number].T)
    for number, table in cut.allowed.items():
        for location in range(len(table)):
            if not alive.size:
                return alive
            row = table[location]
            if not row.all():
                alive = alive[row.take(_held(columns[number][location], alive))]
    for together in cut.demands:
        if not alive.size:
            return alive
        met = np.zeros(alive.size, dtype=np.uint64)
        for number, where in together.places:
            for location in where:
                met |= together.bits.take(_held(columns[number][location], alive))
        alive = alive[met == together.all_met]
    return alive


def _held(column: Batch, alive: NDArray[np.int64]) -> Batch:
    """What the states alive hold at a location."""
    return column if alive.size == column.size else column[alive]


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """`least[n][l]`: how many copies of what location l of node n holds reach the goals at least;
    `most[t]`: how many of term t may."""

    least: dict[int, NDArray[np.int64]]
    most: NDArray[np.int64]


def judge_copies(copies: Copies, values: Batches, alive: NDArray[np.int64]) -> NDArray[np.int64]:
    """Without the states that hold too many copies of something."""
    parts = (alive[n : n + COUNTED_AT_ONCE] for n in range(0, alive.size, COUNTED_AT_ONCE))
    return np.concatenate([alive[:0], *(_few_copies(copies, values, part) for part in parts)])


def _few_copies(copies: Copies, values: Batches, alive: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros((alive.size, copies.most.size), dtype=np.int32)
    state = np.arange(alive.size)
    for number, least in copies.least.items():
        held: Batch = values[number][alive]
        for location in np.flatnonzero(least):
            total[state, held[:, location]] += least[location]  # one entry of each state
    total[:, 0] = 0
    most = copies.most.copy()
    most[JUNK] = 0
    return alive[(total <= most).all(axis=1)]

"""What is known about every solution before searching: possible and allowed terms, demands, crowds.

Rounds of a forward and a backward pass; a round that drops gathers lets the next one see more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hbc.synth.prunings.allowed import allowed_elements, allowed_inputs, viable_gathers
from hbc.synth.prunings.demands import (
    Crowd,
    Demands,
    before,
    crowds,
    demands_at,
    no_demands,
    united,
)
from hbc.synth.prunings.demands import within_reach as reachable
from hbc.synth.prunings.possible import Table, argument_table, possible_terms
from hbc.synth.prunings.problem import ANYTHING, Known, Move, Pack, Problem
from hbc.synth.prunings.watch import Watch
from hbc.synth.sets.gather_set import GatherSet

MOST_ROUNDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """By node: possible and allowed terms and crowds. `cuts[n]`: the demands just before node n is
    computed; `cuts[len(nodes)]` those at the end. `sets` are the gathers that remain."""

    possible: list[Table]
    allowed: list[Table]
    crowds: Mapping[int, list[Crowd]]
    cuts: Mapping[int, Demands]
    sets: Mapping[int, GatherSet]
    impossible: bool  # some hole has no gather left, or a demand no location


def analyse(problem: Problem, classes: bool, watch: Watch) -> Analysis:
    """`classes` off: only the goals are known. Raises Stopped when the watch says so."""
    sets = {n: node.gathers for n, node in enumerate(problem.nodes) if isinstance(node, Move)}
    if not classes:
        return _unpruned(problem, sets)
    for _ in range(MOST_ROUNDS):
        sizes = {n: gathers.size for n, gathers in sets.items()}
        possible = possible_terms(problem, sets)
        result = _backward(problem, possible, dict(sets), watch)
        sets = dict(result.sets)
        if result.impossible or all(gathers.size == sizes[n] for n, gathers in sets.items()):
            break
    return result


def goal_tables(problem: Problem) -> list[Table]:
    """Everything, but where a goal says what."""
    count = problem.universe.count
    tables = [
        np.ones((_size(problem, n), count), dtype=np.bool_) for n in range(len(problem.nodes))
    ]
    for goal in problem.goals:
        rows = np.flatnonzero(goal.values != ANYTHING)
        exact = np.zeros((rows.size, count), dtype=np.bool_)
        exact[np.arange(rows.size), goal.values[rows]] = True
        tables[goal.node][rows] &= exact
    return tables


def _unpruned(problem: Problem, sets: dict[int, GatherSet]) -> Analysis:
    count = problem.universe.count
    possible = [
        np.ones((_size(problem, n), count), dtype=np.bool_) for n in range(len(problem.nodes))
    ]
    cuts = {n: no_demands(count) for n in range(len(problem.nodes) + 1)}
    return Analysis(possible, goal_tables(problem), {}, cuts, sets, False)


def _backward(
    problem: Problem, possible: list[Table], sets: dict[int, GatherSet], watch: Watch
) -> Analysis:
    nodes, universe = problem.nodes, problem.universe
    sizes = [_size(problem, n) for n in range(len(nodes))]
    allowed = goal_tables(problem)
    demands = no_demands(universe.count)
    cuts = {len(nodes): demands}
    crowds_by_node: dict[int, list[Crowd]] = {}
    impossible = False
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        watch.check()
        demands = reachable(
            united([demands, demands_at(number, allowed[number], possible[number])]), possible
        )
        crowds_by_node[number] = crowds(demands, number)
        for crowd in crowds_by_node[number]:
            allowed[number][crowd.locations] &= crowd.kinds >= 0
        impossible |= not (allowed[number] & possible[number]).any(axis=1).all()
        if isinstance(node, Move) and not impossible:
            inputs = argument_table(possible, node.arguments)
            sets[number] = viable_gathers(sets[number], inputs, allowed[number])
            impossible |= sets[number].size == 0
        if impossible:
            break
        _pass_back(problem, number, sets, possible, allowed, sizes)
        cuts[number + 1] = demands
        demands = before(number, node, demands, sets.get(number), sizes, universe)
        demands = reachable(demands, possible)
        impossible |= any(not row for row in _somewhere(demands))
    cuts[0] = demands
    return Analysis(possible, allowed, crowds_by_node, cuts, sets, impossible)


def _pass_back(
    problem: Problem, number: int, sets: Mapping[int, GatherSet], possible: list[Table],
    allowed: list[Table], sizes: list[int],
) -> None:  # fmt: skip
    node = problem.nodes[number]
    match node:
        case Known():
            return
        case Pack(arguments=(argument,)):
            table = allowed_elements(node, possible[argument], allowed[number], problem.universe)
            allowed[argument] &= table
        case Move(arguments=arguments):
            count = sum(sizes[a] for a in arguments)
            table = allowed_inputs(sets[number], count, allowed[number])
            start = 0
            for argument in arguments:
                allowed[argument] &= table[start : start + sizes[argument]]
                start += sizes[argument]


def _somewhere(demands: Demands) -> list[bool]:
    if not len(demands):
        return []
    reached = np.zeros(len(demands), dtype=np.bool_)
    for table in demands.places.values():
        reached |= table.any(axis=1)
    return [bool(row) for row in reached]


def _size(problem: Problem, number: int) -> int:
    node = problem.nodes[number]
    return int(np.prod(node.shape, dtype=np.int64))

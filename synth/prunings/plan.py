"""Cuts a sketch into steps: a hole to be searched, and holes right after it that are composed with it.

A hole is composed with the next where the cut between them says nothing: after a fan that a rotation
follows, every arrangement is as good as any other, and only the two together can be judged.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import Locations, followed
from hbc.synth.prunings.analysis import Analysis
from hbc.synth.prunings.demands import telling
from hbc.synth.prunings.possible import Table
from hbc.synth.prunings.problem import JUNK, Known, Move, Pack, Problem
from hbc.synth.sets.gather_set import GatherSet, grouped_rows

MOST_COMPOSED = 20_000  # gathers, before equal ones are dropped
MOST_ENTRIES = 20_000_000
MOSTLY = 0.75
MANY = 1000  # gathers of the first hole of a step
FEW = 256  # compositions of the later ones
TELLING_SHARE = 8  # one location in so many must be restricted for a cut to be worth a test


@dataclass(frozen=True, slots=True, eq=False)
class After:
    """What the later holes of a step do to the output of the first: distinct indices, and for each
    the choices that make it, one row of numbers for each."""

    index: Locations
    choices: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """`holes` in order, the first to be searched; the nodes `fixed` follow; then comes the cut before
    node `end`, at which the nodes `live` matter. `previews`: later nodes that can be computed in part,
    and at which locations (of no use where this step adds none)."""

    holes: tuple[int, ...]
    after: After
    fixed: tuple[int, ...]
    end: int
    live_before: tuple[int, ...]
    live: tuple[int, ...]
    previews: dict[int, NDArray[np.bool_]]

    @property
    def output(self) -> int:
        return self.holes[-1]


def make_plan(
    problem: Problem, analysis: Analysis, compose: bool, judged: Container[int] = ()
) -> list[Step]:
    """Steps that cover all holes, in the order of the program. The cuts `judged` have tests beside
    those of the analysis."""
    holes = list(problem.holes)
    steps: list[Step] = []
    at = 0
    while at < len(holes):
        count = 1
        while (
            compose
            and at + count < len(holes)
            and chained(problem, holes[at + count - 1], holes[at + count])
            and (
                mixes_the_same(problem, holes[at], holes[at + count])
                or not (
                    holes[at + count] in judged or informative(problem, analysis, holes[at + count])
                )
                or worth_composing(analysis, holes[at : at + count + 1])
            )
            and composable(analysis, holes[at + 1 : at + count + 1])
        ):
            count += 1
        chosen = tuple(holes[at : at + count])
        at += count
        end = holes[at] if at < len(holes) else len(problem.nodes)
        fixed = tuple(range(chosen[-1] + 1, end))
        previews = new_previews(problem, chosen[0], end)
        steps.append(
            Step(
                chosen,
                compose_after(problem, analysis, chosen),
                fixed,
                end,
                live_nodes(problem, chosen[0]),
                live_nodes(problem, end),
                previews,
            )
        )
    return steps


def new_previews(problem: Problem, start: int, end: int) -> dict[int, NDArray[np.bool_]]:
    """The nodes from `end` on that are known in part once those before it are, where that is more
    than before `start`; all of them up to the last such."""
    before, now = determined(problem, start), determined(problem, end)
    more = [n for n, locations in now.items() if n >= end and (locations & ~before[n]).any()]
    last = max(more, default=-1)
    return {
        n: locations
        for n, locations in now.items()
        if end <= n <= last and locations.any() and not isinstance(problem.nodes[n], Known)
    }


def determined(problem: Problem, end: int) -> dict[int, NDArray[np.bool_]]:
    """Which locations of each node depend on no choice from node `end` on."""
    fixed: dict[int, NDArray[np.bool_]] = {}
    for number, node in enumerate(problem.nodes):
        size = int(np.prod(node.shape, dtype=np.int64))
        match node:
            case Move(hole=True) if number >= end:
                fixed[number] = np.zeros(size, dtype=np.bool_)
            case Move() if number >= end:
                inputs = np.concatenate([*(fixed[a] for a in node.arguments), [True, True]])
                fixed[number] = inputs[node.gathers.gather(0).index]
            case Pack() if number >= end:
                folded = fixed[node.arguments[0]].reshape(-1, node.length)
                fixed[number] = np.asarray(folded.all(axis=1))
            case _:
                fixed[number] = np.ones(size, dtype=np.bool_)
    return fixed


def chained(problem: Problem, first: int, second: int) -> bool:
    """Whether `second` reads `first` alone, and nothing else reads that."""
    readers = [n for n, node in enumerate(problem.nodes) if first in node.arguments]
    is_goal = any(goal.node == first for goal in problem.goals)
    alone = problem.nodes[second].arguments == (first,)
    return second == first + 1 and alone and readers == [second] and not is_goal


def informative(problem: Problem, analysis: Analysis, cut: int) -> bool:
    """Whether states can be judged before node `cut`."""
    if cut not in analysis.cuts:
        return False
    if len(telling(analysis.cuts[cut], analysis.possible)):
        return True
    restricted = locations = 0
    for node in live_nodes(problem, cut):
        possible, allowed = analysis.possible[node].copy(), analysis.allowed[node]
        possible[:, JUNK] = False
        restricted += int((possible & ~allowed).any(axis=1).sum())
        locations += len(possible)
    return restricted * TELLING_SHARE >= max(locations, 1)


def mixes_the_same(problem: Problem, first: int, second: int) -> bool:
    """Whether the later hole only moves data within parts in which the earlier one moved it: the
    tests between them see little of what the two together must achieve."""
    mixed = components(gathers_of(problem, first).reach()[:, :-2])[0]
    again = components(gathers_of(problem, second).reach()[:, :-2])[1]
    if len(mixed) != len(again) or len(np.unique(again)) == len(again):
        return False
    # Each part of the later one lies within one part of the earlier one, but for a few locations
    # that the earlier one happens to leave alone.
    order = np.argsort(again, kind="stable")
    same_part = again[order][1:] == again[order][:-1]
    within = (mixed[order][1:] == mixed[order][:-1])[same_part]
    return bool(within.mean() >= MOSTLY)


def gathers_of(problem: Problem, hole: int) -> GatherSet:
    node = problem.nodes[hole]
    assert isinstance(node, Move)
    return node.gathers


def components(reach: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The connected parts of outputs and inputs, by the least output in each; an input that nothing
    reads is a part of its own."""
    outputs, inputs = reach.shape
    part = np.arange(outputs)
    output, read = np.nonzero(reach)
    while True:
        of_input = np.full(inputs, outputs)
        np.minimum.at(of_input, read, part[output])
        merged = part.copy()
        np.minimum.at(merged, output, of_input[read])
        if np.array_equal(merged, part):
            break
        part = merged
    unread = of_input == outputs
    return part, np.where(unread, outputs + np.arange(inputs), of_input)


def worth_composing(analysis: Analysis, holes: list[int]) -> bool:
    """Whether the first hole is so large, and what follows so small, that not to build the states
    between them is best whatever the cut says."""
    count = int(np.prod([analysis.sets[hole].size for hole in holes[1:]]))
    return analysis.sets[holes[0]].size >= MANY and count <= FEW


def composable(analysis: Analysis, later: list[int]) -> bool:
    count = 1
    for hole in later:
        count *= analysis.sets[hole].size
    return count <= MOST_COMPOSED and count * analysis.sets[later[-1]].cell.size <= MOST_ENTRIES


def compose_after(problem: Problem, analysis: Analysis, holes: tuple[int, ...]) -> After:
    size = analysis.sets[holes[0]].cell.size
    index = np.arange(size, dtype=np.int32)[None]
    numbers = np.zeros((1, 0), dtype=np.int64)
    for hole in holes[1:]:
        gathers = analysis.sets[hole]
        rows = gathers.rows(np.arange(gathers.size))
        made = np.concatenate([followed(rows, inner) for inner in index])
        before = np.repeat(numbers, gathers.size, axis=0)
        chosen = np.tile(np.arange(gathers.size), len(index))[:, None]
        index, numbers = made, np.hstack([before, chosen])
    first, group = grouped_rows(index)
    choices = tuple(numbers[group == number] for number in range(len(first)))
    return After(index[first], choices)


def live_nodes(problem: Problem, cut: int) -> tuple[int, ...]:
    """Nodes before `cut` that nodes from there on read, without those that are known anyway."""
    needed = {a for node in problem.nodes[cut:] for a in node.arguments if a < cut}
    return tuple(n for n in sorted(needed) if not isinstance(problem.nodes[n], Known))

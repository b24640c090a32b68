"""Solves a sketch: finds the sets, analyses, plans, searches, and keeps what is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from hbc.ir.diag import InternalError
from hbc.ir.gather import Gather
from hbc.ir.gather_set import GatherSet
from hbc.ir.sketch import Sketch
from hbc.synth.analysis import Analysis, analyse
from hbc.synth.check import meets_goals
from hbc.synth.copies import copy_counts
from hbc.synth.cost import Cost, gather_cost
from hbc.synth.pairs import pair_tables
from hbc.synth.plan import make_plan
from hbc.synth.possible import possible_terms
from hbc.synth.problem import ANYTHING, Move, Problem, build_problem
from hbc.synth.search import Search
from hbc.synth.solutions import Choice, Fragment, cheapest, count_solutions, count_states
from hbc.synth.switches import Switches
from hbc.synth.watch import Stopped, Watch


@dataclass(frozen=True, slots=True)
class Solution:
    """For each hole the number of its gather, among those that the analysis left; what it costs."""

    choice: Choice
    slots: float


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """`stopped` says why the search ended early; None: all solutions have been found."""

    problem: Problem
    analysis: Analysis
    fragments: list[Fragment]
    stopped: str | None
    watch: Watch

    @property
    def complete(self) -> bool:
        return self.stopped is None

    def count(self) -> int:
        return count_solutions(self.fragments)

    def oracle_states(self) -> int:
        return count_states(self.fragments)

    def gathers(self, hole: int) -> GatherSet:
        return self.analysis.sets[hole]

    def chosen(self, solution: Solution) -> dict[int, Gather]:
        return {hole: self.gathers(hole).gather(number) for hole, number in solution.choice}

    def costs(self, solution: Solution) -> list[tuple[str, Cost]]:
        """Of every move, fixed ones included."""
        chosen = self.chosen(solution)
        return [
            (node.name, gather_cost(chosen.get(number) or node.gathers.gather(0)))
            for number, node in enumerate(self.problem.nodes)
            if isinstance(node, Move)
        ]

    def solutions(self) -> Iterator[Solution]:
        """Cheapest first; each has been executed exactly."""

        @cache
        def price(hole: int, number: int) -> float:
            return gather_cost(self.gathers(hole).gather(number)).slots

        for slots, choice in cheapest(self.fragments, price):
            solution = Solution(choice, slots)
            if not meets_goals(self.problem, self.chosen(solution)):
                raise InternalError(f"a solution of {self.problem.sketch.name} misses its goals")
            yield solution


def solve(sketch: Sketch, switches: Switches, watch: Watch) -> Outcome:
    """All solutions, or those found when the watch stops the search."""
    watch.phase("sets")
    problem = build_problem(sketch, watch.room, watch.tell)
    watch.phase("analysis")
    try:
        analysis = analyse(problem, switches.classes, watch)
    except Stopped as stop:
        watch.phase("")
        return Outcome(problem, analyse(problem, False, watch), [], stop.reason, watch)
    copies = copy_counts(problem, analysis) if switches.copies and not analysis.impossible else {}
    pairs = pair_tables(problem, analysis) if switches.pairs and not analysis.impossible else {}
    watch.phase("plan")
    steps = [] if analysis.impossible else make_plan(problem, analysis, switches.compose)
    watch.phase("search")
    search = Search(problem, analysis, steps, copies, pairs, switches, watch)
    fragments = search.run()
    watch.phase("")
    return Outcome(problem, analysis, fragments, search.stopped, watch)


def unreachable(problem: Problem) -> list[tuple[str, tuple[int, ...]]]:
    """The goal elements that no choice can bring to their place, each taken alone."""
    sets = {n: node.gathers for n, node in enumerate(problem.nodes) if isinstance(node, Move)}
    possible = possible_terms(problem, sets)
    found: list[tuple[str, tuple[int, ...]]] = []
    for goal in problem.goals:
        node = problem.nodes[goal.node]
        for location, value in enumerate(goal.values):
            if value != ANYTHING and not possible[goal.node][location, value]:
                place = np.unravel_index(location, node.shape) if node.shape else ()
                found.append((node.name, tuple(int(i) for i in place)))
    return found

"""Solves a sketch: finds the sets, analyses, plans, searches, and keeps what is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np

from hbc.ir.ground.diag import InternalError
from hbc.ir.moves.gather import Gather
from hbc.ir.moves.sketch import Sketch
from hbc.synth.prunings.analysis import Analysis, analyse
from hbc.synth.prunings.copies import copy_counts
from hbc.synth.prunings.pairs import pair_tables
from hbc.synth.prunings.plan import make_plan
from hbc.synth.prunings.possible import possible_terms
from hbc.synth.prunings.problem import ANYTHING, Known, Move, Pack, Problem, build_problem
from hbc.synth.prunings.watch import Stopped, Watch
from hbc.synth.results.check import meets_goals
from hbc.synth.results.cost import Cost, Pricing, make_pricing
from hbc.synth.results.cost_table import DEFAULT, cost_table
from hbc.synth.search.search import Search
from hbc.synth.search.solutions import (
    Choice,
    Fragment,
    Price,
    cheapest,
    count_choices,
    count_solutions,
    count_states,
    unordered,
)
from hbc.synth.search.switches import Switches
from hbc.synth.sets.gather_set import GatherSet

COMPARED = 100  # solutions, where the cheapest is not known
MOST_PRICED = 100_000


@dataclass(frozen=True, slots=True)
class Solution:
    """For each hole the number of its gather, among those that the analysis left; what it costs."""

    choice: Choice
    cost: float


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

    def costs(self, solution: Solution, pricing: Pricing) -> Iterator[tuple[str, Cost]]:
        """Of every move, fixed ones included, by the name of the array that it makes."""
        chosen = self.chosen(solution)
        for number, node in enumerate(self.problem.nodes):
            if isinstance(node, Known) and node.made is not None:
                yield node.name, pricing.load(node.made)
            elif isinstance(node, Move) and not node.hole:
                yield node.name, pricing.move(node.gathers.gather(0))
            elif number in pricing.runs:
                yield node.name, pricing.run(number, chosen)

    def knows_cheapest(self) -> bool:
        """Whether the search was finished, and made few enough choices to price all of them."""
        return self.complete and count_choices(self.fragments) <= MOST_PRICED

    def solutions(self, pricing: Pricing | None = None) -> Iterator[Solution]:
        """Cheapest first; each has been executed exactly. Where the cheapest is not known, only
        the first few solutions are compared."""
        pricing = pricing or make_pricing(self.problem, cost_table(DEFAULT))
        price = make_price(self, pricing)
        exact = self.knows_cheapest()
        ordered = cheapest(self.fragments, price) if exact else at_once(self.fragments, price)
        for cost, choice in ordered:
            solution = Solution(choice, cost)
            if not meets_goals(self.problem, self.chosen(solution)):
                raise InternalError(f"a solution of {self.problem.sketch.name} misses its goals")
            yield solution


def at_once(fragments: list[Fragment], price: Price) -> Iterator[tuple[float, Choice]]:
    """The first solutions by cost, then the others as they come."""
    every = unordered(fragments)
    yield from sorted((price((), choice), choice) for choice in islice(every, COMPARED))
    yield from ((price((), choice), choice) for choice in every)


def make_price(outcome: Outcome, pricing: Pricing) -> Price:
    """Of the runs that a part of a choice completes, given the part before it."""

    @cache
    def run_price(choice: Choice) -> float:
        chosen = {hole: outcome.gathers(hole).gather(number) for hole, number in choice}
        return pricing.run(choice[-1][0], chosen).price

    def price(before: Choice, choice: Choice) -> float:
        numbers = dict(before + choice)
        total = 0.0
        for hole, _ in choice:
            run = pricing.runs.get(hole, ())
            if run and all(member in numbers for member in run):
                total += run_price(tuple((member, numbers[member]) for member in run))
        return total

    return price


def solve(sketch: Sketch, switches: Switches, watch: Watch) -> Outcome:
    """All solutions, or those found when the watch stops the search. Raises Stopped where not even
    the sets of the sketch were made by then."""
    watch.phase("sets")
    problem = build_problem(sketch, watch.room, watch.tell)
    analysis: Analysis | None = None
    search: Search | None = None
    fragments: list[Fragment] = []
    stopped: str | None = None
    try:
        watch.phase("analysis")
        watch.tell("analysis")
        analysis = analyse(problem, switches.classes, watch)
        search = prepare(problem, analysis, switches, watch)
        watch.phase("search")
        fragments = search.run()
        stopped = search.stopped
    except Stopped as stop:
        stopped = stop.reason
    watch.phase("")
    # Without an analysis the sets are whole.
    analysis = analysis or analyse(problem, False, Watch())
    return Outcome(problem, analysis, fragments, stopped, watch)


def prepare(problem: Problem, analysis: Analysis, switches: Switches, watch: Watch) -> Search:
    """What the search needs beside the analysis."""
    possible = not analysis.impossible
    copies = copy_counts(problem, analysis) if switches.copies and possible else {}
    pairs = pair_tables(problem, analysis, watch) if switches.pairs and possible else {}
    watch.phase("plan")
    steps = make_plan(problem, analysis, switches.compose, pairs) if possible else []
    return Search(problem, analysis, steps, copies, pairs, switches, watch)


def folds_of_folds(problem: Problem) -> str | None:
    """The name of an array that folds what other folds made where a goal of it wants flat folds: terms keep
    how they are grouped."""
    nested: set[int] = set()  # holds folds of folds, or what was moved of them
    folded: set[int] = set()
    for number, node in enumerate(problem.nodes):
        if isinstance(node, Pack) and folded & set(node.arguments):
            nested.add(number)
        elif isinstance(node, Pack) or folded & set(node.arguments):
            folded.add(number)
        if not isinstance(node, Pack) and nested & set(node.arguments):
            nested.add(number)
    inside = {term.number: term.elements for term in problem.universe.packed}
    for goal in problem.goals:
        wanted = [inside[int(v)] for v in np.unique(goal.values) if int(v) in inside]
        flat = any(all(e not in inside for e, _ in elements) for elements in wanted)
        if goal.node in nested and flat:
            return problem.nodes[goal.node].name
    return None


def unreachable(problem: Problem) -> list[tuple[str, tuple[int, ...]]]:
    """The goal elements that no choice can bring to their place, each taken alone."""
    sets = {n: node.gathers for n, node in enumerate(problem.nodes) if isinstance(node, Move)}
    possible = possible_terms(problem, sets)
    elements: list[tuple[str, tuple[int, ...]]] = []
    for goal in problem.goals:
        node = problem.nodes[goal.node]
        for location, value in enumerate(goal.values):
            if value != ANYTHING and not possible[goal.node][location, value]:
                place = np.unravel_index(location, node.shape) if node.shape else ()
                elements.append((node.name, tuple(int(i) for i in place)))
    return elements

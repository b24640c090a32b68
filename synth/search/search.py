"""The search: steps from the first hole to the goals, states merged, in pieces that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from hbc.synth.prunings.analysis import Analysis
from hbc.synth.prunings.cut import Cut, make_cut
from hbc.synth.prunings.folding import Folder, make_folder
from hbc.synth.prunings.judge import Copies, judge, judge_copies
from hbc.synth.prunings.pairs import Pairs, judge_pairs
from hbc.synth.prunings.plan import Step
from hbc.synth.prunings.problem import ANYTHING, Known, Problem
from hbc.synth.prunings.run import Batch, Batches, arguments, run_ahead, run_fixed
from hbc.synth.prunings.watch import Stopped, Watch
from hbc.synth.search.complete import Completed, Lookup, make_lookup
from hbc.synth.search.expand import (
    BYTES_OF_A_RANGE,
    MOST_RANGES,
    MOST_VALUES,
    Bounds,
    expand,
    original_numbers,
)
from hbc.synth.search.probes import Probes, make_probes
from hbc.synth.search.residual import residual
from hbc.synth.search.solutions import Edges, Fragment, successful
from hbc.synth.search.switches import Switches
from hbc.synth.search.trie import Trie, make_trie
from hbc.synth.sets.gather_set import grouped_rows

States = dict[int, Batch]  # by live node

# So many states are followed to the end before the next: a search that is stopped has found something.
MOST_STATES = 20_000
SHARE = 8  # of the room is for candidates that are tested, and one for those that are judged
BYTES_OF_A_LOCATION = 10  # of a candidate: its value, its place, and copies
FIRST_SHARE = 64  # of the room is what the first batch of a step may take


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What a step needs, made when it is first reached."""

    step: Step
    trie: Trie
    probes: Probes
    lookup: Lookup
    cut: Cut
    bounds: Bounds


class Search:
    """One search. Everything in it is deterministic."""

    def __init__(
        self, problem: Problem, analysis: Analysis, steps: list[Step], copies: Mapping[int, Copies],
        pairs: Mapping[int, Pairs], switches: Switches, watch: Watch,
    ) -> None:  # fmt: skip
        self.problem = problem
        self.analysis = analysis
        self.steps = steps
        self.copies = copies
        self.pairs = pairs
        self.switches = switches
        self.watch = watch
        self.folder: Folder = make_folder(problem.universe)
        self.prepared = cache(self._prepare)
        self.stopped: str | None = None

    def run(self) -> list[Fragment]:
        """All solutions, as fragments of the first step. A search that is stopped keeps what it has."""
        if self.analysis.impossible:
            return []
        start: States = {}
        first = self.steps[0].holes[0] if self.steps else len(self.problem.nodes)
        for number in range(first):
            start[number] = run_fixed(self.problem, self.folder, number, start, 1)
        known = [g for g in self.problem.goals if isinstance(self.problem.nodes[g.node], Known)]
        for goal in known:
            start[goal.node] = run_fixed(self.problem, self.folder, goal.node, start, 1)
        if not self._at_goals(start, 1, len(self.problem.nodes)).all():
            return []
        if not self.steps:
            return [Fragment.leaf()]
        return self._explore(0, {n: start[n] for n in self.steps[0].live_before}, 1)

    def _prepare(self, number: int) -> Prepared:
        step = self.steps[number]
        gathers = self.analysis.sets[step.holes[0]]
        crowded = self.analysis.crowds.get(step.output, []) if self.switches.crowds else []
        return Prepared(
            step, make_trie(gathers), make_probes(gathers, step.after.index, crowded),
            make_lookup(gathers, step.after.index),
            make_cut(self.problem, self.analysis, step, self.switches.classes), self._bounds(step),
        )  # fmt: skip

    def _bounds(self, step: Step) -> Bounds:
        """A share of the room for the frontiers of all steps, and one for the candidates of one step
        with all that is computed of them."""
        share = self.watch.room // SHARE
        computed = {*step.live_before, *step.holes, *step.fixed, *step.previews}
        width = sum(self.analysis.possible[node].shape[0] for node in computed)
        size = max(1, self.analysis.possible[step.output].shape[0])
        completed = min(MOST_VALUES // size, share // (BYTES_OF_A_LOCATION * max(1, width)))
        ranges = min(MOST_RANGES, share // (BYTES_OF_A_RANGE * len(self.steps)))
        return Bounds(max(1, ranges), max(1, completed))

    def _explore(self, number: int, states: States, count: int) -> list[Fragment]:
        """The fragments of one step that lead to solutions. When the watch ends the search, which may
        be at any moment, what has been completed by then is kept at every level."""
        last = number + 1 == len(self.steps)
        kept: list[Fragment] = []
        try:
            for edges, after, made in self._after(number, states, count):
                below = [] if last else self._below(number, after, made)
                fragment = Fragment(edges, []) if last else successful(edges, below)
                kept += [] if fragment is None else [fragment]
                if self.stopped:
                    break
        except Stopped as stop:
            self.stopped = stop.reason
        return kept

    def _below(self, number: int, after: States, made: int) -> list[Fragment]:
        """What continues from the states after a step."""
        below: list[Fragment] = []
        width = sum(table.shape[1] for table in after.values())
        piece = min(MOST_STATES, max(1, self.watch.room // (8 * max(1, width))))
        try:
            for start in range(0, made, piece):
                part = {n: table[start : start + piece] for n, table in after.items()}
                size = min(piece, made - start)
                below += [f.shifted(start) for f in self._explore(number + 1, part, size)]
                if self.stopped:
                    break
        except Stopped as stop:
            self.stopped = stop.reason
        return below

    def _after(
        self, number: int, states: States, count: int
    ) -> Iterator[tuple[Edges, States, int]]:
        """Distinct states after the step with the edges to them, in batches bounded in size. The first
        ones are small, so that a search that is stopped early has followed some to the end; after the
        last step, where nothing is to be followed, every one is kept at once."""
        last = number + 1 == len(self.steps)
        batches: list[tuple[Edges, States]] = []
        held, most = 0, 0 if last else self.watch.room // FIRST_SHARE
        for edges, values in self._candidates(number, states, count):
            batches.append((edges, values))
            held += sum(table.nbytes for table in values.values()) + edges.parent.nbytes * 4
            if held > most:
                yield self._merged(number, batches)
                batches, held = [], 0
                most = min(most * 4, self.watch.room // (4 * len(self.steps)))
        if batches:
            yield self._merged(number, batches)

    def _candidates(
        self, number: int, states: States, count: int
    ) -> Iterator[tuple[Edges, States]]:
        ready = self.prepared(number)
        step = ready.step
        inputs = arguments(self.problem, step.holes[0], states, count)
        left = residual(self.problem, self.analysis, self.folder, step, states, count) if (
            self.switches.joins
        ) else self.analysis.allowed[step.output]  # fmt: skip
        for completed in expand(
            ready.probes, ready.lookup, ready.trie, inputs, left, ready.bounds, self.watch
        ):
            self.watch.check()
            self._show(step, len(completed.values))
            kept = self._judged(ready, completed, states)
            if kept is not None:
                yield kept

    def _judged(
        self, ready: Prepared, completed: Completed, states: States
    ) -> tuple[Edges, States] | None:
        """The completed candidates that pass all tests, with the nodes that live on. Equal states
        are judged once."""
        step, chosen = ready.step, completed.chosen
        read = [states[n] for n in states if n in step.live or self._is_read(step, n)]
        whole = np.hstack([completed.values, *(table[chosen.state] for table in read)])
        first, group = grouped_rows(whole) if self.switches.merge else _apart(len(whole))
        count = len(first)
        self.watch.states += count
        values: dict[int, Batch] = {n: table[chosen.state[first]] for n, table in states.items()}
        values[step.output] = completed.values[first]
        for fixed in step.fixed:
            values[fixed] = run_fixed(self.problem, self.folder, fixed, values, count)
        run_ahead(self.problem, self.folder, step.previews, values, count)
        alive = judge(ready.cut, values, count)
        alive = alive[self._at_goals(values, count, step.end)[alive]]
        if step.end in self.copies:
            alive = judge_copies(self.copies[step.end], values, alive)
        if step.end in self.pairs:
            alive = judge_pairs(self.problem, self.pairs[step.end], values, alive)
        self.watch.visit(step.holes[0], alive.size)
        if not alive.size:
            return None
        number = np.full(count, -1)
        number[alive] = np.arange(alive.size)
        rows = np.flatnonzero(number[group] >= 0)
        part = chosen.pick(rows)
        gather = original_numbers(ready.trie, part)
        edges = Edges(part.state, gather, part.after, number[group[rows]], step)
        return edges, {n: values[n][alive] for n in step.live}

    def _show(self, step: Step, alive: int) -> None:
        holes = self.problem.holes
        number = holes.index(step.output) + 1
        self.watch.show(self.problem.nodes[step.output].name, number, len(holes), alive)

    def _is_read(self, step: Step, node: int) -> bool:
        """Whether what follows the step's holes reads a node from before them."""
        later = (*step.fixed, *step.previews)
        return any(node in self.problem.nodes[fixed].arguments for fixed in later)

    def _at_goals(
        self, values: Batches, count: int, end: int
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether the goals that are known by now are met."""
        good = np.ones(count, dtype=np.bool_)
        for goal in self.problem.goals:
            if goal.node < end and goal.node in values:
                rows = np.flatnonzero(goal.values != ANYTHING)
                good &= (values[goal.node][:, rows] == goal.values[rows]).all(axis=1)
        return good

    def _merged(
        self, number: int, batches: list[tuple[Edges, States]]
    ) -> tuple[Edges, States, int]:
        """Equal states once."""
        live = self.steps[number].live
        sizes = [int(e.child.max(initial=-1)) + 1 for e, _ in batches]
        shifts = np.cumsum([0, *sizes[:-1]])
        edges = Edges.joined([e.to(e.child + s) for (e, _), s in zip(batches, shifts, strict=True)])
        tables = {n: np.concatenate([values[n] for _, values in batches]) for n in live}
        if not live:
            return edges.to(np.zeros(len(edges.parent), dtype=np.int64)), {}, 1
        whole = np.hstack([tables[n] for n in live])
        if not self.switches.merge:
            return edges, tables, len(whole)
        first, group = grouped_rows(whole)
        return edges.to(group[edges.child]), {n: t[first] for n, t in tables.items()}, len(first)


def _apart(count: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]:
    """As `grouped_rows`, each row alone."""
    return np.arange(count), np.arange(count)

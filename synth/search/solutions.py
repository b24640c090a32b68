"""The solutions of a search, as a graph: counted without being listed, listed cheapest first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count as counter

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.plan import Step

Numbers = NDArray[np.int64]
Choice = tuple[tuple[int, int], ...]  # (hole, number of the gather), in the order of the program
# What a part of a choice costs, given the part before it: of all moves that it completes.
Price = Callable[[Choice, Choice], float]


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Edge e leads from state `parent[e]` by gather `gather[e]` of the step's first hole, and by the
    composition `after[e]` of its later ones, to state `child[e]`."""

    parent: Numbers
    gather: Numbers
    after: Numbers
    child: Numbers
    step: Step | None

    @staticmethod
    def joined(parts: Sequence[Edges]) -> Edges:
        return Edges(
            np.concatenate([p.parent for p in parts]), np.concatenate([p.gather for p in parts]),
            np.concatenate([p.after for p in parts]), np.concatenate([p.child for p in parts]),
            parts[0].step,
        )  # fmt: skip

    def to(self, child: Numbers) -> Edges:
        return replace(self, child=child)

    def pick(self, rows: NDArray[np.bool_]) -> Edges:
        return Edges(
            self.parent[rows], self.gather[rows], self.after[rows], self.child[rows], self.step
        )

    def ways(self) -> Numbers:
        """In how many ways the later holes make each edge."""
        if self.step is None:
            return np.ones(len(self.parent), dtype=np.int64)
        sizes = np.array([len(choices) for choices in self.step.after.choices], dtype=np.int64)
        return sizes[self.after]


@dataclass(frozen=True, slots=True, eq=False)
class Fragment:
    """Edges of one step, and what continues from the states they lead to."""

    edges: Edges
    below: list[Fragment] = field(default_factory=list)

    @staticmethod
    def leaf() -> Fragment:
        """The solution of a sketch without holes."""
        zero = np.zeros(1, dtype=np.int64)
        return Fragment(Edges(zero, zero, zero, zero, None))

    def shifted(self, by: int) -> Fragment:
        """The parents numbered from `by` on."""
        return Fragment(replace(self.edges, parent=self.edges.parent + by), self.below)


def successful(edges: Edges, below: list[Fragment]) -> Fragment | None:
    """Without the edges to states from which nothing goes on."""
    if not below:
        return None
    going_on = np.unique(np.concatenate([f.edges.parent for f in below]))
    kept = np.isin(edges.child, going_on)
    return Fragment(edges.pick(kept), below) if kept.any() else None


def count_solutions(fragments: Sequence[Fragment]) -> int:
    """Exact, however many there are."""
    return sum(_counts(fragments).values())


def _counts(fragments: Sequence[Fragment]) -> dict[int, int]:
    """By parent."""
    total: dict[int, int] = {}
    for fragment in fragments:
        edges = fragment.edges
        continued = _counts(fragment.below) if fragment.below else None
        columns = (edges.parent.tolist(), edges.child.tolist(), edges.ways().tolist())
        for parent, child, ways in zip(*columns, strict=True):
            more = ways if continued is None else ways * continued.get(child, 0)
            total[parent] = total.get(parent, 0) + more
    return total


def count_states(fragments: Sequence[Fragment]) -> int:
    """The states on the way to solutions: what a search with an oracle would visit."""
    total = 0
    level = list(fragments)
    while level:
        total += sum(len(np.unique(f.edges.child)) if f.below else 1 for f in level)
        level = [below for f in level for below in f.below]
    return total


def count_choices(fragments: Sequence[Fragment]) -> int:
    """The edges, each as often as its later holes make it: what must be priced to find the cheapest."""
    return sum(int(f.edges.ways().sum()) + count_choices(f.below) for f in fragments)


def unordered(fragments: Sequence[Fragment], parent: int = 0) -> Iterator[Choice]:
    """Solutions in the order of the search: the first ones without a look at the others."""
    for fragment in fragments:
        edges = fragment.edges
        for row in np.flatnonzero(edges.parent == parent):
            below: Iterable[Choice] = [()]
            if fragment.below:
                below = unordered(fragment.below, int(edges.child[row]))
            rest = list(_choices(edges.step, int(edges.gather[row]), int(edges.after[row])))
            for later in below:
                yield from (choice + later for choice in rest)


@dataclass(frozen=True, slots=True, eq=False)
class _Option:
    """An edge with one way of its later holes, and a bound of what a solution through it costs. What
    depends on choices before it is not in the bound."""

    choice: Choice
    least: float
    below: Sequence[_Option]


def cheapest(fragments: Sequence[Fragment], price: Price) -> Iterator[tuple[float, Choice]]:
    """Solutions by cost, then by the numbers of their gathers."""
    ties = counter()
    queue: list[tuple[float, Choice, int, float, Sequence[_Option] | None]] = []

    def push(spent: float, choice: Choice, options: Sequence[_Option]) -> None:
        for option in options:
            cost, made = price(choice, option.choice), choice + option.choice
            bound = spent + option.least + cost - price((), option.choice)
            below = option.below or None
            heapq.heappush(queue, (bound, made, next(ties), spent + cost, below))

    push(0.0, (), _options(fragments, price).get(0, ()))
    while queue:
        _, choice, _, spent, below = heapq.heappop(queue)
        if below is None:
            yield spent, choice
        else:
            push(spent, choice, below)


def _options(fragments: Sequence[Fragment], price: Price) -> dict[int, list[_Option]]:
    """By parent. No bound is too high, so that the first solution found is cheapest."""
    by_parent: dict[int, list[_Option]] = {}
    for fragment in fragments:
        edges, step = fragment.edges, fragment.edges.step
        continued = _options(fragment.below, price)
        least = {parent: min(o.least for o in options) for parent, options in continued.items()}
        columns = (edges.parent, edges.gather, edges.after, edges.child)
        for parent, gather, after, child in zip(*(c.tolist() for c in columns), strict=True):
            if fragment.below and child not in continued:
                continue
            for choice in _choices(step, gather, after):
                bound = price((), choice) + least.get(child, 0.0)
                option = _Option(choice, bound, continued.get(child, ()))
                by_parent.setdefault(parent, []).append(option)
    return by_parent


def _choices(step: Step | None, gather: int, after: int) -> Iterator[Choice]:
    if step is None:
        yield ()
        return
    for numbers in step.after.choices[after].tolist():
        yield tuple(zip(step.holes, [gather, *numbers], strict=True))

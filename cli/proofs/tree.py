"""Follows the tree of a proof: every candidate after a listed state is listed too, or refused by a test
that the
proof names and that the limits bear out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.cli.proofs.limits import Limits
from hbc.cli.proofs.statement import (
    ANYTHING,
    MOST,
    NOTHING,
    ZERO,
    Ints,
    Statement,
    Table,
    Universe,
    need,
)  # fmt: skip

AT_ONCE = 1 << 22  # locations of candidates
STATES = 2048  # at once
PROBED = 12  # locations by which gathers are told apart before all of them are looked at
BITS = 63  # clauses at a time
MOST_CHOICES = (
    1 << 22
)  # of the holes of a step, and of candidates whose locations are looked at one by one
MOST_LOOKED = 1 << 23  # candidates of a step


@dataclass(frozen=True, eq=False)
class Part:
    """Candidates: the state that each comes from, what states hold by node, the gathers chosen by hole;
    and what
    has been computed of whole nodes."""

    parent: Ints
    states: dict[int, NDArray[Any]]
    chosen: dict[int, Ints]
    whole: dict[int, Ints] = field(default_factory=dict)

    def pick(self, rows: Any) -> Part:
        return Part(self.parent[rows], self.states, pick(self.chosen, rows), pick(self.whole, rows))


States = dict[int, NDArray[Any]]  # by node: [state, location]
Test = tuple[str, int, Any]


@dataclass(frozen=True, eq=False)
class Followed:
    """`edges`: a state before and the gathers chosen; the states after, and in how many ways each is
    reached; how
    many candidates each test refused."""

    edges: Ints
    states: States
    ways: list[int]
    refused: Ints


def spread(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The numbers of all ranges, and of which range each is."""
    where = np.repeat(np.arange(len(first)), last - first)
    before = np.cumsum(last - first) - (last - first)
    return where, np.arange(len(where)) - before[where] + first[where]


def pick(chosen: dict[int, Ints], rows: Ints) -> dict[int, Ints]:
    return {h: c[rows] for h, c in chosen.items()}


@dataclass(frozen=True, eq=False)
class Tree:
    s: Statement
    u: Universe
    limits: Limits
    check: Callable[[], None] = lambda: None

    def held(self, n: int, place: Ints, part: Part) -> Ints:
        """[candidate, place]: what is at places of a node."""
        node = self.s.nodes[n]
        if node.holds is not None:
            return self.u.number[node.holds][place]
        if n in part.whole:
            return np.take_along_axis(part.whole[n], place, axis=1)
        if n in part.states:
            return part.states[n][part.parent[:, None], place].astype(np.int64)
        if node.gathers is None:
            inner = (place[:, :, None] * node.length + np.arange(node.length)).reshape(
                len(place), -1
            )
            groups = self.held(node.of[0], inner, part).reshape(*place.shape, node.length)
            return self.u.fold(node, groups)
        if node.hole and n not in part.chosen:
            return np.full(place.shape, self.u.unknown)
        source = node.gathers.reads(part.chosen[n][:, None] if node.hole else 0, place)
        made: Ints = np.where(source == node.gathers.width, NOTHING, ZERO)
        start = 0
        for a in node.of:
            inside = (source >= start) & (source < start + self.s.nodes[a].size)
            if inside.any():
                made[inside] = self.held(a, np.where(inside, source - start, 0), part)[inside]
            start += self.s.nodes[a].size
        return made

    def all_of(self, n: int, part: Part) -> Ints:
        """The same of a whole node."""
        if n not in part.whole:
            place = np.broadcast_to(
                np.arange(self.s.nodes[n].size), (len(part.parent), self.s.nodes[n].size)
            )
            part.whole[n] = self.held(n, place, part)
        return part.whole[n]

    def at(self, n: int, location: int, part: Part) -> Table:
        """The candidates that hold at a location what it may hold, or nothing that is known yet."""
        may = np.append(self.limits.may[self.limits.first[n] + location], True)
        if n in part.whole:
            return may[part.whole[n][:, location]]
        return may[self.held(n, np.full((len(part.parent), 1), location), part)[:, 0]]

    def at_goals(self, part: Part) -> Table:
        """The candidates that hold what the goals say."""
        good = np.ones(len(part.parent), dtype=np.bool_)
        for n, wanted in self.s.goals:
            value = self.u.number[np.maximum(wanted, 0)]
            good &= ((self.all_of(n, part) == value) | (wanted == ANYTHING)).all(axis=1)
        return good

    def meant(self, test: Test) -> Test:
        """Of a test by clauses, those before a node that speak of no other places: for each term the
        clauses that
        it meets, as bits. What is not known yet meets all."""
        kind, end, places = test
        if kind != "among":
            return test
        clauses = self.limits.clauses[end]
        outside = np.ones(clauses.places.shape[1], dtype=np.bool_)
        for n, where in places.items():
            outside[self.limits.first[n] + where] = False
        terms = clauses.terms[~(clauses.places & outside).any(axis=1)]
        parts = (terms[begin : begin + BITS] for begin in range(0, len(terms), BITS))
        bits = [
            (1 << np.arange(len(part))) @ np.hstack([part, part[:, :1] | True]) for part in parts
        ]
        return kind, end, (places, bits)

    def passed(self, test: Test, part: Part) -> Part:
        """The candidates that a test leaves."""
        kind, n, what = test
        if kind == "at":
            for location in what:
                if len(part.parent):
                    part = part.pick(self.at(n, location, part))
            return part
        places, bits = what
        value = np.hstack([self.all_of(n, part)[:, where] for n, where in places.items()])
        good = np.ones(len(value), dtype=np.bool_)
        for some in bits:
            good &= np.bitwise_or.reduce(some[value], axis=1) == some[-1]
        return part.pick(good)

    def after(
        self, states: States, count: int, holes: Sequence[int], tests: Sequence[Test], refused: Ints
    ) -> Iterator[Part]:
        """The candidates after `count` states that no test refuses, in parts; adds up what they refuse."""
        looked = 0
        remain = [np.flatnonzero(self.limits.remain[h]) for h in holes]
        first_at = next((n for n, t in enumerate(tests) if t[:2] == ("at", holes[-1])), -1)
        probed = tests[first_at][2][:PROBED] if first_at >= 0 else []
        choices, starts = self.sorted_choices(holes, remain, probed)
        everything = len(choices[holes[0]])
        size = sum(node.size for node in self.s.nodes[holes[0] :])
        step = max(1, AT_ONCE // size)
        for begin in range(0, count, STATES):
            state = np.arange(begin, min(begin + STATES, count))
            low, high = np.zeros_like(state), np.full_like(state, everything)
            for location, start in zip(probed, starts, strict=True):
                where, at = spread(np.searchsorted(start, low), np.searchsorted(start, high))
                ends = np.append(start, everything)
                state, low, high = state[where], start[at], ends[at + 1]
                need(len(low) <= MOST_CHOICES, "too many candidates would have to be followed")
                good = self.at(holes[-1], location, Part(state, states, pick(choices, low)))
                refused[first_at] += int((~good).sum())
                state, low, high = state[good], low[good], high[good]
            ends = np.cumsum(high - low)
            for first_number in range(0, int(ends[-1]) if len(ends) else 0, step):
                number = np.arange(first_number, min(first_number + step, int(ends[-1])))
                row = np.searchsorted(ends, number, side="right")
                place: Ints = high[row] - ends[row] + number
                part = Part(state[row], states, pick(choices, place))
                looked += len(number)
                need(looked <= MOST_LOOKED, "too many candidates would have to be followed")
                self.check()
                for which, test in enumerate(tests):
                    before = len(part.parent)
                    part = self.passed(test, part) if before else part
                    refused[which] += before - len(part.parent)
                if len(part.parent):
                    yield part

    def sorted_choices(
        self, holes: Sequence[int], remain: Sequence[Ints], probed: Sequence[int]
    ) -> tuple[dict[int, Ints], list[Ints]]:
        """All choices of the holes, each of which reads the one before: those are neighbours that bring
        the same to
        the first locations. For each location: where those begin that differ there, or before."""
        need(prod(map(len, remain)) <= MOST_CHOICES, "a step has too many choices")
        grid = np.indices([len(r) for r in remain]).reshape(len(remain), -1)
        choices = {h: r[g] for h, r, g in zip(holes, remain, grid, strict=True)}
        count = len(choices[holes[0]])
        columns: list[Ints] = []
        for location in probed:
            place = np.full(count, location)
            for h in reversed(holes):
                node = self.s.nodes[h]
                assert node.gathers is not None
                inside = place < node.size
                place = np.where(
                    inside, node.gathers.reads(choices[h], np.where(inside, place, 0)), place + MOST
                )
            columns.append(place)
        order = np.lexsort(columns[::-1]) if columns else np.arange(count)
        changed = np.arange(count) == 0
        starts = []
        for column in columns:
            changed[1:] |= np.diff(column[order]) != 0
            starts.append(np.flatnonzero(changed))
        return pick(choices, order), starts

    def live(self, end: int) -> list[int]:
        """The nodes before `end` that matter from there on."""
        read = {a for node in self.s.nodes[end:] for a in node.of} | {n for n, _ in self.s.goals}
        return [n for n in sorted(read) if n < end and self.s.nodes[n].holds is None]

    def follow(
        self, holes: Sequence[int], states: States, ways: list[int], tests: Sequence[Test]
    ) -> Followed:
        """One step: the choices that survive, and the states after it, equal ones once."""
        later = [h for h in self.s.holes if h > holes[-1]]
        end = later[0] if later else len(self.s.nodes)
        chosen: list[Ints] = []
        held: list[NDArray[np.uint16]] = []
        refused = np.zeros(len(tests), dtype=np.int64)
        for part in self.after(states, len(ways), holes, [self.meant(t) for t in tests], refused):
            part = part if later else part.pick(self.at_goals(part))  # whatever the tests are
            chosen.append(np.stack([part.parent, *(part.chosen[h] for h in holes)], axis=1))
            empty = [np.zeros((len(part.parent), 0))]
            held.append(
                np.hstack(empty + [self.all_of(n, part) for n in self.live(end)]).astype(np.uint16)
            )
        if not chosen:
            return Followed(np.zeros((0, 1 + len(holes)), np.int64), {}, [], refused)
        edges, whole = np.concatenate(chosen), np.concatenate(held)
        order = np.lexsort(edges.T[::-1])
        edges, whole = edges[order], whole[order]
        numbers: dict[bytes, int] = {}
        child = [numbers.setdefault(row.tobytes(), len(numbers)) for row in whole]
        after = [0] * len(numbers)
        for parent, c in zip(edges[:, 0].tolist(), child, strict=True):
            after[c] += ways[parent]
        _, first = np.unique(child, return_index=True)
        tables = np.split(
            whole[first], np.cumsum([self.s.nodes[n].size for n in self.live(end)])[:-1], axis=1
        )
        return Followed(edges, dict(zip(self.live(end), tables, strict=False)), after, refused)

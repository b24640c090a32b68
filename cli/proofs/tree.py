"""Follows the tree of a proof: what holds of every solution refuses choices, and which are left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from hbc.cli.proofs.statement import ANYTHING, FIRST, MOST, NOTHING, ZERO, Ints, Statement, need

AT_ONCE = 1 << 22  # locations of candidates
STATES = 2048  # at once
PROBED = 48  # locations by which gathers are told apart before all of them are looked at
ROUNDS = 4
BITS = 62  # demands at a time
MOST_CHOICES = 1 << 22  # of the holes of a step
MOST_LOOKED = 1 << 23  # candidates of a step


class Tree:
    """`may[l, t]`: in a solution location l can hold term t; `remain`: by node the gathers left.
    `demands` after a node: in a solution one of terms is at one of places. `states`: what lies in `live`
    locations after the steps that were followed, each reached in so many `ways`."""

    def __init__(self, s: Statement, check: Callable[[], None] = lambda: None) -> None:
        self.s, self.check = s, check
        need(s.size * len(s.terms) <= MOST, "its arrays are too large")
        self.remain = {
            n: np.arange(len(node.set.codes)) for n, node in enumerate(s.nodes) if node.gathers
        }
        need(all(map(len, self.remain.values())), "a set is not listed")
        self.reach: dict[int, Ints] = {}
        self.crowd = np.ones((s.size, len(s.terms)), dtype=np.bool_)
        left = 0
        for _ in range(ROUNDS):
            self.can = self.possible()
            self.may = self.limited()
            self.demands = self.demanded()
            if left == (left := sum(map(len, self.remain.values())) + int(self.crowd.sum())):
                break
        self.empty = not self.may.any(axis=1).all()
        self.fits = np.hstack([self.may, self.may[:, :1] | True])
        self.base = np.full((1, s.size), len(s.terms), dtype=np.int32)
        self.base[0, :FIRST] = ZERO, NOTHING
        first = [*s.holes, len(s.nodes)][0]
        for node in s.nodes[:first]:
            s.fill(node, self.base, None)
        met = self.fits[np.arange(s.size), self.base[0]].all()
        self.live = np.zeros(0, dtype=np.int64)
        self.states, self.ways = np.zeros((int(met), 0), dtype=np.int32), [1] * int(met)

    def possible(self) -> Ints:
        """[location, term]: forward, what can be there."""
        can = np.zeros((self.s.size, len(self.s.terms)), dtype=np.bool_)
        can[ZERO, ZERO] = can[NOTHING, NOTHING] = True
        for n, node in enumerate(self.s.nodes):
            if node.holds is not None:
                can[np.arange(len(can))[node.here], node.holds] = True
            elif node.gathers is not None:
                for number in self.remain[n]:
                    can[node.here] |= can[node.reads(node.set.codes[number])]
            else:
                inside = can[node.groups]
                for t, elements in self.s.folds(node).items():
                    can[node.here, t] = np.all(inside[:, :, [*elements]].any(axis=1), axis=1)
                can[node.here, ZERO] = inside[:, :, ZERO].all(axis=1)
                can[node.here, NOTHING] = True
        return can

    def limited(self) -> Ints:
        """Backward, what may be there: a goal's location holds its term. Where every gather reads a place, it
        holds what all its readers may hold, by one gather at least; one by which a place cannot hold what its
        readers may is left out. Elements are of what their fold may make."""
        s, terms, may = self.s, len(self.s.terms), self.can & self.crowd
        for here, wanted in s.goals:
            may[here] &= (np.arange(terms) == wanted[:, None]) | (wanted == ANYTHING)[:, None]
        for n, node in reversed([*enumerate(s.nodes)]):
            if node.gathers is not None:
                can, wanted = np.packbits(self.can, axis=1), np.packbits(may[node.here], axis=1)
                some, count, kept = np.zeros_like(can), np.zeros(s.size, dtype=np.int64), []
                self.reach[n] = np.zeros((len(wanted), s.size), dtype=np.bool_)
                for number in self.remain[n]:
                    row = node.reads(node.set.codes[number])
                    order = np.argsort(row, kind="stable")
                    starts = np.flatnonzero(np.diff(row[order], prepend=-1))
                    read = row[order][starts]
                    both = np.bitwise_and.reduceat(wanted[order], starts, axis=0) & can[read]
                    if both.any(axis=1).all():
                        kept.append(number)
                        some[read] |= both
                        count[read] += 1
                        self.reach[n][np.arange(len(row)), row] = True
                some[count < len(kept)] = 255
                may &= np.unpackbits(some, axis=1, count=terms).astype(np.bool_)
                self.remain[n] = np.array(kept, dtype=np.int64)
            elif node.holds is None:
                inside = np.zeros((terms, terms), dtype=np.bool_)
                inside[NOTHING] = True
                for t, elements in s.folds(node).items():
                    inside[t, [*elements] + [ZERO] * (len(elements) < node.groups.shape[1])] = True
                may[node.groups] &= times(may[node.here], inside)[:, None]
        return may

    def demanded(self) -> list[tuple[Ints, Ints]]:
        """A location demands what it may hold; that comes from places that gathers bring there, and of a fold
        it is an element of all that it may be. After each node [demand, term] and [demand, location]; as many
        as the places that they share, of different terms, fill those: a `crowd`."""
        s, everywhere = self.s, np.eye(self.s.size, dtype=np.bool_)
        terms, places = self.may[:0], everywhere[:0]
        demands: list[tuple[Ints, Ints]] = []
        for n, node in reversed([*enumerate(s.nodes)]):
            mine = self.may[node.here]
            telling = 2 * mine.sum(axis=1) <= self.can[node.here].sum(axis=1)
            telling &= ~mine[:, :FIRST].any(axis=1)
            terms = np.vstack([terms, mine[telling]])
            places = np.vstack([places, everywhere[node.here][telling]])
            places &= times(terms, self.can.T)
            packed = np.packbits(np.hstack([terms, places]), axis=1)
            _, once = np.unique(packed, axis=0, return_index=True)
            terms, places = terms[once], places[once]
            demands.append((terms, places.copy()))
            for place, some in together(places):
                alone = (terms[some].sum(axis=0) <= 1).all()
                if alone and len(some) == place.sum():
                    self.crowd[place] &= terms[some].any(axis=0)
            mine = places[:, node.here].copy()
            places[:, node.here] = False
            if node.gathers is not None:
                places |= times(mine, self.reach[n])
                continue
            inside = np.zeros((len(s.terms), len(s.terms)), dtype=np.bool_)
            for t, elements in s.folds(node).items():
                inside[t, [*elements]] = True
            untouched = ~mine.any(axis=1)
            new = [(terms[untouched], places[untouched])]
            for d in np.flatnonzero(~untouched & ~places.any(axis=1) & (node.holds is None)):
                common = np.flatnonzero(inside[terms[d]].all(axis=0))
                read = np.zeros((len(common), s.size), dtype=np.bool_)
                read[:, node.groups[mine[d]].reshape(-1)] = True
                new.append((np.eye(len(s.terms), dtype=np.bool_)[common], read))
            terms, places = (np.vstack(part) for part in zip(*new, strict=True))
        return demands[::-1]

    def follow(self, holes: Sequence[int], probed: Sequence[int]) -> tuple[Ints, Ints]:
        """One step: a state before and the gathers chosen, where nothing is refused; equal states after it
        are one. Also how many candidates each probed location refused."""
        s, last = self.s, self.s.nodes[holes[-1]].here.start
        end = next((h for h in s.holes if h > holes[-1]), len(s.nodes))
        need(
            prod(len(self.remain[h]) for h in holes) <= MOST_CHOICES, "a step has too many choices"
        )
        grid = np.indices([len(self.remain[h]) for h in holes]).reshape(len(holes), -1)
        choices = np.stack([self.remain[h][g] for h, g in zip(holes, grid, strict=True)], axis=1)
        columns = [self.read_by(holes, choices, last + location) for location in probed[:PROBED]]
        order = np.lexsort(columns[::-1]) if columns else np.arange(len(choices))
        choices, columns = choices[order], [c[order] for c in columns]
        refused = np.zeros(len(columns), dtype=np.int64)
        read = sorted({a for node in s.nodes[end:] for a in node.of if s.holes[0] <= a < end})
        live = np.concatenate([np.arange(s.size)[s.nodes[a].here] for a in read] or [self.live[:0]])
        asked, known = self.asked(end), self.known(holes, choices, end)
        edges, after = (
            [np.zeros((0, 1 + len(holes)), np.int64)],
            [np.zeros((0, len(live)), np.int32)],
        )
        at_once, looked = max(1, AT_ONCE // s.size), 0
        for begin in range(0, len(self.ways), STATES):
            state = np.arange(begin, min(begin + STATES, len(self.ways)))
            low, high, held = (
                np.zeros_like(state),
                np.full_like(state, len(choices)),
                self.held(state),
            )
            changed = np.arange(len(choices)) == 0
            for k, column in enumerate(columns):
                # Of choices that read the same so far those come apart that read something else here.
                changed[1:] |= np.diff(column) != 0
                starts = np.flatnonzero(changed)
                row, at = spread(np.searchsorted(starts, low), np.searchsorted(starts, high))
                need(len(row) <= MOST_CHOICES, "too many candidates would have to be followed")
                state, low, high = state[row], starts[at], np.append(starts, len(choices))[at + 1]
                good = self.fits[last + probed[k], held[state - begin, column[low]]]
                refused[k] += (~good).sum()
                state, low, high = state[good], low[good], high[good]
            row, at = spread(low, high)
            looked += len(row)
            need(looked <= MOST_LOOKED, "too many candidates would have to be followed")
            for part in range(0, len(row), at_once):
                self.check()
                some = slice(part, part + at_once)
                edge = np.column_stack([state[row[some]], choices[at[some]]])
                edge, held_now = self.left(edge, holes, known, end, asked)
                edges.append(edge)
                after.append(held_now[:, live])
        found = np.concatenate(edges)
        order = np.lexsort(found.T[::-1])
        numbers: dict[bytes, int] = {}
        states = np.concatenate(after)[order]
        child = [numbers.setdefault(row.tobytes(), len(numbers)) for row in states]
        ways = [0] * len(numbers)
        for parent, number in zip(found[order, 0].tolist(), child, strict=True):
            ways[number] += self.ways[parent]
        self.live, self.ways = live, ways
        self.states = states[np.unique(child, return_index=True)[1]] if child else states
        return found[order], refused

    def read_by(self, holes: Sequence[int], choices: Ints, location: int) -> Ints:
        """The location before the holes that each choice brings to one of the last."""
        place = np.full(len(choices), location)
        for k in reversed(range(len(holes))):
            node = self.s.nodes[holes[k]]
            inside = place >= node.here.start
            local = np.where(inside, place - node.here.start, 0)
            code = node.set.codes[choices[:, k], node.set.cell[local]]
            place = np.where(inside, node.source[local, code], place)
        return place

    def held(self, state: Ints) -> Ints:
        """[state, location]: what is known before a step."""
        held = np.repeat(self.base, len(state), axis=0)
        held[:, self.live] = self.states[state]
        return held

    def known(self, holes: Sequence[int], choices: Ints, end: int) -> list[int]:
        """The nodes that a step decides locations of."""
        held, found = self.held(np.arange(1)), []
        for n, node in enumerate(self.s.nodes):
            if n >= holes[0] and (n in holes or not node.hole):
                code = node.set.codes[choices[:1, holes.index(n)]] if n in holes else None
                self.s.fill(node, held, code)
                if n < end or (held[0, node.here] < len(self.s.terms)).any():
                    found.append(n)
        return found

    def left(
        self,
        edge: Ints,
        holes: Sequence[int],
        known: Sequence[int],
        end: int,
        asked: Sequence[tuple[Ints, Ints]],
    ) -> tuple[Ints, Ints]:
        """The candidates that no location and no demand refuses, and what is held then."""
        held, good = self.held(edge[:, 0]), np.ones(len(edge), dtype=np.bool_)
        for n in known:
            node = self.s.nodes[n]
            codes = node.set.codes[edge[:, 1 + holes.index(n)]] if node.hole else None
            self.s.fill(node, held, codes)
            good &= self.fits[np.arange(self.s.size)[node.here], held[:, node.here]].all(axis=1)
            if n == end - 1:
                for places, mask in asked:
                    good &= np.bitwise_or.reduce(mask[held[:, places]], axis=1) == mask[-1]
            if 2 * good.sum() < len(good):
                edge, held, good = edge[good], held[good], good[good]
        return edge[good], held[good]

    def asked(self, end: int) -> list[tuple[Ints, Ints]]:
        """The demands before a node, of the same places together: which of them each term meets, as bits, and
        all of them."""
        terms, places = self.demands[end - 1]
        found = []
        for place, some in together(places):
            for k in range(0, len(some) if place.sum() > 1 else 0, BITS):
                sets = terms[some[k : k + BITS]]
                met = np.hstack([sets, sets[:, :1] | True])
                found.append((np.flatnonzero(place), (1 << np.arange(len(sets))) @ met))
        return sorted(found, key=lambda one: len(one[0]))


def together(places: Ints) -> list[tuple[Ints, Ints]]:
    """Equal rows once, each with the numbers of all that are."""
    packed = np.packbits(places, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which.reshape(-1)))[:-1])
    return [*zip(places[first], parts, strict=True)] if len(places) else []


def spread(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The numbers of all ranges, and of which range each is."""
    where = np.repeat(np.arange(len(first)), last - first)
    before = np.cumsum(last - first) - (last - first)
    return where, np.arange(len(where)) - before[where] + first[where]


def times(left: Ints, right: Ints) -> Ints:
    return np.asarray(left.astype(np.float32) @ right.astype(np.float32) > 0)

"""What a proof about a sketch is about: arrays, sets of gathers, goals; read from its file and taken for
nothing.

Terms are numbers: 0 is the identity of folds, 1 no value; those from 2 on are listed, symbols by name and
folds by
operation and elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Table = NDArray[np.bool_]
Rows = NDArray[np.int32]

ZERO, NOTHING, FIRST = 0, 1, 2
ANYTHING = -1  # of a goal
MOST = 1 << 26  # entries of a table


class Refused(Exception):
    """Why a proof is none, in one line."""


def need(good: object, why: str) -> None:
    if not good:
        raise Refused(why)


def ints(value: Any, low: int, end: int, what: str) -> Ints:
    """A list of integers from `low` on and before `end`, each of them looked at."""
    good = isinstance(value, list) and all(type(v) is int and low <= v < end for v in value)
    need(good, f"{what} are no integers from {low} to {end - 1}")
    return np.array(value, dtype=np.int64)


def whole(value: Any, low: int, end: int, what: str) -> int:
    return int(ints([value], low, end, what)[0])


@dataclass(frozen=True, eq=False)
class Gathers:
    """Gather g reads, for location l, place `source[l, codes[g, cell[l]]]` of the arguments, which lie one
    behind the other: `width` places, and after them no value and 0."""

    codes: Rows
    cell: Ints
    source: Rows
    width: int

    def __len__(self) -> int:
        return len(self.codes)

    def reads(self, number: Any, location: Any) -> Rows:
        found: Rows = self.source[location, self.codes[number, self.cell[location]]]
        return found

    def rows(self, numbers: Ints) -> Rows:
        """[gather, location]"""
        return self.reads(numbers[:, None], np.arange(len(self.cell)))


@dataclass(frozen=True, eq=False)
class Node:
    """An array of `size` locations. It `holds` terms; or one of its `gathers` reads the arguments `of`: which
    one a `hole` leaves open; or it folds each `length` locations of its argument."""

    size: int
    of: tuple[int, ...] = ()
    holds: Ints | None = None
    gathers: Gathers | None = None
    hole: bool = False
    length: int = 0
    operation: str = ""


@dataclass(frozen=True, eq=False)
class Statement:
    """`terms[t]`: a name, or an operation with its elements in order. `goals`: an array, and what it must
    hold."""

    terms: list[Any]
    nodes: list[Node]
    goals: list[tuple[int, Ints]]

    @property
    def holes(self) -> list[int]:
        return [n for n, node in enumerate(self.nodes) if node.hole]


def read_statement(lines: list[Any]) -> Statement:
    """Of the lines of a proof those that say what it is about."""
    terms: list[Any] = ["0", "_"]
    sets: list[Gathers] = []
    made = Statement(terms, [], [])
    for line in lines:
        if "terms" in line:
            terms += [read_term(t, FIRST + n) for n, t in enumerate(line["terms"])]
            need(len(set(terms)) == len(terms), "a term is listed twice")
        elif "set" in line:
            sets.append(read_set(line))
        elif "array" in line:
            made.nodes.append(read_node(line, made, sets))
        elif "goal" in line:
            node = whole(line["goal"], 0, len(made.nodes), "goals")
            made.goals.append((node, ints(line["holds"], ANYTHING, len(terms), "goals")))
            need((made.goals[-1][1] != NOTHING).all(), "a goal is no value")
            need(len(made.goals[-1][1]) == made.nodes[node].size, "a goal has another size")
    need(made.goals, "it has no goal")
    return made


def read_term(value: Any, before: int) -> Any:
    """Elements are listed before what is made of them; the identity and no value are in no fold."""
    if isinstance(value, str):
        return value
    operation, elements = value
    need(isinstance(operation, str) and elements, "a fold of nothing is listed")
    return operation, tuple(sorted(ints(elements, FIRST, before, "elements").tolist()))


def read_set(line: Any) -> Gathers:
    width = whole(line["set"], 0, MOST, "sizes")
    source = [ints(s, -2, width, "locations") for s in line["source"]]
    codes = [ints(c, 0, MOST, "choices") for c in line["gathers"]]
    need(len({len(s) for s in source}) == 1 and len({len(c) for c in codes}) == 1, "a set is none")
    places, chosen = np.array(source, dtype=np.int32), np.array(codes, dtype=np.int32)
    need(chosen.size and chosen.max() < places.shape[1], "a choice has no meaning")
    cell = ints(line["cell"], 0, chosen.shape[1], "cells")
    need(len(cell) == len(source), "a set has other cells")
    # -1 and -2 are 0 and no value, behind the arguments.
    places = np.where(places == -1, width + 1, np.where(places == -2, width, places))
    return Gathers(chosen, cell, places, width)


def read_node(line: Any, made: Statement, sets: list[Any]) -> Node:
    if "holds" in line:
        holds = ints(line["holds"], 0, len(made.terms), "terms")
        return Node(len(holds), holds=holds)
    of = tuple(ints(line["of"], 0, len(made.nodes), "arguments").tolist())
    size = sum(made.nodes[a].size for a in of)
    if "fold" in line:
        length = whole(line["length"], 1, max(2, size + 1), "lengths")
        need(
            len(of) == 1 and size % length == 0 and isinstance(line["fold"], str), "a fold is none"
        )
        return Node(size // length, of, length=length, operation=line["fold"])
    gathers: Gathers = sets[whole(line["of_set"], 0, len(sets), "sets")]
    need(gathers.width == size, "a set is for other arguments")
    need(line["hole"] is True or len(gathers) == 1, "a gather that is no hole has a choice")
    return Node(len(gathers.cell), of, gathers=gathers, hole=line["hole"] is True)


def computes(s: Statement, chosen: dict[int, int]) -> bool:
    """Whether gathers, by their holes, make what the goals say: executed on the terms themselves."""
    numbers = {term: number for number, term in enumerate(s.terms)}
    values: list[Ints] = []
    for n, node in enumerate(s.nodes):
        inputs = np.concatenate([*(values[a] for a in node.of), [NOTHING, ZERO]])
        if node.holds is not None:
            values.append(node.holds)
        elif node.gathers is not None:
            values.append(inputs[node.gathers.reads(chosen.get(n, 0), np.arange(node.size))])
        else:
            groups = inputs[:-2].reshape(-1, node.length)
            values.append(np.array([folded(numbers, node.operation, g.tolist()) for g in groups]))
    return all(((values[n] == w) | (w == ANYTHING)).all() for n, w in s.goals)


def folded(numbers: dict[Any, int], operation: str, elements: list[int]) -> int:
    kept = tuple(sorted(e for e in elements if e != ZERO))
    if not kept or NOTHING in kept:
        return NOTHING if kept else ZERO
    return numbers.setdefault((operation, kept), len(numbers))


class Universe:
    """The terms of the goals and what they are made of, numbered from FIRST on; every other is NOTHING,
    which never
    becomes one of them. `unknown` stands for what later choices decide."""

    def __init__(self, s: Statement) -> None:
        wanted = {int(t) for _, holds in s.goals for t in holds if t >= FIRST}
        for term in sorted(range(FIRST, len(s.terms)), reverse=True):
            if term in wanted and not isinstance(s.terms[term], str):
                wanted |= set(s.terms[term][1])
        self.number = np.full(len(s.terms), NOTHING)
        self.number[[ZERO, *sorted(wanted)]] = [ZERO, *range(FIRST, FIRST + len(wanted))]
        self.unknown = FIRST + len(wanted)
        self.inside = {
            int(self.number[t]): (s.terms[t][0], [int(self.number[e]) for e in s.terms[t][1]])
            for t in wanted
            if not isinstance(s.terms[t], str)
        }
        self.keys = np.array([(2 * t + 3) ** 21 % (1 << 61) for t in range(self.unknown + 1)])
        self.keys[ZERO] = 0
        self.known: dict[tuple[str, int], tuple[Ints, Ints, Ints]] = {}

    def folds(self, node: Node) -> dict[int, list[int]]:
        """The terms that a node may make, with their elements."""
        found = self.inside.items()
        return {t: e for t, (o, e) in found if o == node.operation and len(e) <= node.length}

    def sums(self, node: Node) -> tuple[Ints, Ints, Ints]:
        """Of 0 and of those terms, by the sums of their elements' keys: sums, terms, elements with zeros
        before."""
        key = node.operation, node.length
        if key not in self.known:
            known = {ZERO: list[int](), **self.folds(node)}
            total = np.array([int(self.keys[e].sum()) for e in known.values()], dtype=np.int64)
            need(len(set(total.tolist())) == len(total), "sums of keys meet")
            exact = [[ZERO] * (node.length - len(e)) + sorted(e) for e in known.values()]
            order = np.argsort(total)
            self.known[key] = total[order], np.array(list(known))[order], np.array(exact)[order]
        return self.known[key]

    def fold(self, node: Node, values: Ints) -> Ints:
        """Of the last axis: looked up by a sum of keys, then compared element by element."""
        sums, terms, elements = self.sums(node)
        place = np.searchsorted(sums, self.keys[values].sum(axis=-1)).clip(max=len(sums) - 1)
        same = (np.sort(values, axis=-1) == elements[place]).all(axis=-1)
        unknown = (values == self.unknown).any(axis=-1)
        return np.where(unknown, self.unknown, np.where(same, terms[place], NOTHING))

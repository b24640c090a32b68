"""What a proof is about: arrays, sets of gathers, goals; read from its file and taken for nothing.

Terms are numbers: 0 is the identity of folds, 1 no value; those from 2 on are listed, symbols by name and
folds by operation and elements. Locations too: 0 holds the identity, 1 no value, then come the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[Any]

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


def rows(value: Any, low: int, end: int, what: str) -> Ints:
    """Lists of equal length, of such integers."""
    need(len({len(row) for row in value}) == 1, f"{what} are no table")
    return ints([v for row in value for v in row], low, end, what).reshape(len(value), -1)


@dataclass(frozen=True, eq=False)
class Gathers:
    """The l-th location reads place `source[l, c]` of `width`; -1 is the identity, -2 no value. c is what
    its cell takes: `codes[g]` says that for each in gather g; without `codes` a cell takes what it likes."""

    source: Ints
    cell: Ints
    codes: Ints
    width: int
    cost: int

    def chosen(self, value: Any) -> Ints:
        """The codes that a proof names: a gather's number, or what each cell takes."""
        if len(self.codes):
            return np.asarray(self.codes[whole(value, 0, len(self.codes), "gathers")])
        codes = ints(value, 0, self.source.shape[1], "choices")
        need(len(codes) == self.cell[-1] + 1, "an instruction cannot choose so")
        return codes


@dataclass(frozen=True, eq=False)
class Node:
    """The array that lies `here`. It `holds` terms; or it reads `source[l, c]` as one of its `gathers` says,
    which one a `hole` leaves open; or it folds what lies in `groups`: [location, element]."""

    here: slice
    of: tuple[int, ...] = ()
    holds: Ints | None = None
    gathers: Gathers | None = None
    source: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    hole: bool = False
    groups: Ints = field(default_factory=lambda: np.zeros((0, 1), np.int64))
    operation: str = ""

    @property
    def set(self) -> Gathers:
        need(self.gathers is not None, "an array has no gathers")
        assert self.gathers is not None
        return self.gathers

    def reads(self, codes: Ints) -> Ints:
        """[..., location] by codes [..., cell]."""
        places = np.arange(len(self.source))
        return np.asarray(self.source[places, codes[..., self.set.cell]])


@dataclass(frozen=True, eq=False)
class Statement:
    """`terms[t]`: a name, or an operation with its elements in order. `goals`: where, and what is there."""

    terms: list[Any] = field(default_factory=lambda: ["0", "_"])
    sets: list[Gathers] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    goals: list[tuple[slice, Ints]] = field(default_factory=list)

    @property
    def holes(self) -> list[int]:
        return [n for n, node in enumerate(self.nodes) if node.hole]

    @property
    def size(self) -> int:
        return self.nodes[-1].here.stop if self.nodes else FIRST

    def folds(self, node: Node) -> dict[int, tuple[int, ...]]:
        """What a fold may make beside no value, with its elements."""
        listed = [(t, term) for t, term in enumerate(self.terms) if not isinstance(term, str)]
        longest = node.groups.shape[1]
        fits = {t: e for t, (o, e) in listed if o == node.operation and len(e) <= longest}
        return {ZERO: (), **fits}

    def fill(self, node: Node, held: Ints, codes: Ints | None) -> None:
        """What a node holds, of what lies before it: [candidate, location], codes [candidate, cell]; what
        later choices decide is `len(terms)`."""
        if node.holds is not None:
            held[:, node.here] = node.holds
        elif node.gathers is not None:
            places = node.reads(node.set.codes[:1] if codes is None else codes)
            held[:, node.here] = np.take_along_axis(held, places, axis=1)
        else:
            made, longest = self.folds(node), node.groups.shape[1]
            known = np.array([[ZERO] * (longest - len(e)) + [*e] for e in made.values()])
            keys, terms = in_one(known), np.array([*made])
            order = np.argsort(keys)
            found = in_one(np.sort(held[:, node.groups], axis=-1))
            place = order[np.searchsorted(keys, found, sorter=order).clip(max=len(order) - 1)]
            made_now = np.where(keys[place] == found, terms[place], NOTHING)
            unknown = (held[:, node.groups] == len(self.terms)).any(axis=-1)
            held[:, node.here] = np.where(unknown, len(self.terms), made_now)


def in_one(table: Ints) -> Ints:
    """Each row of the last axis as one string, in the same order."""
    last = 4 * table.shape[-1]
    return np.asarray(np.ascontiguousarray(table.astype(">u4")).view(f"S{last}")[..., 0])


def read_statement(lines: list[Any]) -> Statement:
    """Of the lines of a proof those that say what it is about."""
    s = Statement()
    for line in lines:
        match next(iter(line)):
            case "terms":
                s.terms.extend(read_term(t, FIRST + n) for n, t in enumerate(line["terms"]))
                need(len(set(s.terms)) == len(s.terms), "a term is listed twice")
            case "set":
                s.sets.append(read_set(line))
            case "array":
                s.nodes.append(read_node(line, s))
            case "goal":
                here = s.nodes[whole(line["goal"], 0, len(s.nodes), "goals")].here
                wanted = ints(line["holds"], ANYTHING, len(s.terms), "goals")
                need((wanted != NOTHING).all(), "a goal is no value")
                need(len(wanted) == here.stop - here.start, "a goal has another size")
                s.goals.append((here, wanted))
    need(s.goals, "it has no goal")
    return s


def read_term(value: Any, before: int) -> Any:
    """Elements are listed before what is made of them; the identity and no value are in no fold."""
    if isinstance(value, str):
        return value
    operation, elements = value
    need(isinstance(operation, str) and elements, "a fold of nothing is listed")
    return operation, tuple(sorted(ints(elements, FIRST, before, "elements").tolist()))


def read_set(line: Any) -> Gathers:
    width, alone = whole(line["set"], 0, MOST, "sizes"), line["gathers"] is None
    source = rows(line["source"], -2, width, "locations")
    cell = ints(line["cell"], 0, len(source), "cells")
    need(source.size and len(cell) == len(source), "a set has other cells")
    if alone:
        need(cell[0] == 0 and (np.diff(cell) <= 1).all(), "a set has other cells")
        codes = np.zeros((0, cell[-1] + 1), dtype=np.int64)
        return Gathers(source, cell, codes, width, whole(line["cost"], 1, 1 << 16, "costs"))
    codes = rows(line["gathers"], 0, source.shape[1], "choices")
    need(codes.size and cell.max() < codes.shape[1], "a choice has no meaning")
    return Gathers(source, cell, codes, width, 0)


def read_node(line: Any, s: Statement) -> Node:
    if "holds" in line:
        holds = ints(line["holds"], 0, len(s.terms), "terms")
        return Node(slice(s.size, s.size + len(holds)), holds=holds)
    of = tuple(ints(line["of"], 0, len(s.nodes), "arguments").tolist())
    # Those of the arguments, then no value and 0: what -2 and -1 are.
    where = [np.arange(s.size)[s.nodes[a].here] for a in of]
    places = np.concatenate([*where, [NOTHING, ZERO]])
    if "fold" in line:
        length = whole(line["length"], 1, max(2, len(places)), "lengths")
        even = len(of) == 1 and (len(places) - 2) % length == 0
        need(even and isinstance(line["fold"], str), "a fold is none")
        groups = places[:-2].reshape(-1, length)
        here = slice(s.size, s.size + len(groups))
        return Node(here, of, groups=groups, operation=line["fold"])
    gathers = s.sets[whole(line["of_set"], 0, len(s.sets), "sets")]
    need(gathers.width == len(places) - 2, "a set is for other arguments")
    hole = line["hole"] is True
    need(hole or len(gathers.codes) == 1, "a gather that is no hole has a choice")
    here = slice(s.size, s.size + len(gathers.cell))
    return Node(here, of, gathers=gathers, source=places[gathers.source], hole=hole)

"""What holds of every solution of a statement, found without choosing: the reasons for which candidates
are refused.

A location `may` hold some terms only. A clause says that one of its terms is at one of its places. Both
begin as
goals and go back, node by node: what a location is made of must be somewhere before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hbc.cli.proofs.statement import (
    ANYTHING,
    FIRST,
    MOST,
    NOTHING,
    ZERO,
    Gathers,
    Ints,
    Node,
    Statement,
    Table,
    Universe,
    need,
)  # fmt: skip

ROUNDS = 4
MOST_COMPARED = 1 << 23  # gathers times locations that are looked at one by one


@dataclass(frozen=True, eq=False)
class Clauses:
    """Clause c: at one of the locations `places[c]` of all nodes is one of `terms[c]`."""

    terms: Table
    places: Table


@dataclass(eq=False)
class Limits:
    """`may[l, t]` of all locations, those of node n from `first[n]` on; by hole the gathers that `remain`;
    clauses by
    the node before which they hold. `empty`: there is no solution."""

    may: Table
    first: list[int]
    remain: dict[int, Table]
    clauses: dict[int, Clauses]
    empty: bool = False


def find_limits(s: Statement, u: Universe) -> Limits:
    size = sum(node.size for node in s.nodes)
    need(size * u.unknown <= MOST, "its arrays are too large")
    sets = {n: node.gathers for n, node in enumerate(s.nodes) if node.hole and node.gathers}
    remain = {n: np.ones(len(gathers), dtype=np.bool_) for n, gathers in sets.items()}
    for _ in range(ROUNDS):
        before = {n: kept.sum() for n, kept in remain.items()}
        found = _back(s, u, _possible(s, u, remain), dict(remain))
        remain = found.remain
        if found.empty or all(remain[n].sum() == before[n] for n in remain):
            break
    return found


def _reach(gathers: Gathers, kept: Table | None) -> Table:
    """[location, place]: whether some gather reads the one from the other."""
    used = np.zeros((gathers.codes.shape[1], gathers.source.shape[1]), dtype=np.bool_)
    codes = gathers.codes if kept is None else gathers.codes[kept]
    used[np.arange(codes.shape[1]), codes] = True
    reach = np.zeros((len(gathers.cell), gathers.width + 2), dtype=np.bool_)
    where, code = np.nonzero(used[gathers.cell])
    reach[where, gathers.source[where, code]] = True
    return reach


def _times(left: Table, right: Table) -> Table:
    return np.asarray(left.astype(np.float32) @ right.astype(np.float32) > 0)


def _ends(count: int) -> Table:
    """No value and 0, as `Gathers` has them behind the arguments."""
    return np.eye(count, dtype=np.bool_)[[NOTHING, ZERO]]


def _possible(s: Statement, u: Universe, remain: dict[int, Table]) -> list[Table]:
    """Which terms each location can hold, by node."""
    possible: list[Table] = []
    for n, node in enumerate(s.nodes):
        inputs = np.concatenate([*(possible[a] for a in node.of), _ends(u.unknown)])
        if node.holds is not None:
            possible.append(np.eye(u.unknown, dtype=np.bool_)[u.number[node.holds]])
        elif node.gathers is not None:
            possible.append(_times(_reach(node.gathers, remain.get(n)), inputs))
        else:
            held = inputs[:-2].reshape(-1, node.length, u.unknown)
            made = np.zeros((len(held), u.unknown), dtype=np.bool_)
            for term, elements in u.folds(node).items():
                made[:, term] = np.all(np.any(held[:, :, elements], axis=1), axis=1)
            made[:, ZERO] = held[:, :, ZERO].all(axis=1)
            made[:, NOTHING] = True
            possible.append(made)
    return possible


def _back(s: Statement, u: Universe, possible: list[Table], remain: dict[int, Table]) -> Limits:
    first = np.cumsum([0, *(node.size for node in s.nodes)]).tolist()
    can = np.concatenate(possible)
    may = np.ones_like(can)
    for n, holds in s.goals:
        rows = np.flatnonzero(holds != ANYTHING)
        may[first[n] + rows] &= np.eye(u.unknown, dtype=np.bool_)[u.number[holds[rows]]]
    clauses = Clauses(can[:0], np.zeros((0, len(can)), dtype=np.bool_))
    found = Limits(may, first, remain, {len(s.nodes): clauses})
    goals = {n for n, _ in s.goals}
    for n in reversed(range(len(s.nodes))):
        node, here = s.nodes[n], slice(first[n], first[n + 1])
        wanted = may[here] & can[here]
        telling = 2 * wanted.sum(axis=1) <= can[here].sum(axis=1)
        if n in goals:
            telling |= wanted.sum(axis=1) == 1
        rows = np.flatnonzero(telling & ~wanted[:, :FIRST].any(axis=1))
        clauses = _added(clauses, wanted[rows], np.eye(len(can), dtype=np.bool_)[first[n] + rows])
        clauses.places[...] &= _times(clauses.terms, can.T)
        _crowd(clauses, may, here)
        found.empty |= not clauses.places.any(axis=1).all()
        found.empty |= not _times(may[here] & can[here], can[:1].T | True).all()
        if found.empty:
            return found
        inputs = np.concatenate([*(possible[a] for a in node.of), _ends(u.unknown)])
        if node.gathers is not None and n in remain:
            remain[n] &= _viable(node.gathers, inputs, may[here])
            if not remain[n].any():
                found.empty = True
                return found
        found.clauses[n + 1] = clauses
        clauses = _before(u, node, n, clauses, may, first, remain.get(n))
    found.clauses[0] = clauses
    return found


def _added(clauses: Clauses, terms: Table, places: Table) -> Clauses:
    """More of them, equal ones once."""
    terms, places = np.concatenate([clauses.terms, terms]), np.concatenate([clauses.places, places])
    packed = np.packbits(np.hstack([terms, places]), axis=1)
    _, kept = np.unique(packed, axis=0, return_index=True)
    return Clauses(terms[np.sort(kept)], places[np.sort(kept)])


def _crowd(clauses: Clauses, may: Table, here: slice) -> None:
    """As many clauses of different terms as the places that they share: there is nothing else."""
    inside = np.flatnonzero(~np.delete(clauses.places, np.r_[here], axis=1).any(axis=1))
    for members in groups(clauses.places[inside]):
        places = clauses.places[inside[members[0]]]
        terms = clauses.terms[inside[members]]
        if len(members) == places.sum() and (terms.sum(axis=0) <= 1).all():
            may[places] &= terms.any(axis=0)


def groups(rows: Table) -> list[Ints]:
    """The numbers of equal rows, together."""
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(np.packbits(rows, axis=1)):
        groups.setdefault(row.tobytes(), []).append(number)
    return [np.array(g) for g in groups.values()]


def _viable(gathers: Gathers, inputs: Table, may: Table) -> Table:
    """Gathers that bring each location something that it may hold, and no place to two that cannot share
    it."""
    fits = _times(may, inputs.T)[np.arange(len(may))[:, None], gathers.source]
    good = np.ones((gathers.codes.shape[1], fits.shape[1]), dtype=np.bool_)
    np.logical_and.at(good, gathers.cell, fits)
    kept = np.ones(len(gathers), dtype=np.bool_)
    for cell in range(len(good)):
        kept &= good[cell][gathers.codes[:, cell]]
    left = np.flatnonzero(kept)
    packed, held = np.packbits(may, axis=1), np.packbits(inputs, axis=1)
    for number in left if left.size * len(may) <= MOST_COMPARED else left[:0]:
        row = gathers.reads(number, np.arange(len(may)))
        order = np.argsort(row, kind="stable")
        source = row[order]
        starts = np.flatnonzero(np.r_[True, source[1:] != source[:-1]])
        common = np.bitwise_and.reduceat(packed[order], starts, axis=0) & held[source[starts]]
        kept[number] = common.any(axis=1).all()
    return kept


def _always(gathers: Gathers, kept: Table | None) -> Table:
    """The places that every gather reads; none where that is too much to find out."""
    left = np.arange(1) if kept is None else np.flatnonzero(kept)
    always = np.ones(gathers.width, dtype=np.bool_)
    if left.size * len(gathers.cell) > MOST_COMPARED:
        return ~always
    for begin in range(0, len(left), 256):
        rows = gathers.rows(left[begin : begin + 256])
        there = np.zeros((len(rows), gathers.width + 2), dtype=np.bool_)
        there[np.arange(len(rows))[:, None], rows] = True
        always &= np.asarray(there[:, :-2].all(axis=0))
    return always


def _before(
    u: Universe,
    node: Node,
    n: int,
    clauses: Clauses,
    may: Table,
    first: list[int],
    kept: Table | None,
) -> Clauses:
    """What the clauses and `may` say before a node is computed."""
    here = slice(first[n], first[n + 1])
    mine = clauses.places[:, here]
    if node.holds is not None:
        return Clauses(clauses.terms[~mine.any(axis=1)], clauses.places[~mine.any(axis=1)])
    rest = clauses.places.copy()
    rest[:, here] = False
    if node.gathers is not None:
        reach = _reach(node.gathers, kept)[:, :-2]
        read = _times(mine, reach)
        allowed = _times(reach.T, may[here]) | ~_always(node.gathers, kept)[:, None]
        start = 0
        for a in node.of:
            where, end = slice(first[a], first[a + 1]), start + first[a + 1] - first[a]
            rest[:, where] |= read[:, start:end]
            may[where] &= allowed[start:end]
            start = end
        return _added(Clauses(clauses.terms[:0], rest[:0]), clauses.terms, rest)
    inside = np.zeros((u.unknown, u.unknown), dtype=np.bool_)
    inside[ZERO, ZERO] = inside[NOTHING] = True
    for term, elements in u.folds(node).items():
        inside[term, elements] = True
        inside[term, ZERO] = len(elements) < node.length
    (a,) = node.of
    may[first[a] : first[a + 1]] &= np.repeat(_times(may[here], inside), node.length, axis=0)
    touched, elsewhere = mine.any(axis=1), rest.any(axis=1)
    terms, places = [clauses.terms[~touched]], [rest[~touched]]
    inside[:, ZERO] = False
    for number in np.flatnonzero(touched & ~elsewhere):
        common = np.flatnonzero(inside[clauses.terms[number]].all(axis=0))
        terms.append(np.eye(u.unknown, dtype=np.bool_)[common])
        places.append(np.zeros((len(common), rest.shape[1]), dtype=np.bool_))
        places[-1][:, first[a] : first[a + 1]] = np.repeat(mine[number], node.length)
    return _added(
        Clauses(clauses.terms[:0], rest[:0]), np.concatenate(terms), np.concatenate(places)
    )

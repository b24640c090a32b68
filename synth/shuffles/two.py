"""One or two instructions for a register: all of them are tried, so that finding none is a proof. Of
two in a row those of one register or two, where others read more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import Fit, Form, fit, fitting
from hbc.synth.shuffles.route import route, wanted
from hbc.synth.shuffles.workshop import Workshop

Attempt = tuple[int | None, bool]  # the value; whether there is none for certain


def ready(shop: Workshop, row: Locations, basis: Sequence[int]) -> int | None:
    """A value of the basis that is the row already."""
    return next((value for value in basis if shop.holds(value, row)), None)


def labels_of(row: Locations) -> Locations:
    """The bytes that a row is made of."""
    return np.unique(row[row >= 0])


def tuples(shop: Workshop, row: Locations, basis: Sequence[int]) -> list[tuple[int, ...]]:
    """The operands that one instruction could make the row of: as few as hold all its bytes."""
    needed = labels_of(row)
    having = {value: np.isin(needed, shop.contents[value]) for value in basis}
    single: list[tuple[int, ...]] = [(value,) for value in basis if having[value].all()]
    if single or not needed.size:
        return single or [(basis[0],)]
    useful = [value for value in basis if having[value].any()]
    pairs: list[tuple[int, ...]] = [
        pair for pair in permutations(useful, 2) if (having[pair[0]] | having[pair[1]]).all()
    ]
    if pairs:
        return pairs
    for count in range(3, shop.machine.widest + 1):
        covers = _covers(having, np.ones(needed.size, dtype=np.bool_), count)
        wider = dict.fromkeys(tuple(sorted(some)) for some in covers)
        if wider:
            return [order for some in wider for order in permutations(some)]
    return []


def _covers(
    having: Mapping[int, NDArray[np.bool_]], left: NDArray[np.bool_], count: int
) -> Iterator[tuple[int, ...]]:
    """So many values at most that have together what is left."""
    if not left.any():
        yield ()
    elif count:
        first = int(left.argmax())
        for value, has in having.items():
            if has[first]:
                yield from ((value, *more) for more in _covers(having, left & ~has, count - 1))


def one(shop: Workshop, row: Locations, basis: Sequence[int]) -> int | None:
    """The value that a single instruction makes, by the first of the table that does."""
    for operands in tuples(shop, row, basis):
        best = best_fit(shop, row, operands)
        if best is not None:
            return shop.value(*best)
    return None


def best_fit(
    shop: Workshop, row: Locations, operands: tuple[int, ...]
) -> tuple[Fit, tuple[int, ...]] | None:
    """The instruction that makes the row of these operands, which all contribute."""
    machine = shop.machine
    local = shop.local(row, operands)
    if local is None:
        return None
    chosen = fitting(machine.table, len(operands), local)
    if chosen is not None:
        return chosen, operands
    for some in (operands * 2, operands) if len(operands) == 1 else (operands,):
        contents = np.concatenate([shop.contents[o] for o in some])
        chosen = machine.fitted(row, contents)
        if chosen is not None:
            return chosen, some
    return None


def two(shop: Workshop, row: Locations, basis: Sequence[int]) -> Attempt:
    """The value that two instructions make."""
    proof = shop.machine.widest <= 2
    for value, certain in _chains(shop, row, basis):
        if value is not None:
            return value, True
        proof = proof and certain
    return None, proof


def _chains(shop: Workshop, row: Locations, basis: Sequence[int]) -> Iterator[Attempt]:
    needed = labels_of(row)
    having = {value: np.isin(needed, shop.contents[value]) for value in basis}
    useful = [value for value in basis if having[value].any()] or list(basis[:1])
    operands = [(value,) for value in useful] + list(permutations(useful, 2))
    covered = {pair: np.any([having[value] for value in pair], axis=0) for pair in operands}
    # The later instruction reads what the earlier makes, and perhaps a value of the basis beside it.
    for inner in operands:
        if covered[inner].all():
            yield from _on(shop, row, inner, None, True)
    for beside in useful:
        for inner in operands:
            if (covered[inner] | having[beside]).all():
                yield from _on(shop, row, inner, beside, True)
                yield from _on(shop, row, inner, beside, False)


def _on(
    shop: Workshop, row: Locations, inner: tuple[int, ...], beside: int | None, first: bool
) -> Iterator[Attempt]:
    """All pairs of instructions: the earlier of the registers `inner`, the later of what it makes and of
    `beside`, as the first operand of both or the second."""
    machine, lanes = shop.machine, shop.machine.lanes
    machine.watch()
    count = 1 if beside is None else 2
    start = 0 if first else lanes
    available = None if beside is None else shop.contents[beside]
    contents = np.concatenate([shop.contents[value] for value in inner])
    # What the earlier one makes if it is fixed.
    early = machine.fixed[len(inner)]
    both = np.append(contents, [UNDEFINED, ZERO]).astype(np.int32)
    made = both[early.rows] if len(early.forms) else np.zeros((0, lanes), np.int32)
    for form in machine.choosing[count]:
        wants = wanted(form, row, start, available)
        if wants is None:
            continue
        for number in holding(made, labels_of(wants.units.reshape(-1))):
            middle = shop.value(early.fit(number), inner)
            yield _finished(shop, form, row, middle, beside, first), True
        for other in machine.choosing[len(inner)]:
            local = _located(wants.units, contents)
            if local is None:
                continue
            inside = type(wants)(local, wants.at, wants.loose)
            asked, certain = route(other, inside, lanes)
            if asked is None:
                yield None, certain
                continue
            earlier = fit(other, asked)
            if earlier is None:
                yield None, False
                continue
            middle = shop.value(earlier, inner)
            value = _finished(shop, form, row, middle, beside, first)
            yield value, False
    late = machine.fixed[count]
    for number, asked in _asked(late.rows, row, start, available, lanes):
        form = late.forms[number]
        if shop.holds(inner[0], asked) and len(inner) == 1:
            continue  # one instruction, which was tried
        local = shop.local(asked, inner)
        if local is None:
            continue
        earlier = fitting(machine.table, len(inner), local)
        if earlier is not None:
            middle = shop.value(earlier, inner)
            yield _finished(shop, form, row, middle, beside, first), True
    yield None, True


def _finished(
    shop: Workshop, form: Form, row: Locations, middle: int, beside: int | None, first: bool
) -> int | None:
    """The row made of the register between and what is beside it."""
    operands = (middle,) if beside is None else (middle, beside) if first else (beside, middle)
    contents = np.concatenate([shop.contents[o] for o in operands])
    later = shop.machine.chosen(form, row, contents)
    return None if later is None else shop.value(later, operands)


def holding(made: Locations, needed: Locations) -> NDArray[np.int64]:
    """The rows that have all those bytes."""
    if not len(made) or not needed.size:
        return np.zeros(0, dtype=np.int64)
    alive = np.arange(len(made))
    for label in needed:
        alive = alive[(made[alive] == label).any(axis=1)]
        if not alive.size:
            break
    return alive


def _located(units: Locations, contents: Locations) -> Locations | None:
    """Labels as locations in the operands; None where one is in none."""
    size = max(int(contents.max(initial=0)), int(units.max(initial=0))) + 3
    where = np.full(size, -3, dtype=np.int32)
    where[contents[::-1]] = np.arange(contents.size - 1, -1, -1, dtype=np.int32)
    where[ZERO], where[UNDEFINED] = ZERO, UNDEFINED
    locations = where[units].astype(np.int32)
    return None if (locations == -3).any() else locations


def _asked(
    rows: NDArray[np.int32], row: Locations, start: int, available: Locations | None, lanes: int
) -> Iterator[tuple[int, Locations]]:
    """For each fixed instruction that could make the row what it wants of the register between."""
    if not len(rows):
        return
    cared = row != UNDEFINED
    mine = (rows >= start) & (rows < start + lanes)
    fine = np.where(mine | ~cared, True, False)
    fine |= (rows == ZERO) & (row == ZERO)
    if available is not None:
        theirs = (rows >= 0) & ~mine
        place = np.where(theirs, rows - (lanes - start), 0) % lanes
        fine |= theirs & (available[place] == row)
    for number in np.flatnonzero(fine.all(axis=1)):
        asked = np.full(lanes, UNDEFINED, dtype=np.int32)
        here = mine[number] & cared
        asked[rows[number][here] - start] = row[here]
        if (asked[rows[number][here] - start] == row[here]).all():
            yield int(number), asked

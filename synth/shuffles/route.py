"""Routing: can one instruction put what another one reads where that one can reach it?

The later instruction says for each of its units which bytes it wants and where in the register between
them they may lie. The earlier one offers for each place what it can bring there. Units that want the same
share a place; the rest is a matching of what is wanted to places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import Form

Places = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """`units[n]`: the bytes, of which some may be UNDEFINED, that are wanted at one of the places `at[n]`,
    numbered in units of as many bytes. `loose`: some are, or places overlap, so that two might share a
    place that are taken for different ones here."""

    units: Locations
    at: Places
    loose: bool


def wanted(form: Form, row: Locations, first: int, available: Locations | None) -> Wanted | None:
    """What a form that makes the row wants of the register that its locations from `first` on are.
    `available`: for each location of the other operand what it holds. None where bytes can come from
    neither."""
    lanes = row.size
    per = form.per
    units = row.reshape(-1, per)
    left = (units != UNDEFINED).any(axis=1)
    if available is not None:
        start = lanes - first
        left &= ~_within(form, row, start, available)
    # A unit that is all zeros, or in part: only from the alternatives that make zeros themselves.
    zeros = (units == ZERO).any(axis=1) & left
    if zeros.any():
        own = (form.inverse[:, 1] >= 0).reshape(-1, per).all(axis=1)
        whole = ((units == ZERO) | (units == UNDEFINED)).all(axis=1)
        left &= ~(zeros & own & whole)
    numbers = np.flatnonzero(left)
    if not numbers.size:
        return Wanted(
            np.zeros((0, per), dtype=np.int32), np.zeros((0, lanes // per), np.bool_), False
        )
    reach = form.inverse[:, 2 + first : 2 + first + lanes]
    # at[n, t]: all bytes of unit n read bytes of unit t in their order, by one alternative.
    blocks = reach.reshape(lanes // per, per, lanes // per, per)
    straight = np.einsum("npqp->npq", blocks)
    cared = (units[numbers] != UNDEFINED)[:, :, None]
    chosen = straight[numbers]
    low = np.where(cared, chosen, np.iinfo(np.int32).max).min(axis=1)
    high = np.where(cared, chosen, -2).max(axis=1)
    at = (low == high) & (low >= 0)
    if not at.any(axis=1).all():
        return None
    merged, places = _merged(units[numbers], at)
    return Wanted(merged, places, bool((merged == UNDEFINED).any()) or _overlapping(places))


def _within(form: Form, row: Locations, start: int, available: Locations) -> Places:
    """The units that the other operand alone can fill."""
    lanes, per = row.size, form.per
    holds = row[:, None] == available[None, :]
    options = np.where(holds, form.inverse[:, 2 + start : 2 + start + lanes], -1)
    cared = row != UNDEFINED
    if per == 1:
        fine: Places = (options >= 0).any(axis=1) | ~cared
        return fine
    filled = np.zeros(lanes // per, dtype=np.bool_)
    for unit in range(lanes // per):
        part = options[unit * per : (unit + 1) * per]
        common: set[int] | None = None
        for byte in range(per):
            if cared[unit * per + byte]:
                here = {int(a) for a in part[byte] if a >= 0}
                common = here if common is None else common & here
        filled[unit] = common is None or bool(common)
    return filled


def _merged(units: Locations, at: Places) -> tuple[Locations, Places]:
    """Equal units with equal places once."""
    kept: dict[tuple[bytes, bytes], int] = {}
    for number in range(len(units)):
        kept.setdefault((units[number].tobytes(), at[number].tobytes()), number)
    numbers = list(kept.values())
    return units[numbers], at[numbers]


def _overlapping(at: Places) -> bool:
    """Whether two sets of places are neither equal nor disjoint."""
    distinct = np.unique(at, axis=0).astype(np.int32)
    return bool(((distinct @ distinct.T > 0) & ~np.eye(len(distinct), dtype=np.bool_)).any())


def route(form: Form, local: Wanted, lanes: int) -> tuple[Locations | None, bool]:
    """What the form has to make, so that all that is wanted lies at one of its places; units of `local` are
    locations in the form's operands. The second: whether None is a proof."""
    per = local.units.shape[1]
    size = max(per, form.per)
    options = _options(form, local, lanes)
    groups: dict[tuple[tuple[int, bytes], ...], list[int]] = {}
    for number, option in enumerate(options):
        if not option:
            return None, True
        groups.setdefault(tuple(sorted(option)), []).append(number)
    matched = match([dict(key) for key in groups], lanes // size)
    if matched is None:
        return None, not local.loose and _disjoint(groups)
    row = np.full(lanes, UNDEFINED, dtype=np.int32)
    for (key, members), slot in zip(groups.items(), matched, strict=True):
        assert members
        value = next(v for s, v in key if s == slot)
        part = np.frombuffer(value, dtype=np.int32)
        row[slot * size : (slot + 1) * size] = part
    return row, True


def _disjoint(groups: dict[tuple[tuple[int, bytes], ...], list[int]]) -> bool:
    """Whether no two groups could share a place."""
    seen: set[tuple[int, bytes]] = set()
    for key in groups:
        if seen & set(key):
            return False
        seen |= set(key)
    return True


def _options(form: Form, local: Wanted, lanes: int) -> list[list[tuple[int, bytes]]]:
    """For each unit the slots, of the larger of both sizes, and what they then hold."""
    per = local.units.shape[1]
    count = len(local.units)
    bytes_at = np.arange(lanes).reshape(-1, per)  # [place, byte]
    # alternative[n, place, byte]
    alternative = form.inverse[bytes_at[None], local.units[:, None, :] + 2]
    cared = np.broadcast_to((local.units != UNDEFINED)[:, None, :], alternative.shape)
    options: list[list[tuple[int, bytes]]] = [[] for _ in range(count)]
    if form.per <= per:
        groups = alternative.reshape(count, lanes // per, per // form.per, form.per)
        wants = cared.reshape(groups.shape)
    else:
        groups, wants = alternative[:, :, None, :], cared[:, :, None, :]
    low = np.where(wants, groups, np.iinfo(np.int32).max).min(axis=3)
    high = np.where(wants, groups, -2).max(axis=3)
    fine = ((high == -2) | ((low == high) & (low >= 0))).all(axis=2) & local.at
    for number, place in zip(*np.nonzero(fine), strict=True):
        if form.per <= per:
            options[number].append((int(place), local.units[number].tobytes()))
        else:
            slot = int(place) * per // form.per
            whole = _held(form, slot, int(low[number, place, 0]))
            options[number].append((slot, whole))
    return options


def _held(form: Form, slot: int, alternative: int) -> bytes:
    """What a unit of the form holds that takes an alternative."""
    hits = form.inverse[slot * form.per : (slot + 1) * form.per] == alternative
    reads = np.where(hits.any(axis=1), hits.argmax(axis=1) - 2, UNDEFINED)
    return reads.astype(np.int32).tobytes()


def match(options: Sequence[dict[int, bytes]], slots: int) -> list[int] | None:
    """A slot for each, no two the same: augmenting paths, own places first."""
    taken: list[int] = [-1] * slots

    def place(number: int, seen: set[int]) -> bool:
        for slot in options[number]:
            if taken[slot] < 0:
                taken[slot] = number
                return True
        for slot in options[number]:
            if slot not in seen:
                seen.add(slot)
                if place(taken[slot], seen):
                    taken[slot] = number
                    return True
        return False

    for number in sorted(range(len(options)), key=lambda n: len(options[n])):
        if not place(number, set()):
            return None
    slot_of = [-1] * len(options)
    for slot, number in enumerate(taken):
        if number >= 0:
            slot_of[number] = slot
    return slot_of

"""Registers of nibbles or bits, when no search has found them: bytes are moved whole, shifted, selected from.

Either bytes are brought to where their elements go once for each distance that these have to be shifted, or
all bytes that a word, double word or quad is made of are brought there once, and shifted within it; or bits
of the index are exchanged one pair after the other, each by as many shifts as are needed for one distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.register_program import Op, RegisterProgram, pruned
from hbc.synth.shuffles.choices import Choosing
from hbc.synth.shuffles.exchanges import exchanges
from hbc.synth.shuffles.row import Rows
from hbc.synth.shuffles.two import best_fit, one
from hbc.synth.shuffles.workshop import Workshop

BYTE_BITS = 8
MOST_SHIFTS = 2  # of one distance
MOST_MOVES = 4  # of whole bytes that are looked for: enough for any of one register
WITHIN = (2, 4, 8)  # bytes that are shifted as one
Part = tuple[
    Locations, Locations
]  # elements that are shifted alike, the whole bytes that hold them


def planned_below_bytes(
    machine: Choosing, sources: int, rows: Locations, check: Callable[[], None]
) -> RegisterProgram | None:
    """Register by register, at once or by exchanges of bits of the index. None where the machine has not what
    it takes."""
    whole = _planned(machine, sources, rows, check)
    if whole is None:
        return None
    ops, outputs, cost = list[Op](), list[int](), 0
    for row in rows:
        source = max(0, int(row[0])) // row.size
        steps = exchanges((row - source * row.size).astype(np.int32))
        value = source
        for step in steps or ():
            part = _planned(machine, 1, step[None], check)
            if part is None or cost >= whole.cost:
                return whole
            cost += part.cost
            here = [value, *range(sources + len(ops), sources + len(ops) + len(part.ops))]
            ops += [Op(op.fit, tuple(here[o] for o in op.operands)) for op in part.ops]
            value = here[part.outputs[0]]
        if steps is None:
            return whole
        outputs.append(value)
    exchanged = pruned(RegisterProgram(sources, tuple(ops), tuple(outputs)))
    return exchanged if exchanged.cost < whole.cost else whole


def _planned(
    machine: Choosing, sources: int, rows: Locations, check: Callable[[], None]
) -> RegisterProgram | None:
    alone = Rows(Workshop(replace(machine, watch=check), sources))
    byte = BYTE_BITS // machine.table.bits
    values: list[int] = []
    for row in rows:
        ways = [list(_apart(row, byte)), *(_together(row, byte, size * byte) for size in WITHIN)]
        made = [
            _made(alone, row, parts, tuple(range(sources))) for parts in ways if parts is not None
        ]
        found = [value for value in made if value is not None]
        if not found:
            return None
        values.append(min(found, key=alone.shop.cost))
    return pruned(alone.shop.program(values))


def _made(alone: Rows, row: Locations, parts: list[Part], basis: tuple[int, ...]) -> int | None:
    """The parts one after the other, each selected into those before."""
    shop = alone.shop
    value: int | None = None
    done = np.full(row.size, UNDEFINED, dtype=np.int32)
    for part, whole in parts:
        held = _bytes(alone, whole, basis)
        # What it takes counts what it is made of.
        shifted = None if held is None else alone.make(part, (held,), shop.cost(held) + MOST_SHIFTS)
        if shifted is None:
            return None
        done = np.where(part >= 0, part, done)
        value = shifted if value is None else _joined(shop, done, value, shifted)
        if value is None:
            return None
    if not (row == ZERO).any():
        return value
    return one(shop, row, basis[:1] if value is None else (value,))


def _bytes(alone: Rows, whole: Locations, basis: tuple[int, ...]) -> int | None:
    """Whole bytes, of several registers those of one after those of another."""
    value = alone.make(whole, basis, MOST_MOVES)
    if value is not None:
        return value
    done = np.full(whole.size, UNDEFINED, dtype=np.int32)
    for source in np.unique(whole[whole >= 0] // whole.size):
        mine = np.where(whole // whole.size == source, whole, UNDEFINED).astype(np.int32)
        held = alone.make(mine, basis, MOST_MOVES)
        if held is None:
            return None
        done = np.where(mine >= 0, mine, done)
        value = held if value is None else _joined(alone.shop, done, value, held)
        if value is None:
            return None
    return value


def _joined(shop: Workshop, row: Locations, first: int, other: int) -> int | None:
    """Of elements that each has where they are wanted, or both."""
    if shop.holds(other, row):
        return other
    found = best_fit(shop, row, (first, other))
    return None if found is None else shop.value(*found)


def _apart(row: Locations, byte: int) -> Iterator[Part]:
    """Of the elements that come equally far within their bytes, one byte for each place at a time."""
    far = np.arange(row.size) % byte - np.maximum(row, 0) % byte
    for distance in np.unique(far[row >= 0]):
        left = (row >= 0) & (far == distance)
        while left.any():
            part = np.full(row.size, UNDEFINED, dtype=np.int32)
            whole = part.copy()
            for start in range(0, row.size, byte):
                here = np.flatnonzero(left[start : start + byte]) + start
                if here.size:
                    first = int(row[here[0]]) // byte
                    same = here[row[here] // byte == first]
                    part[same] = row[same]
                    whole[start : start + byte] = np.arange(byte) + first * byte
                    left[same] = False
            yield part, whole


def _together(row: Locations, byte: int, unit: int) -> list[Part] | None:
    """All bytes of a unit in it, then a part for each distance; None where they are too many."""
    whole = np.full(row.size, UNDEFINED, dtype=np.int32)
    for start in range(0, row.size, unit):
        slots = _slots(row[start : start + unit], byte)
        if slots is None:
            return None
        for slot, held in slots.items():
            at = start + slot * byte
            whole[at : at + byte] = np.arange(byte) + held * byte
    ways = [_distances(row, whole, at, unit) for at in range(row.size)]
    often = Counter(distance for some in ways for distance in some)
    chosen = [min(some, key=lambda d: (d != 0, -often[d])) if some else None for some in ways]
    return [
        (
            np.array(
                [r if c == d else UNDEFINED for r, c in zip(row, chosen, strict=True)], np.int32
            ),
            whole,
        )
        for d in sorted({c for c in chosen if c is not None}, key=abs)
    ]


def _distances(row: Locations, whole: Locations, at: int, unit: int) -> list[int]:
    """How far up the element at a place may come from within its unit."""
    if row[at] < 0:
        return []
    start = at // unit * unit
    return [
        at - start - int(place) for place in np.flatnonzero(whole[start : start + unit] == row[at])
    ]


def _slots(wanted: Locations, byte: int) -> dict[int, int] | None:
    """Which byte of the sources lies in which byte of a unit: where most of its elements stay, as far as
    that is free; what is left over holds a second one where that is of use."""
    count = wanted.size // byte
    stays: Counter[tuple[int, int]] = Counter()
    for place, location in enumerate(wanted.tolist()):
        if location >= 0:
            stays[place // byte, location // byte] += 1 + byte * (place % byte == location % byte)
    needed = dict.fromkeys(held for _, held in stays)
    if len(needed) > count:
        return None
    slots: dict[int, int] = {}
    for (slot, held), _ in stays.most_common():
        if slot not in slots and held in needed and len(needed) <= count - len(slots):
            slots[slot] = held
            del needed[held]
    free = [slot for slot in range(count) if slot not in slots]
    for slot, held in zip(free, needed, strict=False):
        slots[slot] = held
    for (slot, held), _ in stays.most_common():
        slots.setdefault(slot, held)
    return slots

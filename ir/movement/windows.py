"""Which whole registers are loaded or stored for elements that lie apart: their places, two ways.

    lane i of load c is element 3 * i + c   ->   registers of adjacent elements, one after the other; or
                                                 in each 128-bit block what this block of the results wants

The first takes the fewest loads, the second shuffles within blocks alone, which is fewer instructions
where registers have several. Nothing outside of the stretch between the first and the last element
of a row of memory is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.ir.ground.record import record
from hbc.ir.movement.chain import Movement, Row, coarse, parts, renumbered

BLOCK = 128  # bits within which most instructions move
Place = tuple[int, int]
"""An element of memory: a row (by a number) and where it lies in that."""
Span = tuple[int, int]
"""The first and last element of a row that may be touched."""


@record
class Plan:
    """Registers (`sources`), each of runs of `run` adjacent elements by their first ones, and rows of those.
    Of a store, the registers that are stored, and what they are of the vectors."""

    run: int
    sources: tuple[tuple[Place, ...], ...]
    rows: tuple[Row, ...]

    @property
    def accesses(self) -> int:
        """Loads or stores, one for each run."""
        return sum(map(len, self.sources))


@record
class Part:
    """A part of a plan by itself: `sources` and `outputs` by their numbers in it."""

    sources: tuple[int, ...]
    outputs: tuple[int, ...]
    movement: Movement


def spans(vectors: Sequence[Sequence[Place]]) -> dict[int, Span]:
    """Of each row what the vectors touch, and all between."""
    found: dict[int, Span] = {}
    for row, at in (place for vector in vectors for place in vector):
        low, high = found.get(row, (at, at))
        found[row] = min(low, at), max(high, at)
    return found


def adjacent(
    vectors: Sequence[Sequence[Place]], inside: Mapping[int, Span], size: int | None = None
) -> Plan | None:
    """Registers of `size` adjacent elements, as many as the vectors have lanes if it is not said. The last of
    a row begins earlier where it would reach too far."""
    lanes = size or len(vectors[0])
    starts: dict[int, list[int]] = {}
    for row, (low, high) in inside.items():
        if high - low + 1 < lanes:
            return None
        starts[row] = [min(at, high - lanes + 1) for at in range(low, high + 1, lanes)]
    places = [(row, at) for row, own in starts.items() for at in own]
    number = {place: n for n, place in enumerate(places)}

    def unit(row: int, at: int) -> int:
        start = next(s for s in starts[row] if s <= at < s + lanes)
        return number[row, start] * lanes + at - start

    rows = [tuple(unit(*place) for place in vector) for vector in vectors]
    return _used(Plan(lanes, tuple((p,) for p in places), tuple(rows)), lanes)


def in_blocks(
    vectors: Sequence[Sequence[Place]], bits: int, inside: Mapping[int, Span]
) -> Plan | None:
    """Registers that have, in each block, runs of elements that this block of the vectors wants."""
    lanes, run = len(vectors[0]), BLOCK // bits
    if any(high - low + 1 < run for low, high in inside.values()):
        return None

    def start(place: Place) -> Place:
        low, high = inside[place[0]]
        return place[0], min(low + (place[1] - low) // run * run, high - run + 1)

    wanted: list[list[Place]] = []
    for block in range(0, lanes, run):
        ordered = (start(p) for vector in vectors for p in vector[block : block + run])
        wanted.append(sorted(dict.fromkeys(ordered)))
    if len({len(w) for w in wanted}) != 1:
        return None
    number = [{place: n for n, place in enumerate(own)} for own in wanted]
    rows = []
    for vector in vectors:
        row = []
        for lane, place in enumerate(vector):
            block, first = lane // run, start(place)
            row.append(number[block][first] * lanes + block * run + place[1] - first[1])
        rows.append(tuple(row))
    return Plan(run, tuple(zip(*wanted, strict=True)), tuple(rows))


def _used(plan: Plan, lanes: int) -> Plan:
    """Without registers of which nothing is wanted."""
    used = sorted({u // lanes for row in plan.rows for u in row})
    rows = tuple(renumbered(row, used, lanes) for row in plan.rows)
    return Plan(plan.run, tuple(plan.sources[n] for n in used), rows)


def touched(plan: Plan) -> set[Place]:
    """The elements that are loaded."""
    return {(row, at + i) for own in plan.sources for row, at in own for i in range(plan.run)}


def separate(plan: Plan, bits: int) -> list[Part]:
    """The parts of a plan that share no register, each as a movement of its own."""
    lanes = len(plan.rows[0])
    found = []
    for some, members in parts(plan.rows, lanes):
        rows = tuple(renumbered(plan.rows[n], some, lanes) for n in members)
        found.append(Part(tuple(some), tuple(members), Movement(bits, lanes, len(some), rows)))
    return found


def asked(plan: Plan, bits: int) -> list[Movement]:
    """What a library must know for the plan."""
    return [coarse(part.movement) for part in separate(plan, bits)]


def inverted(vectors: Sequence[Sequence[Place]], bits: int) -> list[Plan]:
    """The plans of stores: the vectors are the sources, what is adjacent in memory the results. None where
    they do not fill whole registers of every row, each place once."""
    lanes = len(vectors[0])
    unit = {p: n * lanes + lane for n, v in enumerate(vectors) for lane, p in enumerate(v)}
    inside = spans(vectors)
    if len(unit) != len(vectors) * lanes:
        return []
    found = []
    for plan in (_filled(inside, lanes, lanes), _block_filled(inside, lanes, BLOCK // bits)):
        if plan is None or any(p not in unit for own in plan for p in _elements(own, lanes)):
            continue
        rows = tuple(tuple(unit[p] for p in _elements(own, lanes)) for own in plan)
        if sum(map(len, rows)) == len(unit):
            found.append(Plan(lanes // len(plan[0]), tuple(plan), rows))
    return found


def _elements(starts: Sequence[Place], lanes: int) -> list[Place]:
    run = lanes // len(starts)
    return [(row, at + i) for row, at in starts for i in range(run)]


def _filled(inside: Mapping[int, Span], lanes: int, run: int) -> list[tuple[Place, ...]] | None:
    """Registers of adjacent elements."""
    if any((high - low + 1) % run for low, high in inside.values()):
        return None
    return [((row, at),) for row, (low, high) in inside.items() for at in range(low, high, run)]


def _block_filled(
    inside: Mapping[int, Span], lanes: int, run: int
) -> list[tuple[Place, ...]] | None:
    """Registers of one block from each of so many equal parts of what is written."""
    places = _filled(inside, lanes, run)
    blocks = lanes // run
    if places is None or blocks < 2 or len(places) % blocks:
        return None
    ordered = [place for own in places for place in own]
    part = len(ordered) // blocks
    return [tuple(ordered[b * part + n] for b in range(blocks)) for n in range(part)]

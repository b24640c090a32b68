"""Transpositions of memory in registers: runs of 16 bytes are loaded, and 32-bit words exchanged.

    P[ramp(p, 1, 256)] = B.f32x256[ramp(ramp(b, s, 16), x16(1), 16)]      16 rows of 16

takes, for every 4 registers of the result, 4 registers of 4 runs each, from 16 rows. Word c of every
run belongs to result c: two rounds of interleaving in 128-bit blocks bring the words together, and one
shuffle inside of each register does the rest, where elements are shorter than words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType, Memory
from hbc.ir.lang.walk import block
from hbc.ir.vectors.lane_rows import Row
from hbc.ir.vectors.take import Picks, constants

RUN, WORD = 128, 32  # bits
WORDS = RUN // WORD  # of a run, and so the registers of a group
Place = tuple[int, int]  # a row, and a run or word of it


@record
class Group:
    """`loads`: which lanes of the statement each of the four loaded registers holds. `parts`: which
    parts of the statement come of words 0, 1, 2 and 3. `orders`: how a register with those words, in
    the order of the loads, becomes the part."""

    loads: tuple[Picks, ...]
    parts: tuple[int, ...]
    orders: tuple[Picks, ...]


@record
class _Part:
    """A register of the result, made of word `column` of each of some runs."""

    number: int
    column: int
    runs: tuple[Place, ...]  # in the order of their first lanes
    elements: tuple[tuple[Place, int], ...]  # for each lane its run, and which element of the word


def transpositions(rows: Sequence[Row], parts: Sequence[Picks], bits: int) -> list[Group]:
    """The groups of parts (lanes of a statement, each as long as a register) that are made of the words
    of the same runs. `rows` are those of the statement's load, `bits` those of an element."""
    if bits > WORD or any(not _is_whole(row, RUN // bits) for row in rows):
        return []
    place = {
        lane: (r, offset - min(row.offsets))
        for r, row in enumerate(rows)
        for lane, offset in zip(row.lanes, row.offsets, strict=True)
    }
    lane_at = {at: lane for lane, at in place.items()}
    by_runs: dict[frozenset[Place], dict[int, _Part]] = {}
    for number, part in enumerate(parts):
        if (placed := _part(number, [place[lane] for lane in part], bits)) is not None:
            by_runs.setdefault(frozenset(placed.runs), {}).setdefault(placed.column, placed)
    return [
        _group([columns[c] for c in range(WORDS)], lane_at, bits)
        for columns in by_runs.values()
        if len(columns) == WORDS
    ]


def _is_whole(row: Row, run: int) -> bool:
    """Whether the row is adjacent elements, each of them one lane, in whole runs."""
    low, count = min(row.offsets), len(row.offsets)
    return count % run == 0 and sorted(row.offsets) == list(range(low, low + count))


def _part(number: int, places: list[Place], bits: int) -> _Part | None:
    """A register's lanes, if they are one and the same word of several runs."""
    word, run = WORD // bits, RUN // bits
    columns = {offset % run // word for _, offset in places}
    runs = tuple(dict.fromkeys((r, offset // run) for r, offset in places))
    if len(columns) != 1 or len(runs) % WORDS or len(runs) * word != len(places):
        return None
    elements = tuple(((r, offset // run), offset % word) for r, offset in places)
    return _Part(number, columns.pop(), runs, elements)


def _group(parts: list[_Part], lane_at: dict[Place, int], bits: int) -> Group:
    """Run number n goes to block n / 4 of load n % 4, so that interleaving restores the order."""
    runs, word, run = parts[0].runs, WORD // bits, RUN // bits
    loads = tuple(
        tuple(
            lane_at[runs[n][0], runs[n][1] * run + i]
            for n in range(load, len(runs), WORDS)
            for i in range(run)
        )
        for load in range(WORDS)
    )
    number = {at: n for n, at in enumerate(runs)}
    orders = tuple(tuple(number[at] * word + i for at, i in part.elements) for part in parts)
    return Group(loads, tuple(p.number for p in parts), orders)


def _interleaved(lanes: int, bits: int, high: bool, unit: int) -> Picks:
    """Lanes of two registers, the second numbered on from the first: in each 128-bit block the units
    (of so many bits) of the low or high half of the one, alternating with those of the other."""
    run, step = RUN // bits, unit // bits
    half = range(run // 2, run, step) if high else range(0, run // 2, step)
    return tuple(
        block + at + side + i
        for block in range(0, lanes, run)
        for at in half
        for side in (0, lanes)
        for i in range(step)
    )


def transposed(
    group: Group, element: DType, made: int, load: Callable[[Picks], ir.Expr],
    store: Callable[[int, ir.Expr], ir.Stmt],
) -> ir.Stmt:  # fmt: skip
    """The statements for a group. `load` gives lanes of the statement's value, `store` stores a part.
    `made` is a number for the names of the buffers."""
    lanes = len(group.orders[0])
    rows, pairs, words = (f"{what}.{made}" for what in ("rows", "pairs", "words"))
    filled = [_set(rows, n, load(picks)) for n, picks in enumerate(group.loads)]
    # Words 0 and 1 of all runs are in the first two pairs, 2 and 3 in the others.
    mixed = [_mix(rows, pairs, element, lanes, n, 2 * (n % 2), n >= 2, WORD) for n in range(WORDS)]
    sorted_ = [
        _mix(pairs, words, element, lanes, n, n // 2 * 2, n % 2 == 1, 2 * WORD)
        for n in range(WORDS)
    ]
    stored = [
        store(part, ir.Load(words, constants(tuple(n * lanes + i for i in order)), element(lanes)))
        for n, (part, order) in enumerate(zip(group.parts, group.orders, strict=True))
    ]
    result = block(*filled, *mixed, *sorted_, *stored)
    for buffer in (words, pairs, rows):
        extent = ir.const_index(WORDS * lanes)
        result = ir.Allocate(buffer, element, extent, Memory.REGISTER, result)
    return result


def _mix(
    source: str, target: str, t: DType, lanes: int, n: int, first: int, high: bool, unit: int
) -> ir.Stmt:
    """Register n of `target` from two of `source`."""
    picks = _interleaved(lanes, t.bits, high, unit)
    return _set(
        target, n, ir.Load(source, constants(tuple(first * lanes + i for i in picks)), t(lanes))
    )


def _set(buffer: str, n: int, value: ir.Expr) -> ir.Stmt:
    lanes = value.type.lanes
    return ir.Store(buffer, ir.Ramp(ir.const_index(n * lanes), ir.const_index(1), lanes), value)

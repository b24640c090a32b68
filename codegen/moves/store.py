"""Stores of an output by the threads that hold its elements, each where it belongs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.moves.columns import Column, InRegisters, expression, padded
from hbc.codegen.moves.lane_formula import condition
from hbc.codegen.moves.view import View
from hbc.codegen.moves.warp import Thread, column, registers_of
from hbc.ir.moves.gather import Locations


def store(thread: Thread, view: View, pointer: str, size: int, wanted: NDArray[np.bool_]) -> None:
    """Each lane stores what it holds; the rest is stored in order, by as many lanes as there are."""
    group = thread.group
    left = wanted.copy()
    for locations in _own(thread, view, left):
        there = locations >= 0
        left[locations[there]] = False
        _store_column(thread, column(thread, view, locations), locations, pointer)
    rest = np.flatnonzero(left)
    for start in range(0, rest.size, group.lanes):
        part = rest[start : start + group.lanes]
        locations = np.full(group.lanes, -1, dtype=np.int32)
        locations[: part.size] = part
        reads = column(thread, view, locations)
        names = registers_of(thread, f"{pointer}_{start}", [reads], thread.fold.number("0"))
        _store_text(thread, names[0] or thread.fold.number("0"), locations, pointer)


def _own(thread: Thread, view: View, left: NDArray[np.bool_]) -> list[Locations]:
    """Rounds of stores, [lane] -> location or -1, of elements that lie in the lane's own registers: in each
    round every lane stores from the same register."""
    group = thread.group
    everything = column(thread, view, np.arange(left.size, dtype=np.int32))
    rounds: dict[tuple[int, int, int], Locations] = {}
    seen: dict[tuple[int, int, int], int] = {}
    for location in np.flatnonzero(left):
        number, place = int(everything.array[location]), int(everything.place[location])
        held = group.held[number] if number >= 0 else None
        if not isinstance(held, InRegisters):
            continue
        lane, register = int(held.lane[place]), int(held.register[place])
        turn = seen.get((number, register, lane), 0)
        seen[number, register, lane] = turn + 1
        locations = rounds.setdefault(
            (number, register, turn), np.full(group.lanes, -1, dtype=np.int32)
        )
        locations[lane] = location
    return list(rounds.values())


def _store_column(thread: Thread, reads: Column, locations: Locations, pointer: str) -> None:
    text = expression(thread.group, reads, thread.fold.number("0"), pointer)
    assert text is not None
    _store_text(thread, text, locations, pointer)


def _store_text(thread: Thread, text: str, locations: Locations, pointer: str) -> None:
    group = thread.group
    there = locations >= 0
    address = group.of_lane(np.maximum(locations, 0), there)
    test = condition(padded(group, there), np.arange(group.threads) < group.lanes)
    both = (
        "active"
        if test == "true"
        else f"active && {test if '&' not in test and '|' not in test else f'({test})'}"
    )
    group.out.line(f"if ({both})")
    group.out.depth += 1
    group.out.line(f"{pointer}[{address}] = {text};")
    group.out.depth -= 1

"""Columns of which some lanes keep their own and others receive: one shuffle for several of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hbc.codegen.moves.columns import (
    Column,
    Group,
    InMemory,
    expression,
    padded,
    selected,
    shuffled,
    where,
)
from hbc.codegen.moves.lane_formula import condition
from hbc.ir.moves.gather import ZERO
from hbc.ir.moves.shared_shuffles import SharedShuffle, shared_shuffles


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Shuffles for columns by their numbers; `names`: the registers that `sent` numbers."""

    shuffles: Sequence[SharedShuffle]
    names: Sequence[str]


def shared(group: Group, columns: Sequence[Column]) -> Shared:
    """What columns of registers can share; nothing for groups of more than a warp."""
    lane = np.tile(np.arange(group.lanes)[:, None], (1, len(columns)))
    register = np.full(lane.shape, -2)
    names: list[str] = []
    for number, column in enumerate(columns):
        if not group.width or _other(group, column):
            continue
        there, own, of_column = where(group, column)
        names += [name for name in of_column if name not in names]
        numbers = np.array([names.index(name) for name in of_column] or [0])
        lane[:, number] = there
        register[:, number] = np.where(column.array >= 0, numbers[own], column.array)
    return Shared(shared_shuffles(lane, register), names)


def _other(group: Group, column: Column) -> bool:
    """Whether it reads memory, or nothing at all."""
    read = np.unique(column.array[column.array >= 0])
    return not read.size or any(isinstance(group.held[n], InMemory) for n in read)


def received(
    group: Group, columns: Sequence[Column], shuffles: Shared, base: str
) -> dict[int, str]:
    """Prints the shuffles. The expressions of the columns that they serve, by number."""
    texts: dict[int, str] = {}
    for shuffle in shuffles.shuffles:
        first = f"{base}_{shuffle.registers[0]}"
        value = selected(group, np.maximum(shuffle.sent, 0), shuffle.sent >= 0, shuffles.names)
        if "?" in value:
            value = group.named(value, f"{first}_sent")
        there = group.of_lane(np.maximum(shuffle.sender, 0), shuffle.sender >= 0)
        got = group.named(shuffled(group, value, there), f"{first}_received")
        for number, lanes in zip(shuffle.registers, shuffle.receivers, strict=True):
            column = columns[number]
            cared = column.array >= ZERO
            own = expression(group, column.only(cared & ~lanes), "0", first)
            test = condition(padded(group, lanes), padded(group, cared))
            kept = own if own and " " not in own else f"({own})"
            texts[number] = f"{test} ? {got} : {kept}"
    return texts

"""Columns: what every lane of a group of threads needs at one point, as an expression in CUDA C++.

A column is at best a register, or a load; else a select of registers by the lane, a shuffle, or both.
Lanes that hold nothing do whatever the others do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.moves.lane_formula import closed, condition, formula
from hbc.codegen.text.names import Scope
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.record import mutable, record
from hbc.ir.moves.gather import ZERO

Numbers = NDArray[np.int64]
Lanes = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)
FULL = "0xffffffffu"


@record
class InMemory:
    """An array behind a pointer, the same for all lanes."""

    pointer: str


@record
class InRegisters:
    """An array whose elements lie in registers: `lane` and `register` say where each is; `names` are
    those of the registers, None for one that holds nothing."""

    lane: Numbers
    register: Numbers
    names: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """For each lane the number of the array it reads, or ZERO or UNDEFINED, and the place in it."""

    array: Numbers
    place: Numbers

    def only(self, kept: Lanes) -> Column:
        """The others hold nothing."""
        return Column(np.where(kept, self.array, -2), self.place)


@mutable
class Group:
    """The function of a group of `lanes` threads while it is printed; `width` is the power of two that
    shuffles work in, 0 where the group is more than a warp. `cast` is what an element must become to be
    shuffled."""

    element: str
    lanes: int
    width: int
    scope: Scope
    cast: str = ""
    out: Writer = field(default_factory=Writer)
    held: list[InMemory | InRegisters] = field(default_factory=list)
    tables: dict[tuple[int, ...], str] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        """With those that only take part in shuffles."""
        return self.width or -(-self.lanes // 32) * 32

    def named(self, text: str, name: str) -> str:
        """A variable for an expression, the one there is for an equal one."""
        if text not in self.made:
            self.made[text] = self.scope.fresh(name)
            self.out.line(f"const {self.element} {self.made[text]} = {text};")
        return self.made[text]

    def of_lane(self, values: Numbers, cared: Lanes) -> str:
        """An integer for each lane that holds something: a formula, or a table."""
        values, cared = padded(self, values), padded(self, cared)
        if (expression := formula(values, cared)) is not None:
            return expression
        key = tuple(int(v) if c else 0 for v, c in zip(values, cared, strict=True))
        table = self.tables.setdefault(key, f"table{len(self.tables)}")
        return f"{table}[lane]"


def expression(group: Group, column: Column, zero: str, name: str) -> str | None:
    """What a column is; `zero` where it says ZERO. None when no lane holds anything. What it needs is
    printed first, as variables that begin with `name`."""
    cared = column.array >= ZERO
    parts = _parts(group, column)
    if not parts:
        return zero if cared.any() else None
    text: str | None = None
    for kept in parts:
        value = _part(group, column.only(kept), name)
        if text is None:
            text = value
            so_far = kept
        else:
            test = condition(padded(group, kept), padded(group, kept | so_far))
            text = f"{test} ? {_operand(value)} : {_operand(text)}"
            so_far = so_far | kept
    assert text is not None
    zeros = column.array == ZERO
    if zeros.any():
        test = condition(padded(group, zeros), padded(group, cared))
        text = f"{test} ? {zero} : {_operand(text)}"
    return text


def _parts(group: Group, column: Column) -> list[Lanes]:
    """The lanes that read registers, and those that read each array in memory."""
    in_registers = np.zeros(column.array.size, dtype=np.bool_)
    parts: list[Lanes] = []
    for number in np.unique(column.array[column.array >= 0]):
        lanes = column.array == number
        if isinstance(group.held[number], InRegisters):
            in_registers |= lanes
        else:
            parts.append(lanes)
    return [in_registers, *parts] if in_registers.any() else parts


def _part(group: Group, column: Column, name: str) -> str:
    """All lanes read registers, or all read the same array in memory."""
    cared = column.array >= 0
    first = group.held[column.array[cared][0]]
    if isinstance(first, InMemory):
        address = group.of_lane(column.place, cared)
        load = f"{first.pointer}[{address}]"
        # The formula may lead anywhere in lanes that need nothing.
        constant = (column.place[cared] == column.place[cared][0]).all()
        if cared.all() or constant:
            return load
        return f"{condition(padded(group, cared), held_lanes(group))} ? {load} : {group.element}(0)"
    lane, register, names = where(group, column)
    own = np.arange(column.array.size)
    if (lane[cared] == own[cared]).all():
        return selected(group, register, cared, names)
    return _received(group, lane, register, cared, names, name)


def where(group: Group, column: Column) -> tuple[Numbers, Numbers, list[str]]:
    """Which lane and register each lane reads; registers are numbers of the list of names."""
    lane = np.zeros(column.array.size, dtype=np.int64)
    register = np.zeros(column.array.size, dtype=np.int64)
    names: list[str] = []
    for number in np.unique(column.array[column.array >= 0]):
        held = group.held[number]
        assert isinstance(held, InRegisters)
        read = column.array == number
        places = column.place[read]
        lane[read] = held.lane[places]
        for at in np.unique(held.register[places]):
            text = held.names[at] or "0"
            if text not in names:
                names.append(text)
            register[np.flatnonzero(read)[held.register[places] == at]] = names.index(text)
    return lane, register, names


def selected(group: Group, register: Numbers, cared: Lanes, names: Sequence[str]) -> str:
    """One of several registers, by the lane."""
    numbers = [int(n) for n in np.unique(register[cared])]
    if len(numbers) == 1:
        return names[numbers[0]]
    if len(numbers) == 2:
        second = condition(padded(group, register == numbers[1]), padded(group, cared))
        return f"{second} ? {names[numbers[1]]} : {names[numbers[0]]}"
    number = formula(padded(group, register), padded(group, cared))
    text = names[numbers[-1]]
    rest = cared
    chain: list[tuple[str, str]] = []
    for n in numbers[:-1]:
        here = register == n
        if number is not None:
            chain.append((f"{closed(number)} == {n}", names[n]))
        else:
            chain.append((condition(padded(group, here & rest), padded(group, rest)), names[n]))
            rest = rest & ~here
    for test, value in reversed(chain):
        text = f"{test} ? {value} : {_operand(text) if '?' not in text else text}"
    return text


def _received(
    group: Group, lane: Numbers, register: Numbers, cared: Lanes, names: Sequence[str], name: str
) -> str:
    """By one shuffle of what each lane selects, if no lane is asked for two registers; else by one for
    each register, of which the receivers select."""
    sent = np.full(lane.size, -1)
    sent[lane[cared]] = register[cared]
    source = group.of_lane(lane, cared)
    if (sent[lane[cared]] == register[cared]).all():
        value = selected(group, np.maximum(sent, 0), sent >= 0, names)
        if "?" in value:
            value = group.named(value, f"{name}_sent")
        return shuffled(group, value, source)
    received: list[str] = []
    for number, value in enumerate(names):
        if not (cared & (register == number)).any():
            received.append(value)
            continue
        mine = (lane == np.arange(lane.size)) | ~cared | (register != number)
        if mine.all():
            received.append(value)
        else:
            received.append(group.named(shuffled(group, value, source), f"{name}_{value}"))
    return selected(group, register, cared, received)


def shuffled(group: Group, value: str, source: str) -> str:
    """What the lane `source`, a formula of the lane, has of a value."""
    assert group.width
    if source.endswith(f" & {group.width - 1}"):  # shuffles do that themselves
        source = source.removesuffix(f" & {group.width - 1}").removeprefix("(").removesuffix(")")
    width = "" if group.width == 32 else f", {group.width}"
    butterfly = source.startswith("lane ^ ")
    function = "__shfl_xor_sync" if butterfly else "__shfl_sync"
    source = source.removeprefix("lane ^ ")
    if not group.cast:
        return f"{function}({FULL}, {value}, {source}{width})"
    return f"({group.element}){function}({FULL}, ({group.cast}){value}, {source}{width})"


def held_lanes(group: Group) -> Lanes:
    """The lanes that hold something, among all threads."""
    return np.arange(group.threads) < group.lanes


def padded(group: Group, values: NDArray[Scalar]) -> NDArray[Scalar]:
    """With the threads that take part without holding anything."""
    return np.concatenate([values, np.zeros(group.threads - values.size, dtype=values.dtype)])


def _operand(text: str) -> str:
    """In parentheses unless it is one name, number or call."""
    return (
        text if " " not in text or (text.endswith(")") and text.startswith("__")) else f"({text})"
    )

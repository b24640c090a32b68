"""A movement as statements of one thread: loads, renamings, selects, shuffles, shared memory, folds.

Known gathers are merged into what reads them. A move goes through shared memory where that takes fewer
instructions, and happens while loading where that touches little more memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.moves.columns import Column, Group, InMemory, InRegisters, expression
from hbc.codegen.moves.element import Element
from hbc.codegen.moves.exchange import exchanged, price, sectors
from hbc.codegen.moves.shared_shuffles import received, shared
from hbc.codegen.moves.view import View, composed
from hbc.ir.ground.record import mutable
from hbc.ir.moves.gather import UNDEFINED, Gather, Locations, Shape, identity
from hbc.ir.moves.movement import Folded, Moved

Numbers = NDArray[np.int64]


@mutable
class Thread:
    """What one thread does, while it is printed. `number`: of a held array in the group's list."""

    group: Group
    axes: int
    shapes: Mapping[str, Shape]
    fold: Element
    number: dict[str, int] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    alone: frozenset[str] = frozenset()  # loaded arrays that one move reads and nothing else
    waiting: dict[str, View] = field(default_factory=dict)  # those not loaded yet
    shared: int = 0  # elements of shared memory, of the group

    def hold(self, name: str, held: InMemory | InRegisters) -> None:
        self.number[name] = len(self.group.held)
        self.group.held.append(held)
        self.views[name] = View((name,), identity((prod(self.shapes[name]),)))

    def size(self, name: str) -> int:
        return prod(self.shapes[name])


def lanes_of(shape: Shape, axes: int) -> int:
    return prod(shape[:axes]) if axes > 0 else shape[-1]


def placed(shape: Shape, axes: int) -> tuple[Numbers, Numbers]:
    """The lane and the register of every location."""
    location = np.arange(prod(shape))
    lanes = lanes_of(shape, axes)
    if axes > 0:
        registers = location.size // lanes
        return location // registers, location % registers
    return location % lanes, location // lanes


def print_step(thread: Thread, step: Moved | Folded) -> None:
    """The statements of one step; what it makes is then held, or seen as a view."""
    match step:
        case Moved(hole=False):
            _known(thread, step)
        case Moved(name, arguments, gather, _, formula):
            first, *others = formula.split("; then ")
            first = first.replace("a[", f"{arguments[0]}[")
            text = "; then ".join([first, *(other.replace("a[", "that[") for other in others)])
            if arguments[0] in thread.waiting:
                view = composed(thread.views, thread.size, arguments, gather)
                if _moves_while_loading(thread, step, view):
                    text += f", while loading {arguments[0]}"
                else:
                    _load(thread, arguments[0])
            start = len(thread.group.out.lines)
            view = composed(thread.views, thread.size, arguments, gather)
            _hold(thread, name, _make(thread, name, view), start, text)
            _remember(thread, name, view)
        case Folded(name, argument, shape, length, operation):
            start = len(thread.group.out.lines)
            names = _folded(thread, name, thread.views[argument], shape, length, operation)
            _hold(thread, name, names, start, f"fold({operation}), {length} elements each")


def _known(thread: Thread, step: Moved) -> None:
    """A gather that the sketch gives: merged into what reads it, or a load."""
    view = composed(thread.views, thread.size, step.arguments, step.gather)
    memory = all(isinstance(thread.group.held[thread.number[a]], InMemory) for a in view.arrays)
    thread.views[step.name] = view
    if memory and lanes_of(step.shape, thread.axes) == thread.group.lanes:
        thread.waiting[step.name] = view
        if step.name not in thread.alone:
            _load(thread, step.name)


def _load(thread: Thread, name: str) -> None:
    view = thread.waiting.pop(name)
    start = len(thread.group.out.lines)
    _hold(thread, name, _make(thread, name, view), start, "as it is loaded")
    _remember(thread, name, view)


def _moves_while_loading(thread: Thread, step: Moved, view: View) -> bool:
    """Whether that touches not much more memory than plain loads, for the moves it saves."""
    (loaded,) = step.arguments
    base = thread.waiting[loaded]
    plain = columns_of(thread, base, thread.shapes[loaded])
    lane, register = placed(thread.shapes[loaded], thread.axes)
    trial = replace(
        thread.group, held=[InRegisters(lane, register, _numbers(int(register.max()) + 1))]
    )
    moves = replace(thread, group=trial, number={loaded: 0})
    inside = View((loaded,), step.gather)
    saved = price(trial, columns_of(moves, inside, step.shape)).instructions
    more = sectors(columns_of(thread, view, step.shape)) - sectors(plain)
    return more < saved


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _hold(thread: Thread, name: str, names: tuple[str | None, ...], start: int, text: str) -> None:
    """The array is in registers from now on; a comment comes before the lines printed for it."""
    lines = thread.group.out.lines
    printed = lines[start:]
    del lines[start:]
    thread.group.out.blank()
    thread.group.out.comment(f"{name} = {text}{'' if printed else ': names only'}")
    lines += printed
    lane, register = placed(thread.shapes[name], thread.axes)
    thread.hold(name, InRegisters(lane, register, names))


def _remember(thread: Thread, name: str, made_of: View) -> None:
    """Which elements are zeros, or nothing: their registers hold anything."""
    index = made_of.gather.index
    known = np.where(index >= 0, np.arange(index.size), index).astype(np.int32)
    thread.views[name] = View((name,), Gather(((index.size,),), thread.shapes[name], known))


def column(thread: Thread, view: View, locations: Locations) -> Column:
    """What each lane reads, for one location of the view's output for each; -2 for lanes without."""
    ends = np.cumsum([thread.size(a) for a in view.arrays])
    numbers = np.array([thread.number[a] for a in view.arrays])
    index = np.where(locations >= 0, view.gather.index[np.maximum(locations, 0)], UNDEFINED)
    which = np.searchsorted(ends, index, side="right")
    inside = index >= 0
    which = np.where(inside, which, 0)
    starts = np.concatenate([[0], ends[:-1]])
    array = np.where(inside, numbers[which], index)
    return Column(array.astype(np.int64), np.where(inside, index - starts[which], 0))


def columns_of(thread: Thread, view: View, shape: Shape) -> list[Column]:
    """One for each register of an array."""
    lane, register = placed(shape, thread.axes)
    made = []
    for number in range(int(register.max(initial=-1)) + 1):
        locations = np.full(thread.group.lanes, -1)
        here = register == number
        locations[lane[here]] = np.flatnonzero(here)
        made.append(column(thread, view, locations))
    return made


def _make(thread: Thread, name: str, view: View) -> tuple[str | None, ...]:
    """The names of the registers of an array. Nobody looks at its zeros."""
    return registers_of(thread, name, columns_of(thread, view, thread.shapes[name]), None)


def registers_of(
    thread: Thread, name: str, columns: Sequence[Column], zero: str | None
) -> tuple[str | None, ...]:
    """Names for what the columns hold; lanes that want zeros get `zero`, or anything."""
    group = thread.group
    if zero is None:
        columns = [c.only(c.array >= 0) for c in columns]
    if price(group, columns).shared_is_better:
        columns, words = exchanged(group, columns, thread.shared)
        thread.shared += words
    names: list[str | None] = []
    base = _identifier(name)
    together = received(group, columns, shared(group, columns), base)
    for number, wanted in enumerate(columns):
        register = base if len(columns) == 1 else f"{base}_{number}"
        text = together.get(number) or expression(group, wanted, zero or "0", register)
        plain = text is None or re.fullmatch(r"\w+", text) is not None
        names.append(text if plain else group.named(str(text), register))
    return tuple(names)


def _folded(
    thread: Thread, name: str, view: View, shape: Shape, length: int, operation: str
) -> tuple[str | None, ...]:
    """Element after element of each group, combined."""
    lane, register = placed(shape, thread.axes)
    count = int(register.max(initial=-1)) + 1
    totals: list[str | None] = [None] * count
    neutral = thread.fold.neutral(operation)
    base = _identifier(name)
    terms: list[list[str]] = [[] for _ in range(count)]
    for element in range(length):
        columns = []
        for number in range(count):
            locations = np.full(thread.group.lanes, -1)
            here = register == number
            locations[lane[here]] = np.flatnonzero(here) * length + element
            columns.append(column(thread, view, locations))
        values = registers_of(thread, f"{base}_{element}", columns, neutral)
        for number, value in enumerate(values):
            if value is not None and not (columns[number].array < 0).all():
                terms[number].append(value)
    for number, values_ in enumerate(terms):
        text = values_[0] if values_ else neutral
        for value in values_[1:]:
            text = thread.fold.combined(operation, text, value)
        register_name = base if count == 1 else f"{base}_{number}"
        totals[number] = thread.group.named(text, register_name)
    return tuple(totals)


def _identifier(name: str) -> str:
    return name.replace(".", "_")

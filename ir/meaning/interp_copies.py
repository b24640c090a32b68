"""Asynchronous copies and products in the interpreter: what they give arrives when it is waited for, and no
sooner. What products read must still be there then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from hbc.ir.ground.record import mutable, record
from hbc.ir.meaning.interp_buffers import UNINITIALISED, Buffer, InterpError
from hbc.ir.meaning.numpy_types import Array

_GARBAGE = 0xA5  # what each byte is meanwhile


@record
class _Copy:
    to: Buffer
    at: Array
    value: Array


@mutable
class Copies:
    """Those under way: not yet of a group, and by group, oldest first."""

    begun: list[_Copy] = field(default_factory=list)
    groups: list[list[_Copy]] = field(default_factory=list)

    def begin(self, to: Buffer, at: Any, value: Any, mask: Any = None) -> None:
        """One or more lanes. InterpError where they do not fit; until they land, nobody may read them."""
        at, value = np.atleast_1d(at), np.atleast_1d(value)
        if mask is not None:
            at, value = at[mask], value[mask]
        garbage = np.full(value.nbytes, _GARBAGE, np.uint8).view(value.dtype)
        to.store_lanes(at, garbage)
        to.states[at] = UNINITIALISED
        self.begun.append(_Copy(to, at, value))

    def commit(self) -> None:
        """The copies begun so far are a group."""
        self.groups.append(self.begun)
        self.begun = []

    def wait(self, most: int) -> None:
        """All groups land but for so many, the latest."""
        while len(self.groups) > most:
            for copy in self.groups.pop(0):
                copy.to.store_lanes(copy.at, copy.value)


@mutable
class Signals:
    """What groups of copies land at: by slot the copies of its turns, and how many of these have landed."""

    name: str
    count: int
    turns: dict[int, list[Copies]] = field(default_factory=dict)
    landed: dict[int, int] = field(default_factory=dict)
    begun: Copies = field(default_factory=Copies)

    @staticmethod
    def at_once(*given: Any) -> None:
        """A copy that is waited for."""
        signals = Signals("", 1)
        signals.begin(0)
        signals.copy(*given)
        signals.wait(0, 0)

    def begin(self, slot: int) -> None:
        """The copies from here on are those of the slot's next turn. InterpError while its last is under
        way."""
        if not 0 <= slot < self.count:
            raise InterpError(f"`{self.name}` has no slot {slot}")
        turns = self.turns.setdefault(slot, [])
        if len(turns) > self.landed.get(slot, 0):
            raise InterpError(
                f"slot {slot} of `{self.name}` has a turn before its last one is over"
            )
        self.begun = Copies()
        turns.append(self.begun)

    def copy(
        self, to: Buffer, start: int, source: Buffer, at: Sequence[int], extents: Sequence[int],
        strides: Sequence[int], box: Sequence[int],
    ) -> None:  # fmt: skip
        """A box of an array of these extents and strides; zeros beyond it."""
        place, inside = np.zeros(tuple(box), np.int64), np.ones(tuple(box), bool)
        for d, n in enumerate(box):
            along = (at[d] + np.arange(n)).reshape([-1 if d == e else 1 for e in range(len(box))])
            place = place + along * strides[d]
            inside = inside & (along >= 0) & (along < extents[d])
        value = source.load_masked(place.ravel(), inside.ravel())
        self.begun.begin(to, start + np.arange(value.size), value)

    def wait(self, slot: int, turn: int) -> None:
        """The copies of that turn, and of those before, land. InterpError where it has not begun."""
        turns = self.turns.get(slot, [])
        if turn >= len(turns):
            raise InterpError(
                f"a wait for turn {turn} of slot {slot} of `{self.name}`, which nobody begins"
            )
        for copies in turns[self.landed.get(slot, 0) : turn + 1]:
            copies.commit()
            copies.wait(0)
        self.landed[slot] = max(self.landed.get(slot, 0), turn + 1)


Read = tuple[Buffer, Array, Array]
"""A buffer, places in it and what a product found there."""


@record
class _Product:
    to: Buffer
    at: Array
    value: Array
    read: tuple[Read, ...]


@mutable
class Products:
    """Those under way, as copies of their results. `fenced`: whether a fence stands before the next one of
    a group."""

    results: Copies = field(default_factory=Copies)
    begun: list[_Product] = field(default_factory=list)
    groups: list[list[_Product]] = field(default_factory=list)
    fenced: bool = False

    def fence(self) -> None:
        """What was done to the sums before is in order with the products that begin now."""
        self.fenced = True

    def value(self, sums: Buffer, at: Array) -> Array:
        """What is there, or what the latest product that is under way will have made of it."""
        for p in reversed([p for group in (*self.groups, self.begun) for p in group]):
            if p.to is sums and np.array_equal(p.at, at):
                return p.value
        return sums.load_lanes(at)

    def begin(self, to: Buffer, at: Array, value: Array, read: Sequence[Read]) -> None:
        """Until it lands, nobody may read the result. InterpError without a fence before its group."""
        if not self.fenced:
            raise InterpError(f"a product for `{to.name}` begins without a fence of registers")
        self.begun.append(_Product(to, at, value, tuple(read)))
        self.results.begin(to, at, value)

    def commit(self) -> None:
        """The products begun so far are a group."""
        self.groups.append(self.begun)
        self.begun, self.fenced = [], False
        self.results.commit()

    def wait(self, most: int) -> None:
        """All groups land but for so many, the latest. InterpError where what they read has changed."""
        while len(self.groups) > most:
            for p in self.groups.pop(0):
                for buffer, at, found in p.read:
                    if buffer.data[at].tobytes() != found.tobytes():
                        raise InterpError(f"`{buffer.name}` has changed while a product reads it")
        self.results.wait(most)
        for p in (p for group in self.groups for p in group):
            p.to.states[p.at] = (
                UNINITIALISED  # sums that a later product goes on with are not there yet
            )

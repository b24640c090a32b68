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

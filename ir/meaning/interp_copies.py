"""Asynchronous copies in the interpreter: what they copy arrives when it is waited for, and no sooner."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from hbc.ir.ground.record import mutable, record
from hbc.ir.meaning.interp_buffers import UNINITIALISED, Buffer
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

"""The memory of the interpreter: flat buffers that know which of their elements may be touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hbc.ir.ground.counted import counted
from hbc.ir.meaning.interp_lanes import Offsets
from hbc.ir.meaning.numpy_types import Array

UNINITIALISED, INITIALISED, GAP = 0, 1, 2
"""States of an element. A gap lies between the rows of a strided argument: nobody may touch it."""


class InterpError(Exception):
    """The kernel failed a check, or did what no kernel may do; the message says which."""


@dataclass(slots=True, eq=False)
class Buffer:
    """`data[i]` is element i, `state[i]` says whether it may be read. `strict` makes reading an
    uninitialised element an error; otherwise it gives the poison that lies there."""

    name: str
    data: Array
    state: bytearray
    states: Array  # the same bytes as `state`
    writable: bool
    strict: bool

    def load(self, at: int) -> Any:
        """Element `at` as Python's int or bool, or as a NumPy float."""
        if not 0 <= at < len(self.state) or self.state[at] != INITIALISED:
            self._refuse_load(at)
        return self.data[at]

    def load_item(self, at: int) -> Any:
        """As `load`, for integers and bools: a Python object."""
        if not 0 <= at < len(self.state) or self.state[at] != INITIALISED:
            self._refuse_load(at)
        return self.data.item(at)

    def load_lanes(self, at: Array) -> Array:
        """The elements at the offsets `at`."""
        if len(at) and at.view(np.uint64).max() >= len(self.state):  # below 0 is beyond all
            self._refuse_offset("load", at)
        if self.states[at].tobytes().count(INITIALISED) != len(at):
            for lane in at:
                self.load(int(lane))
        return self.data[at]

    def load_offsets(self, base: int, o: Offsets) -> Array:
        """As `load_lanes` at base + o, which is looked at as a whole."""
        first, end = base + o.low, base + o.high + 1
        if first < 0 or end > len(self.state):
            return self.load_lanes(base + o.lanes)
        if self.state.count(INITIALISED, first, end) != end - first:
            return self.load_lanes(base + o.lanes)
        return self.data[first:end].copy() if o.adjacent else self.data[base + o.lanes]

    def load_masked(self, at: Array, mask: Array) -> Array:
        """As `load_lanes` where the mask holds, 0 elsewhere."""
        result = np.zeros(len(at), self.data.dtype)
        result[mask] = self.load_lanes(at[mask])
        return result

    def store(self, at: int, value: Any) -> None:
        """Writes one element."""
        if not 0 <= at < len(self.state) or self.state[at] == GAP or not self.writable:
            self._refuse_store(at)
        self.data[at] = value
        self.state[at] = INITIALISED

    def store_lanes(self, at: Array, value: Array, mask: Array | None = None) -> None:
        """Writes the lanes in order (the last of two to one place stays), where the mask holds."""
        if mask is not None:
            at, value = at[mask], value[mask]
        if len(at) == 0:
            return
        if at.min() < 0 or at.max() >= len(self.state) or not self.writable:
            self._refuse_offset("store", at)
        if (self.states[at] == GAP).any():
            self._refuse_store(int(at[self.states[at] == GAP][0]))
        self.data[at] = value
        self.states[at] = INITIALISED

    def store_offsets(self, base: int, o: Offsets, value: Array) -> None:
        """As `store_lanes` at base + o."""
        first, end = base + o.low, base + o.high + 1
        whole = o.adjacent and self.writable and first >= 0 and end <= len(self.state)
        if not whole or self.state.count(GAP, first, end):
            self.store_lanes(base + o.lanes, value)
            return
        self.data[first:end] = value
        self.states[first:end] = INITIALISED

    def update_lanes(
        self, at: Array, value: Array, mask: Array | None, meaning: Callable[[Array, Array], Array]
    ) -> None:
        """Combines the lanes with what is there, one after the other: several may be of one place."""
        if mask is not None:
            at, value = at[mask], value[mask]
        for place, term in zip(at, value, strict=True):
            self.store(int(place), meaning(self.load(int(place)), term))

    def _refuse_load(self, at: int) -> None:
        if not 0 <= at < len(self.state):
            raise InterpError(self._outside("load", at))
        if self.state[at] == GAP:
            raise InterpError(f"load of `{self.name}` at offset {at}, between two rows")
        if self.strict:
            raise InterpError(f"load of `{self.name}` at offset {at}, which was never stored")

    def _refuse_store(self, at: int) -> None:
        if not self.writable:
            raise InterpError(f"store to `{self.name}`, which is an input or a table")
        if not 0 <= at < len(self.state):
            raise InterpError(self._outside("store", at))
        raise InterpError(f"store to `{self.name}` at offset {at}, between two rows")

    def _refuse_offset(self, what: str, at: Array) -> None:
        outside = at[(at < 0) | (at >= len(self.state))]
        if what == "store" and not self.writable:
            self._refuse_store(0)
        raise InterpError(self._outside(what, int(outside[0])))

    def _outside(self, what: str, at: int) -> str:
        whose = "load of" if what == "load" else "store to"
        return f"{whose} `{self.name}` at offset {at}, outside its {counted(len(self.state), 'element')}"


def allocated(name: str, element_data: Array, strict: bool) -> Buffer:
    """A fresh buffer over memory that nothing was stored to."""
    state = bytearray(len(element_data))
    return Buffer(name, element_data, state, np.frombuffer(state, np.uint8), True, strict)


def constant(name: str, data: Array) -> Buffer:
    """A buffer that may only be read, all of it: a table, or what `evaluate` is given."""
    state = bytearray([INITIALISED]) * data.size
    return Buffer(name, data, state, np.frombuffer(state, np.uint8), False, True)


def holding(name: str, data: Array) -> Buffer:
    """A buffer that may be stored to, and all of which was."""
    state = bytearray([INITIALISED]) * data.size
    return Buffer(name, data, state, np.frombuffer(state, np.uint8), True, True)


def argument(name: str, array: Array, output: bool, strict: bool, empty: bool) -> Buffer:
    """The memory of an array, from its first element to its last; other memory cannot be reached. `empty`:
    nothing was stored there yet.
    Raises InterpError where no argument can be passed so: see `element_strides`."""
    strides = element_strides(name, array)
    if array.size == 0:
        return allocated(name, np.zeros(0, array.dtype), strict)
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
    # As unsigned integers: NumPy has no text for f8e5m2 by which arrays are passed on.
    bits = array.view(f"u{array.itemsize}")
    flat = np.lib.stride_tricks.as_strided(bits, (span,), (array.itemsize,)).view(array.dtype)
    state = bytearray([GAP]) * span
    states = np.frombuffer(state, np.uint8)
    inside = np.lib.stride_tricks.as_strided(states, array.shape, strides)
    inside[...] = UNINITIALISED if empty else INITIALISED
    return Buffer(name, flat, state, states, output, strict)


def has_gap(array: Array, dim: int) -> bool:
    """Whether what the next dimension reaches does not follow each other along this one."""
    follows = array.strides[dim + 1] * array.shape[dim + 1]
    return bool(array.shape[dim] != 1 and array.strides[dim] != follows)


def element_strides(name: str, array: Array) -> tuple[int, ...]:
    """Strides in elements. InterpError when the last is not 1, or one is negative or no multiple of
    the element size. An empty array has those of a contiguous one."""
    if array.size == 0:
        array = np.empty(tuple(max(n, 1) for n in array.shape), array.dtype)
    strides = []
    for extent, stride in zip(array.shape, array.strides, strict=True):
        if extent > 1 and (stride < 0 or stride % array.itemsize):
            raise InterpError(f"`{name}` has a stride of {counted(stride, 'byte')}")
        strides.append(max(stride, 0) // array.itemsize)
    if array.shape[-1] > 1 and strides[-1] != 1:
        raise InterpError(
            f"`{name}` has a last stride of {counted(strides[-1], 'element')} instead of 1"
        )
    return tuple(strides)

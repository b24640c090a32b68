"""Where the elements of an array are: lane and register, as the parameters of a sketch say.

`lane_axes = 1`, the default, counts threads along the first axis, 2 along the first two; -1 has the
lanes of vector registers along the last. The other axes count registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import Gather, Shape
from hbc.ir.moves.sketch import RESERVED, Option

DEFAULT_BITS = 32

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A gather between registers. [lane, register] of the output: the lane and the register that are
    read, registers numbered over all arguments; -1 in both where the output is 0, -2 where nothing."""

    lane: Numbers
    register: Numbers

    @property
    def lanes(self) -> int:
        return int(self.lane.shape[0])


def lane_axes(constants: Mapping[str, Option]) -> int:
    """The reserved parameter `lane_axes`; the frontend has checked it."""
    value = constants.get("lane_axes", 1)
    assert value in RESERVED["lane_axes"] and isinstance(value, int)
    return value


def element_bits(constants: Mapping[str, Option]) -> int:
    """The reserved parameter `bits`: how wide an element is; the frontend has checked it."""
    value = constants.get("bits", DEFAULT_BITS)
    assert value in RESERVED["bits"] and isinstance(value, int)
    return value


def lanes_of(shape: Shape, axes: int) -> int:
    """How many lanes an array has."""
    return prod(shape[:axes]) if axes > 0 else prod(shape[-1:])


def lane_and_register(shape: Shape, axes: int) -> tuple[Numbers, Numbers]:
    """Of every location, in row-major order."""
    location = np.arange(prod(shape))
    lanes = lanes_of(shape, axes)
    registers = max(1, location.size // max(1, lanes))
    if axes > 0:
        return location // registers, location % registers
    return location % lanes, location // lanes


def place(gather: Gather, axes: int) -> Placed | None:
    """None where the arguments have other lanes than the output: the array is seen in another way."""
    lanes = lanes_of(gather.output, axes)
    if any(lanes_of(shape, axes) != lanes for shape in gather.inputs):
        return None
    parts = [lane_and_register(shape, axes) for shape in gather.inputs]
    firsts = np.cumsum([0, *(prod(shape) // lanes for shape in gather.inputs)])
    ends = np.array([-2, -1])  # which UNDEFINED and ZERO reach from the end
    lane = np.concatenate([*(lane for lane, _ in parts), ends])
    register = np.concatenate([*(r + f for (_, r), f in zip(parts, firsts, strict=False)), ends])
    index = gather.index.reshape(lanes, -1) if axes > 0 else gather.index.reshape(-1, lanes).T
    return Placed(lane[index], register[index])

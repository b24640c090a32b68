"""Movements: a completed sketch as straight-line moves and folds, which code is printed from.

Arrays are row-major. Where an array has no value, or the identity of folds, is known before anything
runs; `resolved` moves that knowledge into the gathers, so that nobody looks at such elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.record import record
from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather, Locations, Shape, followed
from hbc.ir.moves.goal_check import GoalCheck

VALUE = 0  # what `contents` says of an element that is neither ZERO nor UNDEFINED

Array = NDArray[Any]


@record
class Input:
    """An array in memory: an argument of the function."""

    name: str
    shape: Shape


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """`gather` applied to the arguments behind each other. `hole`: it was chosen, and `formula` says
    what it is; otherwise the sketch gives it, and printers may merge it into what reads it. `stages`: those
    that were found, where `gather` is several of one argument after each other."""

    name: str
    arguments: tuple[str, ...]
    gather: Gather
    hole: bool = False
    formula: str = ""
    stages: tuple[Gather, ...] = ()

    @property
    def shape(self) -> Shape:
        return self.gather.output


@record
class Folded:
    """Element l is `operation` (as sketches write it: + * min max & | ^) over the elements from
    `l * length` on, `length` of them."""

    name: str
    argument: str
    shape: Shape
    length: int
    operation: str


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """An array to be stored. Elements that are not `wanted` may be anything."""

    name: str
    wanted: NDArray[np.bool_]


Made = Moved | Folded


@dataclass(frozen=True, slots=True, eq=False)
class Movement:
    """Arguments come before what reads them; everything reaches an output. A function of it takes the
    inputs in this order, then the outputs in theirs. Threads are counted along the first `lane_axes`
    axes; -1: lanes of vector registers along the last. `check`: the goals, where they are known."""

    name: str
    inputs: tuple[Input, ...]
    steps: tuple[Made, ...]
    outputs: tuple[Output, ...]
    lane_axes: int = 1
    check: GoalCheck | None = None

    def shapes(self) -> dict[str, Shape]:
        return {made.name: made.shape for made in (*self.inputs, *self.steps)}


# operation -> the elementwise function, and the number that leaves the other operand as it is for a
# type with the least and greatest values given.
FUNCTIONS: Mapping[str, Any] = {
    "+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip


def contents(movement: Movement) -> dict[str, Locations]:
    """For each array what is known of its elements: VALUE, ZERO or UNDEFINED."""
    elements: dict[str, Locations] = {}
    for given in movement.inputs:
        elements[given.name] = np.full(prod(given.shape), VALUE, dtype=np.int32)
    for step in movement.steps:
        match step:
            case Moved(name, arguments, gather):
                source = np.concatenate([*(elements[a] for a in arguments), [UNDEFINED, ZERO]])
                elements[name] = source[gather.index].astype(np.int32)
            case Folded(name, argument, _, length):
                groups = elements[argument].reshape(-1, length)
                made = np.where((groups == ZERO).all(axis=1), ZERO, VALUE)
                elements[name] = np.where(
                    (groups == UNDEFINED).any(axis=1), UNDEFINED, made
                ).astype(np.int32)
    return elements


def resolved(movement: Movement) -> Movement:
    """Gathers say ZERO and UNDEFINED themselves instead of reading an element that is."""
    known = contents(movement)
    steps: list[Made] = []
    for step in movement.steps:
        if isinstance(step, Moved):
            source = np.concatenate([known[a] for a in step.arguments])
            index = step.gather.index
            read = source[np.maximum(index, 0)]
            index = np.where((index >= 0) & (read != VALUE), read, index).astype(np.int32)
            gather = Gather(step.gather.inputs, step.gather.output, index)
            steps.append(replace(step, gather=gather))
        else:
            steps.append(step)
    return replace(movement, steps=tuple(steps))


def pruned(movement: Movement) -> Movement:
    """Elements that reach no output's wanted ones are UNDEFINED, and steps without any other are left
    out. Of a movement that is `resolved`."""
    live = {
        name: np.zeros(prod(shape), dtype=np.bool_) for name, shape in movement.shapes().items()
    }
    for output in movement.outputs:
        live[output.name] |= output.wanted
    kept: list[Made] = []
    for step in reversed(movement.steps):
        alive = live[step.name]
        if isinstance(step, Folded):
            live[step.argument] |= np.repeat(alive, step.length)
            kept.append(step)
            continue
        index = np.where(alive, step.gather.index, UNDEFINED).astype(np.int32)
        sizes = [live[argument].size for argument in step.arguments]
        read = np.zeros(sum(sizes), dtype=np.bool_)
        read[index[index >= 0]] = True
        parts = np.split(read, np.cumsum(sizes)[:-1])
        for argument, part in zip(step.arguments, parts, strict=True):
            live[argument] |= part
        kept.append(replace(step, gather=Gather(step.gather.inputs, step.gather.output, index)))
    wanted = {output.name for output in movement.outputs}
    steps = tuple(step for step in kept[::-1] if live[step.name].any() or step.name in wanted)
    return replace(movement, steps=steps)


def identity_of(operation: str, dtype: np.dtype[Any]) -> Any:
    """The number that ZERO stands for in a fold."""
    if operation in ("+", "|", "^"):
        return dtype.type(0)
    if operation == "*":
        return dtype.type(1)
    if operation == "&":
        return ~dtype.type(0)
    if dtype.kind == "f":
        return dtype.type(np.inf if operation == "min" else -np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if operation == "min" else limits.min)


def evaluate(movement: Movement, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs for these inputs, by NumPy, integers wrapping. ZERO is the number 0 in an output;
    UNDEFINED too, where it may be anything."""
    known = contents(movement)
    values = {given.name: np.asarray(inputs[given.name]).reshape(-1) for given in movement.inputs}
    for step in movement.steps:
        match step:
            case Moved(name, arguments, gather):
                source = np.concatenate([values[a] for a in arguments])
                taken = source[np.maximum(gather.index, 0)]
                values[name] = np.where(known[name] == VALUE, taken, source.dtype.type(0))
            case Folded(name, argument, _, length, operation):
                groups = values[argument].reshape(-1, length)
                empty = (known[argument] == ZERO).reshape(-1, length)
                filled = np.where(empty, identity_of(operation, groups.dtype), groups)
                folded = FUNCTIONS[operation].reduce(filled, axis=1, dtype=groups.dtype)
                values[name] = np.where(known[name] == VALUE, folded, groups.dtype.type(0))
    shapes = movement.shapes()
    return {o.name: values[o.name].reshape(shapes[o.name]) for o in movement.outputs}


def c_name(name: str) -> str:
    """An identifier for an array; names inside of blocks have dots."""
    return name.replace(".", "_")


def as_gather(movement: Movement) -> Gather | None:
    """What it moves from all inputs, behind each other, to all outputs; None where it folds."""
    shapes = {given.name: given.shape for given in movement.inputs}
    start = np.cumsum([0, *(prod(shape) for shape in shapes.values())])
    locations: dict[str, Locations] = {
        name: np.arange(begin, begin + prod(shape), dtype=np.int32)
        for (name, shape), begin in zip(shapes.items(), start[:-1], strict=True)
    }
    for step in movement.steps:
        if isinstance(step, Folded):
            return None
        inner = np.concatenate([locations[a] for a in step.arguments])
        locations[step.name] = followed(step.gather.index, inner).astype(np.int32)
    index = np.concatenate([locations[output.name] for output in movement.outputs])
    return Gather(((int(start[-1]),),), (index.size,), index)

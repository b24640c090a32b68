"""Prints a movement as CUDA C++: a device function for a group of threads, a kernel that runs it on many
groups' data, a launcher, and a `main` that compares with the goals.

A group has a thread for each lane. Up to 32 lanes are a warp or a part of one that is a power of two;
threads beyond the lanes do what the last lane does, without storing. More lanes are a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.moves.columns import Group, InMemory, InRegisters, expression
from hbc.codegen.moves.cuda_file import CudaFile, Result, file_text
from hbc.codegen.moves.element import Element, reserved
from hbc.codegen.moves.store import store
from hbc.codegen.moves.warp import Thread, columns_of, lanes_of, print_step
from hbc.codegen.text.names import Scope, check_sketch_name, identifier
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.lang.types import DType
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.movement import Folded, Moved, Movement, pruned, resolved

BLOCK = 256  # threads of a block, where a group is no more than a warp
MOST_LANES = 1024
SHARED_BYTES = 48 << 10


def emit_cuda(
    movement: Movement, dtype: DType, table: InstructionTable | None = None,
    notes: Sequence[str] = (),
) -> str:  # fmt: skip
    """The `.cu` file. HbcError for operations that the elements do not have, and for more lanes or shared
    memory than a block may have."""
    assert table is None
    check_sketch_name(movement.name)
    movement = pruned(resolved(movement))
    shapes = movement.shapes()
    made = [s for s in movement.steps if isinstance(s, Folded) or s.hole] or list(movement.steps)
    lanes = max(lanes_of(step.shape, movement.lane_axes) for step in made)
    if lanes > MOST_LANES:
        raise HbcError(
            Diagnostic(f"{lanes} lanes are more than the threads of a block, {MOST_LANES}")
        )
    width = 1 << (lanes - 1).bit_length() if lanes <= 32 else 0
    element = Element(dtype)
    group = Group(element.type, lanes, width, Scope(), element.cast)
    group.scope.reserve(
        movement.name, "lane", "active", "shared", "groups", "group", "in_block", "mine", "thread",
        *reserved(), *(f"table{n}" for n in range(100)),
    )  # fmt: skip
    thread = Thread(group, movement.lane_axes, shapes, element, alone=_alone(movement))
    inputs = []
    for given in movement.inputs:
        pointer = group.scope.fresh(identifier(given.name))
        thread.hold(given.name, InMemory(pointer))
        inputs.append((pointer, prod(given.shape)))
    group.out.depth = 1
    for step in movement.steps:
        print_step(thread, step)
    results = tuple(_result(thread, output.name, output.wanted) for output in movement.outputs)
    groups = _groups(group, thread.shared, element)
    file = CudaFile(movement.name, element, group, tuple(inputs), results, thread.shared, groups)
    return file_text(file, movement, notes)


def _alone(movement: Movement) -> frozenset[str]:
    """Arrays that one hole alone reads, and nothing else does."""
    wanted = {output.name for output in movement.outputs}
    once: dict[str, bool] = {}
    for step in movement.steps:
        arguments = step.arguments if isinstance(step, Moved) else (step.argument,)
        sole = isinstance(step, Moved) and step.hole and len(arguments) == 1
        for argument in arguments:
            once[argument] = sole and argument not in once
    return frozenset(name for name, sole in once.items() if sole and name not in wanted)


def _groups(group: Group, shared: int, element: Element) -> int:
    """How many groups a block has."""
    size = shared * element.dtype.bytes
    if size > SHARED_BYTES:
        raise HbcError(
            Diagnostic(
                f"the moves need {size} bytes of shared memory, and a block has {SHARED_BYTES}"
            )
        )
    groups = max(1, BLOCK // group.threads)
    while groups * size > SHARED_BYTES:
        groups //= 2
    return groups


def _result(thread: Thread, name: str, wanted: NDArray[np.bool_]) -> Result:
    """Returns or stores an output."""
    group, size = thread.group, thread.size(name)
    pointer = group.scope.fresh(identifier(name.removesuffix(".copy")))
    view = thread.views[name]
    held = group.held[thread.number[name]] if name in thread.number else None
    shape = thread.shapes[name]
    if (
        isinstance(held, InRegisters)
        and lanes_of(shape, thread.axes) == group.lanes > 0 < thread.axes
    ):
        group.out.blank()
        columns = columns_of(thread, view, shape)
        for number, wanted_column in enumerate(columns):
            text = expression(group, wanted_column, thread.fold.number("0"), pointer)
            if text is not None:
                group.out.line(f"{pointer}[{number}] = {text};")
        return Result(pointer, size, len(columns))
    group.out.blank()
    group.out.comment(f"{name} is stored")
    store(thread, view, pointer, size, wanted)
    return Result(pointer, size, 0)

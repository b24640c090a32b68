"""Prints a movement as CUDA C++: a device function for a group of threads, a kernel that runs it on many
groups' data, a launcher, and a `main` that compares with the goals.

A group has a thread for each lane. Up to 32 lanes are a warp or a part of one that is a power of two;
threads beyond the lanes do what the last lane does, without storing. More lanes are a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from hbc.codegen.gather_columns import Column, Group, InMemory, InRegisters, expression, padded
from hbc.codegen.gather_cuda_main import goal_functions, main_function
from hbc.codegen.gather_element import Element, reserved
from hbc.codegen.gather_warp import (
    Thread,
    View,
    column,
    columns_of,
    fused,
    lanes_of,
    placed,
    print_step,
    registers_of,
)
from hbc.codegen.lane_formula import condition
from hbc.codegen.names import Scope, check_kernel_name, identifier
from hbc.codegen.writer import Writer
from hbc.ir.diag import Diagnostic, HbcError
from hbc.ir.instruction_table import InstructionTable
from hbc.ir.movement import Folded, Moved, Movement, resolved
from hbc.ir.types import DType

BLOCK = 256  # threads of a block, where a group is no more than a warp
MOST_LANES = 1024
SHARED_BYTES = 48 << 10
HEADERS = ("cuda_runtime.h", "stdint.h", "stdio.h", "math.h", "vector")
HALF_HEADERS = {"f16": "cuda_fp16.h", "bf16": "cuda_bf16.h"}


@dataclass(frozen=True, slots=True)
class Result:
    """An output: its pointer's name and its elements. `registers`: the device function returns it in so
    many, element `registers * lane + j` in number j; 0: it stores them itself."""

    pointer: str
    size: int
    registers: int


@dataclass(frozen=True, slots=True)
class CudaFile:
    """What the parts of the file need to know of each other."""

    name: str
    element: Element
    group: Group
    inputs: tuple[tuple[str, int], ...]
    results: tuple[Result, ...]
    shared: int
    groups: int  # of a block


def emit_cuda(
    movement: Movement, dtype: DType, table: InstructionTable | None = None,
    notes: Sequence[str] = (),
) -> str:  # fmt: skip
    """The `.cu` file. HbcError for operations that the elements do not have, and for more lanes or shared
    memory than a block may have."""
    assert table is None
    check_kernel_name(movement.name)
    movement = fused(resolved(movement))
    shapes = movement.shapes()
    made = [s for s in movement.steps if isinstance(s, Folded) or s.hole] or list(movement.steps)
    lanes = max(lanes_of(step.shape, movement.lane_axes) for step in made)
    if lanes > MOST_LANES:
        raise HbcError(Diagnostic(f"{lanes} lanes are more than the threads of a block, {MOST_LANES}"))
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
    file = CudaFile(
        movement.name, element, group, tuple(inputs), results, thread.shared, groups
    )
    return _text(file, movement, notes)


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
            Diagnostic(f"the moves need {size} bytes of shared memory, and a block has {SHARED_BYTES}")
        )
    groups = max(1, BLOCK // group.threads)
    while groups * size > SHARED_BYTES:
        groups //= 2
    return groups


def _result(thread: Thread, name: str, wanted: np.ndarray) -> Result:
    """Returns or stores an output."""
    group, size = thread.group, thread.size(name)
    pointer = group.scope.fresh(identifier(name.removesuffix(".copy")))
    view = thread.views[name]
    held = group.held[thread.number[name]] if name in thread.number else None
    shape = thread.shapes[name]
    if isinstance(held, InRegisters) and lanes_of(shape, thread.axes) == group.lanes > 0 < thread.axes:
        group.out.blank()
        columns = columns_of(thread, view, shape)
        for number, wanted_column in enumerate(columns):
            text = expression(group, wanted_column, thread.fold.number("0"), pointer)
            if text is not None:
                group.out.line(f"{pointer}[{number}] = {text};")
        return Result(pointer, size, len(columns))
    group.out.blank()
    group.out.comment(f"{name} is stored")
    _store(thread, view, pointer, size, wanted)
    return Result(pointer, size, 0)


def _store(thread: Thread, view: View, pointer: str, size: int, wanted: np.ndarray) -> None:
    """Each lane stores what it holds; the rest is stored in order, by as many lanes as there are."""
    group = thread.group
    left = wanted.copy()
    for locations in _own(thread, view, left):
        there = locations >= 0
        left[locations[there]] = False
        _store_column(thread, column(thread, view, locations), locations, pointer)
    rest = np.flatnonzero(left)
    for start in range(0, rest.size, group.lanes):
        part = rest[start : start + group.lanes]
        locations = np.full(group.lanes, -1)
        locations[: part.size] = part
        reads = column(thread, view, locations)
        names = registers_of(thread, f"{pointer}_{start}", [reads], thread.fold.number("0"))
        _store_text(thread, names[0] or thread.fold.number("0"), locations, pointer)


def _own(thread: Thread, view: View, left: np.ndarray) -> list[np.ndarray]:
    """Rounds of stores, [lane] -> location or -1, of elements that lie in the lane's own registers: in each
    round every lane stores from the same register."""
    group = thread.group
    everything = column(thread, view, np.arange(left.size))
    rounds: dict[tuple[int, int, int], np.ndarray] = {}
    seen: dict[tuple[int, int, int], int] = {}
    for location in np.flatnonzero(left):
        number, place = int(everything.array[location]), int(everything.place[location])
        held = group.held[number] if number >= 0 else None
        if not isinstance(held, InRegisters):
            continue
        lane, register = int(held.lane[place]), int(held.register[place])
        turn = seen.get((number, register, lane), 0)
        seen[number, register, lane] = turn + 1
        locations = rounds.setdefault((number, register, turn), np.full(group.lanes, -1))
        locations[lane] = location
    return list(rounds.values())


def _store_column(thread: Thread, reads: Column, locations: np.ndarray, pointer: str) -> None:
    text = expression(thread.group, reads, thread.fold.number("0"), pointer)
    assert text is not None
    _store_text(thread, text, locations, pointer)


def _store_text(thread: Thread, text: str, locations: np.ndarray, pointer: str) -> None:
    group = thread.group
    there = locations >= 0
    address = group.of_lane(np.maximum(locations, 0), there)
    test = condition(padded(group, there), np.arange(group.threads) < group.lanes)
    both = "active" if test == "true" else f"active && {test if '&' not in test and '|' not in test else f'({test})'}"
    group.out.line(f"if ({both})")
    group.out.depth += 1
    group.out.line(f"{pointer}[{address}] = {text};")
    group.out.depth -= 1


def _text(file: CudaFile, movement: Movement, notes: Sequence[str]) -> str:
    out = Writer()
    for note in notes:
        out.comment(note)
    half = HALF_HEADERS.get(file.element.dtype.name)
    for header in (*HEADERS, *([half] if half else [])):
        out.directive(f"#include <{header}>")
    out.blank()
    check = movement.check
    goals = goal_functions(check, file.element) if check else []
    for function in file.element.functions():
        out.raw(function)
        out.blank()
    for key, name in file.group.tables.items():
        values = ", ".join(map(str, key))
        out.line(f"__device__ const unsigned short {name}[{len(key)}] = {{{values}}};")
    _device_function(out, file)
    _kernel(out, file)
    _launcher(out, file)
    if check:
        for text in goals:
            out.blank()
            out.raw(text)
        main_function(out, file, check)
    return out.text()


def _stores(file: CudaFile) -> bool:
    return any(not result.registers for result in file.results)


def _device_function(out: Writer, file: CudaFile) -> None:
    t = file.element.type
    parameters = ["int lane", *(f"const {t} *{pointer}" for pointer, _ in file.inputs)]
    for result in file.results:
        registers = f"{t} (&{result.pointer})[{result.registers}]"
        parameters.append(registers if result.registers else f"{t} *{result.pointer}")
    if _stores(file):
        parameters.append("bool active")
    if file.shared:
        parameters.append(f"{t} *shared")
    out.blank()
    lanes = "a warp" if file.group.lanes == 32 else f"{file.group.lanes} threads"
    out.comment(f"For {lanes}, all of which call it together.")
    out.function(f"__device__ __forceinline__ void {file.name}", parameters, "")
    with out.braces():
        out.lines += file.group.out.lines
    out.blank()


def _kernel(out: Writer, file: CudaFile) -> None:
    """Each group of threads on its own data; whole warps go on to the end, because shuffles need them."""
    t, group = file.element.type, file.group
    pointers = [f"const {t} *__restrict__ {pointer}" for pointer, _ in file.inputs]
    pointers += [f"{t} *__restrict__ {result.pointer}" for result in file.results]
    size = group.threads * file.groups
    head = f'extern "C" __global__ void __launch_bounds__({size}) {file.name}_kernel'
    out.comment("The data of so many groups, behind each other.")
    out.function(head, [*pointers, "int groups"], "")
    with out.braces():
        if file.shared:
            out.line(f"__shared__ {t} shared[{file.shared * file.groups}];")
        out.line(f"const int in_block = threadIdx.x / {group.threads};")
        thread = f"threadIdx.x % {group.threads}"
        clamped = group.threads > group.lanes
        out.line(f"const int thread = {thread};" if clamped else f"const int lane = {thread};")
        if clamped:
            last = group.lanes - 1
            out.line(f"const int lane = thread < {last} ? thread : {last};")
        out.line(f"const int group = blockIdx.x * {file.groups} + in_block;")
        whole = f" && thread < {group.lanes}" if clamped else ""
        out.line(f"const bool active = group < groups{whole};")
        out.line("const size_t mine = group < groups ? group : groups - 1;")
        arguments = ["lane", *(f"{p} + {size} * mine" for p, size in file.inputs)]
        for result in file.results:
            if result.registers:
                out.line(f"{t} {result.pointer}_registers[{result.registers}];")
                arguments.append(f"{result.pointer}_registers")
            else:
                arguments.append(f"{result.pointer} + {result.size} * mine")
        arguments += ["active"] if _stores(file) else []
        arguments += [f"shared + {file.shared} * in_block"] if file.shared else []
        out.line(f"{file.name}({', '.join(arguments)});")
        for result in (r for r in file.results if r.registers):
            with out.braces("if (active)"):
                with out.braces(f"for (int j = 0; j < {result.registers}; j++)"):
                    place = f"{result.size} * mine + {result.registers} * lane + j"
                    out.line(f"{result.pointer}[{place}] = {result.pointer}_registers[j];")
    out.blank()


def _launcher(out: Writer, file: CudaFile) -> None:
    t = file.element.type
    pointers = [f"const {t} *{pointer}" for pointer, _ in file.inputs]
    pointers += [f"{t} *{result.pointer}" for result in file.results]
    names = [pointer for pointer, _ in file.inputs] + [r.pointer for r in file.results]
    sized = [f"{p}[{size}]" for p, size in file.inputs]
    sized += [f"{r.pointer}[{r.size}]" for r in file.results]
    out.comment(f"On the device, for each group: {', '.join(sized)}, row-major. Returns a cudaError_t.")
    out.function(
        f'extern "C" int {file.name}_launch', ["int groups", *pointers, "cudaStream_t stream"], ""
    )
    size = file.group.threads * file.groups
    with out.braces():
        out.line("if (groups <= 0)")
        out.line("    return cudaSuccess;")
        out.line(f"const int blocks = (groups + {file.groups - 1}) / {file.groups};")
        call = f"{file.name}_kernel<<<blocks, {size}, 0, stream>>>({', '.join([*names, 'groups'])});"
        out.line(call)
        out.line("return cudaGetLastError();")


__all__ = ["emit_cuda", "placed"]

"""Prints a movement of HVX registers as C: each row of the sketch's register files is one register.

A register has 128 bytes. Where the sketch has fewer lanes than fit, a lane holds the same element of
several problems, which are the last axis in memory. Arrays that are no registers hold one number for all
problems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.moves.columns import InMemory, InRegisters
from hbc.codegen.moves.hvx_file import BYTES, HvxFile, Result, hvx_text
from hbc.codegen.moves.hvx_fold import combined, neutral_word
from hbc.codegen.moves.plan import NOTHING, plan_registers
from hbc.codegen.moves.text import Constants, instruction_text
from hbc.codegen.moves.view import View, composed
from hbc.codegen.moves.warp import placed
from hbc.codegen.text.names import Scope, check_sketch_name, identifier
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError
from hbc.ir.ground.record import mutable
from hbc.ir.lang.types import DType
from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather, Locations, Shape, identity
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.movement import Folded, Moved, Movement, pruned, resolved

Numbers = NDArray[np.int64]


@mutable
class Printer:
    """The function while it is printed."""

    dtype: DType
    table: InstructionTable
    shapes: dict[str, Shape]
    scope: Scope
    constants: Constants
    out: Writer = field(default_factory=lambda: Writer(depth=1))
    views: dict[str, View] = field(default_factory=dict)
    held: dict[str, InMemory | InRegisters] = field(default_factory=dict)
    folds: dict[str, None] = field(default_factory=dict)
    loaded: dict[str, str] = field(default_factory=dict)

    @property
    def lanes(self) -> int:
        return self.table.lanes

    def size(self, name: str) -> int:
        return prod(self.shapes[name])

    def named(self, text: str, name: str) -> str:
        """A variable for an expression."""
        made = self.scope.fresh(name)
        self.out.line(f"const HVX_Vector {made} = {text};")
        return made


def lanes_of_files(movement: Movement) -> int:
    """The lanes of the registers that the holes make, or without holes of those that come out. HbcError
    where the sketch has none."""
    made = movement.shapes()
    shapes = [s.shape for s in movement.steps if isinstance(s, Moved) and s.hole]
    shapes = shapes or [made[output.name] for output in movement.outputs]
    if movement.lane_axes != -1 or not shapes[0]:
        raise HbcError(
            Diagnostic(
                f"`{movement.name}` is no sketch of vector registers",
                hint="`param lane_axes = -1` says that the last axis of its arrays counts lanes",
            )
        )
    lanes = shapes[0][-1]
    if lanes < 2 or lanes & (lanes - 1) or lanes > BYTES:
        raise HbcError(Diagnostic(f"{lanes} lanes do not divide the {BYTES} bytes of a register"))
    return lanes


def emit_hvx(
    movement: Movement, dtype: DType, table: InstructionTable | None, notes: Sequence[str]
) -> str:
    """The C file. HbcError for elements wider than a lane, and for folds of elements that HVX cannot
    compute with."""
    assert table is not None
    check_sketch_name(movement.name)
    movement = pruned(resolved(movement))
    lanes = lanes_of_files(movement)
    if table.lanes != lanes:
        raise InternalError(f"a table for {table.lanes} lanes, and {lanes} are wanted")
    if dtype.bytes * lanes > BYTES or dtype.bits > 32:
        raise HbcError(
            Diagnostic(
                f"{lanes} elements of type {dtype} are more than a register of {BYTES} bytes"
            )
        )
    scope = Scope()
    scope.reserve(movement.name, "vec", "splat", "permuted", "load_part", "store_part")
    printer = Printer(dtype, table, movement.shapes(), scope, Constants(scope))
    inputs = []
    for given in movement.inputs:
        pointer = scope.fresh(identifier(given.name))
        size = prod(given.shape)
        registers = given.shape[-1] == lanes
        inputs.append(Result(pointer, size, registers))
        printer.views[given.name] = View((given.name,), identity((size,)))
        printer.held[given.name] = InMemory(pointer)
        if registers:
            lane, register = placed(given.shape, -1)
            names = tuple(f"{pointer}[{r}]" for r in range(size // lanes))
            printer.held[given.name] = InRegisters(lane, register, names)
    for step in movement.steps:
        _step(printer, step)
    results = [_result(printer, output.name) for output in movement.outputs]
    file = HvxFile(
        movement.name, dtype, lanes, tuple(inputs), tuple(results), tuple(printer.out.lines),
        tuple(printer.folds), printer.constants,
    )  # fmt: skip
    return hvx_text(file, notes)


def _step(printer: Printer, step: Moved | Folded) -> None:
    match step:
        case Moved(name, arguments, gather, hole, formula):
            view = composed(printer.views, printer.size, arguments, gather)
            printer.views[name] = view
            if hole:
                printer.out.blank()
                printer.out.comment(f"{name} = {formula}")
                lane, register = placed(step.shape, -1)
                made = _made(printer, name, view, lane, register)
                _hold(printer, name, InRegisters(lane, register, made), view)
        case Folded(name, argument, shape, length, operation):
            printer.out.blank()
            printer.out.comment(f"{name} = fold({operation}), {length} elements each")
            view = printer.views[argument]
            lane, register = _in_place(printer, view, length) or placed(shape, -1)
            names = _folded(printer, step, view, lane, register)
            _hold(printer, name, InRegisters(lane, register, names), None)


def _hold(printer: Printer, name: str, held: InRegisters, made_of: View | None) -> None:
    printer.held[name] = held
    size = prod(printer.shapes[name])
    index = np.arange(size) if made_of is None else made_of.gather.index
    known = np.where(index >= 0, np.arange(size), index).astype(np.int32)
    printer.views[name] = View((name,), Gather(((size,),), (size,), known))


def _read(printer: Printer, view: View, location: int) -> tuple[str, int] | int:
    """The array and the place in it that a location reads; ZERO or UNDEFINED."""
    at = int(view.gather.index[location])
    for array in view.arrays:
        size = prod(printer.shapes[array])
        if 0 <= at < size:
            return array, at
        at -= size if at >= 0 else 0
    return at


def _in_place(printer: Printer, view: View, length: int) -> tuple[Numbers, Numbers] | None:
    """Lane and register of every folded element, so that what it folds lies in its own lane; None where
    that is not possible."""
    lanes: list[int] = []
    registers: list[int] = []
    numbers: dict[tuple[object, ...], int] = {}
    taken: set[tuple[int, int]] = set()
    for start in range(0, view.gather.index.size, length):
        key: list[object] = []
        own: set[int] = set()
        for location in range(start, start + length):
            read = _read(printer, view, location)
            held = None if isinstance(read, int) else printer.held[read[0]]
            if isinstance(read, int) or isinstance(held, InMemory):
                key.append(read)
            elif held is not None:
                own.add(int(held.lane[read[1]]))
                key.append((read[0], int(held.register[read[1]])))
        number = numbers.setdefault(tuple(key), len(numbers))
        lane = own.pop() if len(own) == 1 else -1
        if lane < 0 or (number, lane) in taken:
            return None
        taken.add((number, lane))
        lanes.append(lane)
        registers.append(number)
    return np.array(lanes, dtype=np.int64), np.array(registers, dtype=np.int64)


def _made(
    printer: Printer, name: str, view: View, lane: Numbers, register: Numbers,
    part: Sequence[int] | None = None, neutral: str | None = None,
) -> tuple[str | None, ...]:  # fmt: skip
    """The registers of an array; `part` has the view's location of every element. Where the view says
    ZERO they hold `neutral`, a register, or 0."""
    locations = np.arange(lane.size) if part is None else np.asarray(part)
    sources: list[str] = []
    count = int(register.max(initial=-1)) + 1
    rows = np.full((count, printer.lanes), UNDEFINED, dtype=np.int32)
    for element, location in enumerate(locations):
        at, to = int(lane[element]), int(register[element])
        read = _read(printer, view, int(location))
        if isinstance(read, int):
            rows[to, at] = read
            if read == ZERO and neutral is not None:
                rows[to, at] = _source(sources, neutral) * printer.lanes + at
            continue
        held = printer.held[read[0]]
        if isinstance(held, InMemory):
            text, there = f"splat({held.pointer}[{read[1]}])", at
        else:
            text = held.names[int(held.register[read[1]])] or "Q6_V_vzero()"
            there = int(held.lane[read[1]])
        rows[to, at] = _source(sources, text) * printer.lanes + there
    return _planned(printer, name, sources, rows)


def _source(sources: list[str], text: str) -> int:
    if text not in sources:
        sources.append(text)
    return sources.index(text)


def _planned(
    printer: Printer, name: str, sources: Sequence[str], rows: Locations
) -> tuple[str | None, ...]:
    """Prints the instructions; the name of each row's register."""
    plan = plan_registers(printer.table, len(sources), rows)
    base = identifier(name.replace(".", "_"))
    used = {v for op in plan.ops for v in op.operands} | set(plan.outputs)
    values = {
        number: _loaded(printer, text) for number, text in enumerate(sources) if number in used
    }
    for at, op in enumerate(plan.ops):
        operands = [values[operand] for operand in op.operands]
        text = instruction_text(op.fit, operands, printer.table.bits, printer.constants)
        final = [r for r, value in enumerate(plan.outputs) if value == plan.sources + at]
        suffix = f"_{final[0]}" if final else "_part"
        values[plan.sources + at] = printer.named(text, f"{base}{suffix}")
    zero = ["Q6_V_vzero()" if (row == ZERO).any() else None for row in rows]
    return tuple(
        zero[number] if value == NOTHING else values[value]
        for number, value in enumerate(plan.outputs)
    )


def _loaded(printer: Printer, text: str) -> str:
    """A register for what is loaded or spread, made once."""
    if "[" not in text:
        return text
    if text not in printer.loaded:
        word = text.removeprefix("splat(").rstrip(")]").replace("[", "_")
        printer.loaded[text] = printer.named(text, identifier(word))
    return printer.loaded[text]


def _folded(
    printer: Printer, step: Folded, view: View, lane: Numbers, register: Numbers
) -> tuple[str | None, ...]:
    """Element after element of each group, combined."""
    totals: list[str | None] = [None] * (int(register.max(initial=-1)) + 1)
    elements = np.arange(lane.size)
    neutral = neutral_word(step.operation, printer.dtype)
    for place in range(step.length):
        part = elements * step.length + place
        values = _made(
            printer, f"{step.name}_{place}", view, lane, register, part.tolist(),
            None if neutral is None else f"splat({neutral})",
        )  # fmt: skip
        for number, value in enumerate(values):
            if value is None:
                continue
            before = totals[number]
            if before is None:
                totals[number] = value
                continue
            text = combined(step.operation, printer.dtype, before, value)
            printer.folds[step.operation] = None
            totals[number] = printer.named(text, f"{identifier(step.name)}_{number}")
    return tuple(totals)


def _result(printer: Printer, name: str) -> Result:
    """Stores an output, row-major."""
    pointer = printer.scope.fresh(identifier(name.removesuffix(".copy")))
    size = prod(printer.shapes[name])
    printer.out.blank()
    location = np.arange(size, dtype=np.int64)
    lane, register = location % printer.lanes, location // printer.lanes
    names = _made(printer, pointer, printer.views[name], lane, register)
    bytes_of_lane = BYTES // printer.lanes
    for number, value in enumerate(names):
        left = min(printer.lanes, size - number * printer.lanes) * bytes_of_lane
        text = value or "Q6_V_vzero()"
        if left == BYTES:
            printer.out.line(f"{pointer}[{number}] = {text};")
        else:
            printer.out.line(f"store_part(&{pointer}[{number}], {text}, {left});")
    return Result(pointer, size, True)

"""Prints a movement as C with the vector intrinsics of x86: one function on arrays in memory.

Arrays lie row-major in as many registers as they fill. What moves is registers of integers, whatever the
elements are; only folds look at them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise
from math import prod

import numpy as np

from hbc.codegen.moves.file import Array, Function, VectorTarget, c_text
from hbc.codegen.moves.fold import FOLDS, fold_functions, identity_text
from hbc.codegen.moves.plan import NOTHING, Plan, plan_registers
from hbc.codegen.moves.text import Constants, instruction_text
from hbc.codegen.moves.view import View, composed, register_rows
from hbc.codegen.text.names import Scope, check_sketch_name, identifier
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.record import mutable
from hbc.ir.lang.types import DType
from hbc.ir.moves.gather import ZERO, Gather, Locations, identity
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.movement import Folded, Moved, Movement, pruned, resolved


@mutable
class Printer:
    """One function while it is printed."""

    target: VectorTarget
    dtype: DType
    table: InstructionTable
    sizes: dict[str, int]
    inputs: set[str]
    scope: Scope
    constants: Constants
    out: Writer = field(default_factory=Writer)
    views: dict[str, View] = field(default_factory=dict)
    registers: dict[str, dict[int, str]] = field(default_factory=dict)
    pointers: dict[str, str] = field(default_factory=dict)
    folds: dict[str, None] = field(default_factory=dict)
    firsts: set[tuple[str, int]] = field(default_factory=set)  # as `Plan.firsts`
    instructions: int = 0


def emit_x86(
    movement: Movement, dtype: DType, table: InstructionTable, target: VectorTarget,
    notes: Sequence[str] = (),
) -> str:  # fmt: skip
    """The C file. HbcError for folds of elements without arithmetic and names that C does not have."""
    check_sketch_name(movement.name)
    movement = pruned(resolved(movement))
    sizes = {name: prod(shape) for name, shape in movement.shapes().items()}
    inputs = {given.name for given in movement.inputs}
    scope = Scope()
    scope.reserve(movement.name, "blocks", "block", "load_part", "store_part", "vec")
    printer = Printer(target, dtype, table, sizes, inputs, scope, Constants(scope))
    for given in movement.inputs:
        printer.pointers[given.name] = scope.fresh(given.name)
        printer.views[given.name] = View((given.name,), identity(given.shape))
        printer.registers[given.name] = {}
    results = [output.name for output in movement.outputs]
    pointers = [scope.fresh(identifier(name.removesuffix(".copy"))) for name in results]
    printer.out.depth = 1
    for step in movement.steps:
        _step(printer, step)
    for name, pointer in zip(results, pointers, strict=True):
        _store(printer, name, pointer)
    stored = [Array(pointer, sizes[name]) for name, pointer in zip(results, pointers, strict=True)]
    read = [Array(printer.pointers[given.name], sizes[given.name]) for given in movement.inputs]
    first = [*notes, f"{counted(printer.instructions, 'instruction')} between loads and stores."]
    folded = fold_functions(printer.folds, dtype, target)
    constants = printer.constants.names
    tables = printer.constants.declarations(target.bits)
    function = Function(movement.name, dtype, read, stored, printer.out.lines, constants)
    return c_text(function, target, first, folded, tables)


def _step(printer: Printer, step: Moved | Folded) -> None:
    match step:
        case Moved(name, arguments, gather, hole, formula, stages):
            view = composed(printer.views, printer.sizes.__getitem__, arguments, gather)
            if not hole:
                printer.views[name] = view  # merged into what reads it
                return
            printer.out.blank()
            if formula:
                printer.out.comment(f"{name} = {formula}")
            for number, stage in enumerate(_apart(printer, view, arguments, stages), 1):
                view = composed(printer.views, printer.sizes.__getitem__, arguments, stage)
                if number < len(stages):
                    part = f"{name}.{number}"  # no name of a sketch
                    printer.sizes[part] = prod(stage.output)
                    _keep(printer, part, _make(printer, f"{name}_stage{number}", view))
                    arguments = (part,)
            _keep(printer, name, _make(printer, name, view))
        case Folded(name, argument, _, length, operation):
            printer.out.blank()
            _keep(printer, name, _fold(printer, name, printer.views[argument], length, operation))


def _apart(
    printer: Printer, view: View, arguments: tuple[str, ...], stages: tuple[Gather, ...]
) -> tuple[Gather, ...]:
    """The stages where they take fewer instructions one after the other than together, else none."""
    if not stages:
        return ()
    size = printer.sizes.__getitem__
    apart = _planned(printer, composed(printer.views, size, arguments, stages[0])).cost
    for before, gather in pairwise(stages):
        count = prod(before.output)
        held = View(("",), Gather(((count,),), gather.output, gather.index))
        rows = register_rows(held, gather.index, printer.table.lanes, {"": count}.__getitem__)
        apart += plan_registers(printer.table, -(-count // printer.table.lanes), rows).cost
    return stages if apart < _planned(printer, view).cost else ()


def _planned(printer: Printer, view: View) -> Plan:
    """The instructions that make the registers of a view."""
    rows = rows_of(printer, view, view.gather.index)
    count = sum(-(-printer.sizes[a] // printer.table.lanes) for a in view.arrays)
    return plan_registers(printer.table, count, rows, _firsts(printer, view))


def _keep(printer: Printer, name: str, registers: dict[int, str]) -> None:
    printer.registers[name] = registers
    printer.views[name] = View((name,), identity((printer.sizes[name],)))


def rows_of(printer: Printer, view: View, index: Locations) -> Locations:
    return register_rows(view, index, printer.table.lanes, printer.sizes.__getitem__)


def _make(printer: Printer, name: str, view: View) -> dict[int, str]:
    """The names of the registers that hold the view; none for those that hold nothing or zeros."""
    rows = rows_of(printer, view, view.gather.index)
    plan = _planned(printer, view)
    values = _print_plan(printer, plan, view, name, None)
    made: dict[int, str] = {}
    for register, value in enumerate(plan.outputs):
        if value != NOTHING:
            made[register] = values[value]
        elif (rows[register] == ZERO).any():
            made[register] = printer.target.zero
    return made


def _sources(printer: Printer, view: View) -> list[tuple[str, int]]:
    """The registers that a plan of the view numbers: array and register."""
    lanes = printer.table.lanes
    return [
        (array, register)
        for array in view.arrays
        for register in range(-(-printer.sizes[array] // lanes))
    ]


def _firsts(printer: Printer, view: View) -> list[int]:
    return [n for n, source in enumerate(_sources(printer, view)) if source in printer.firsts]


def _print_plan(
    printer: Printer, plan: Plan, view: View, name: str, identity_value: str | None
) -> dict[int, str]:
    """Prints the instructions. The text of every value: a register's name."""
    values: dict[int, str] = {}
    used = {v for op in plan.ops for v in op.operands} | set(plan.outputs)
    sources = _sources(printer, view)
    for number, (array, register) in enumerate(sources):
        if number in used:
            values[number] = _register(printer, array, register)
        if number in plan.firsts:
            printer.firsts.add((array, register))
    if identity_value is not None:
        values[len(sources)] = identity_value
    finals = {value: register for register, value in enumerate(plan.outputs)}
    for at, op in enumerate(plan.ops):
        operands = [values[operand] for operand in op.operands]
        text = instruction_text(op.fit, operands, printer.table.bits, printer.constants)
        value = plan.sources + at
        base = f"{name}_{finals[value]}" if value in finals else f"{name}_part"
        values[value] = printer.scope.fresh(base)
        printer.out.line(f"const {printer.target.type} {values[value]} = {text};")
        printer.instructions += 1
    return values


def _register(printer: Printer, array: str, register: int) -> str:
    """A register of an array, loaded when it is first wanted."""
    known = printer.registers[array]
    if register not in known:
        if array not in printer.inputs:
            return printer.target.zero
        known[register] = printer.scope.fresh(f"{array}_{register}")
        lanes = printer.table.lanes
        left = min(lanes, printer.sizes[array] - register * lanes)
        place = f"{printer.pointers[array]} + {register * lanes}"
        if left == lanes:
            text = printer.target.loaded(place)
        else:
            text = f"load_part({place}, {left * printer.dtype.bytes})"
        printer.out.line(f"const {printer.target.type} {known[register]} = {text};")
    return known[register]


def _fold(
    printer: Printer, name: str, view: View, length: int, operation: str
) -> dict[int, str]:  # fmt: skip
    """One register after the other of each of the `length` elements, combined."""
    if operation not in FOLDS or printer.dtype.name not in FOLDS[operation]:
        raise HbcError(
            Diagnostic(
                f"`{name}` folds {printer.dtype} elements with `{operation}`, which is no operation of"
                " theirs", hint="--type names another element type: f32, f64, i8, u8, ... i64",
            )
        )  # fmt: skip
    lanes, vector = printer.table.lanes, printer.target.type
    count = sum(-(-printer.sizes[a] // lanes) for a in view.arrays)
    made: dict[int, str] = {}
    start = identity_text(operation, printer.dtype, printer.target)
    for place in range(length):
        rows = rows_of(printer, view, view.gather.index.reshape(-1, length)[:, place])
        needs_identity = start is not None and bool(
            ((rows == ZERO).any(1) & (rows >= 0).any(1)).any()
        )
        if needs_identity:
            there = np.arange(lanes, dtype=np.int32) + count * lanes
            mixed = (rows == ZERO) & (rows >= 0).any(axis=1, keepdims=True)
            rows = np.where(mixed, there, rows).astype(np.int32)
        plan = plan_registers(printer.table, count + needs_identity, rows, _firsts(printer, view))
        values = _print_plan(printer, plan, view, f"{name}_{place}", start)
        for register, value in enumerate(plan.outputs):
            if value == NOTHING:
                continue
            if register not in made:
                made[register] = values[value]
                continue
            total = printer.scope.fresh(f"{name}_{register}")
            printer.folds[operation] = None
            function = FOLDS[operation][printer.dtype.name]
            text = f"{function}({made[register]}, {values[value]})"
            printer.out.line(f"const {vector} {total} = {text};")
            made[register] = total
    return made


def _store(printer: Printer, name: str, pointer: str) -> None:
    lanes = printer.table.lanes
    view = printer.views[name]
    if view.arrays != (name,):
        printer.out.blank()
        registers = _make(printer, name.removesuffix(".copy"), view)
    else:
        registers = printer.registers[name]
    printer.out.blank()
    size = printer.sizes[name]
    target = printer.target
    for register in range(-(-size // lanes)):
        text = registers.get(register) or target.zero
        place = f"{pointer} + {register * lanes}"
        left = min(lanes, size - register * lanes)
        if left == lanes:
            printer.out.line(target.stored(place, text))
        else:
            printer.out.line(f"store_part({place}, {text}, {left * printer.dtype.bytes});")

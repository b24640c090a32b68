"""Prints a movement of bytes or halves between the 32-bit registers of a thread as CUDA C++.

The arrays of the movement lie row-major in registers, the first element in the lowest byte; what the
function takes and gives are such registers, of one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod

from hbc.codegen.moves.plan import NOTHING, plan_registers
from hbc.codegen.moves.text import Constants, instruction_text
from hbc.codegen.moves.view import View, composed, register_rows
from hbc.codegen.text.names import Scope, check_sketch_name, identifier
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang.types import DType
from hbc.ir.moves.gather import identity
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.movement import Folded, Moved, Movement, pruned, resolved

THREADS = 256  # of a block of the kernel


@mutable
class Printer:
    """The function while it is printed. `registers`: the names of an array's registers."""

    table: InstructionTable
    sizes: dict[str, int]
    scope: Scope
    constants: Constants
    out: Writer = field(default_factory=lambda: Writer(depth=1))
    views: dict[str, View] = field(default_factory=dict)
    registers: dict[str, list[str]] = field(default_factory=dict)
    instructions: int = 0

    def count(self, array: str) -> int:
        """The registers that an array fills."""
        return -(-self.sizes[array] // self.table.lanes)

    def hold(self, array: str, registers: list[str]) -> None:
        self.registers[array] = registers
        self.views[array] = View((array,), identity((self.sizes[array],)))


@record
class _Argument:
    pointer: str
    registers: int


def emit_bytes(
    movement: Movement, dtype: DType, table: InstructionTable | None, notes: Sequence[str]
) -> str:
    """The `.cu` file. HbcError for folds, which are no moves."""
    assert table is not None
    check_sketch_name(movement.name)
    movement = pruned(resolved(movement))
    sizes = {name: prod(shape) for name, shape in movement.shapes().items()}
    scope = Scope()
    scope.reserve(movement.name, "groups", "group", "stream", "status")
    printer = Printer(table, sizes, scope, Constants(scope))
    inputs, outputs = [], []
    for given in movement.inputs:
        inputs.append(_Argument(scope.fresh(identifier(given.name)), printer.count(given.name)))
        names = [f"{inputs[-1].pointer}[{r}]" for r in range(inputs[-1].registers)]
        printer.hold(given.name, names)
    for output in movement.outputs:
        pointer = scope.fresh(identifier(output.name.removesuffix(".copy")))
        outputs.append(_Argument(pointer, printer.count(output.name)))
    for step in movement.steps:
        _step(printer, step)
    printer.out.blank()
    for output, made in zip(movement.outputs, outputs, strict=True):
        if output.name not in printer.registers:
            _make(printer, output.name, printer.views[output.name])
        for number, text in enumerate(printer.registers[output.name]):
            printer.out.line(f"{made.pointer}[{number}] = {text};")
    return _file(movement.name, printer, inputs, outputs, dtype, notes)


def _step(printer: Printer, step: Moved | Folded) -> None:
    if isinstance(step, Folded):
        raise HbcError(
            Diagnostic(
                f"`{step.name}` is a fold, and only moves are printed for bytes in registers",
                hint="fold what the function returns",
            )
        )
    view = composed(printer.views, printer.sizes.__getitem__, step.arguments, step.gather)
    if not step.hole:
        printer.views[step.name] = view  # merged into what reads it
        return
    printer.out.blank()
    if step.formula:
        printer.out.comment(f"{step.name} = {step.formula}")
    _make(printer, step.name, view)


def _make(printer: Printer, name: str, view: View) -> None:
    """Prints the instructions that make the registers of an array."""
    lanes = printer.table.lanes
    rows = register_rows(view, view.gather.index, lanes, printer.sizes.__getitem__)
    values = [text for array in view.arrays for text in printer.registers[array]]
    plan = plan_registers(printer.table, len(values), rows)
    finals = {value: register for register, value in enumerate(plan.outputs)}
    for at, op in enumerate(plan.ops):
        operands = [values[operand] for operand in op.operands]
        text = instruction_text(op.fit, operands, printer.table.bits, printer.constants)
        value = plan.sources + at
        base = f"{name}_{finals[value]}" if value in finals else f"{name}_part"
        values.append(printer.scope.fresh(identifier(base.replace(".", "_"))))
        printer.out.line(f"const unsigned {values[value]} = {text};")
        printer.instructions += 1
    printer.hold(name, ["0u" if value == NOTHING else values[value] for value in plan.outputs])


def _file(
    name: str, printer: Printer, inputs: Sequence[_Argument], outputs: Sequence[_Argument],
    dtype: DType, notes: Sequence[str],
) -> str:  # fmt: skip
    out = Writer()
    for note in [*notes, f"{printer.instructions} instructions."]:
        out.comment(note)
    out.raw("#include <cuda_runtime.h>")
    out.blank()
    out.comment(
        f"For one thread: registers of {printer.table.lanes} elements ({dtype}), the first in the"
        " lowest byte."
    )
    parameters = [f"const unsigned (&{a.pointer})[{a.registers}]" for a in inputs]
    parameters += [f"unsigned (&{a.pointer})[{a.registers}]" for a in outputs]
    out.function(f"__device__ __forceinline__ void {name}", parameters, "")
    with out.braces():
        out.lines += printer.out.lines
    out.blank()
    out.comment("One group of registers for each thread, behind each other in memory.")
    pointers = [f"const unsigned *{a.pointer}" for a in inputs]
    pointers += [f"unsigned *{a.pointer}" for a in outputs]
    head = f'extern "C" __global__ void __launch_bounds__({THREADS}) {name}_kernel'
    out.function(head, [*pointers, "int groups"], "")
    with out.braces():
        out.line(f"const int group = blockIdx.x * {THREADS} + threadIdx.x;")
        out.line("if (group >= groups)")
        out.line("    return;")
        for a in (*inputs, *outputs):
            out.line(f"unsigned {a.pointer}_registers[{a.registers}];")
        for a in inputs:
            _each(
                out,
                a,
                f"{a.pointer}_registers[r] = {a.pointer}[size_t({a.registers}) * group + r];",
            )
        out.line(f"{name}({', '.join(f'{a.pointer}_registers' for a in (*inputs, *outputs))});")
        for a in outputs:
            _each(
                out,
                a,
                f"{a.pointer}[size_t({a.registers}) * group + r] = {a.pointer}_registers[r];",
            )
    out.blank()
    out.comment("On the device. Returns a cudaError_t.")
    out.function(
        f'extern "C" int {name}_launch', ["int groups", *pointers, "cudaStream_t stream"], ""
    )
    with out.braces():
        out.line("if (groups <= 0)")
        out.line("    return cudaSuccess;")
        call = ", ".join([*(a.pointer for a in (*inputs, *outputs)), "groups"])
        blocks = f"(groups + {THREADS - 1}) / {THREADS}"
        out.line(f"{name}_kernel<<<{blocks}, {THREADS}, 0, stream>>>({call});")
        out.line("return cudaGetLastError();")
    return out.text()


def _each(out: Writer, argument: _Argument, text: str) -> None:
    out.line(f"for (int r = 0; r < {argument.registers}; r++)")
    out.line(f"    {text}")

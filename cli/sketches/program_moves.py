"""Programs of registers as movements, for machines whose printers take those."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from hbc.frontend.sketch.layout_spec import LayoutSpec, input_names, output_names
from hbc.ir.moves.gather import Gather, Locations
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.movement import Input, Made, Moved, Movement, Output
from hbc.ir.moves.register_program import RegisterProgram, reads


def program_of(
    rows: Locations, sources: int, table: InstructionTable, check: Callable[[], None]
) -> RegisterProgram | None:
    """The program of fewest instructions that was found for the rows until `check` raises Stopped."""
    from hbc.synth.shuffles.choices import choosing
    from hbc.synth.shuffles.registers import Solver

    return Solver(choosing(table), check).solve(sources, rows).program


def as_movement(spec: LayoutSpec, program: RegisterProgram, lanes: int) -> Movement:
    """A step for each instruction. All arrays of the change are whole registers."""
    change = spec.change
    inputs = tuple(Input(n, s) for n, s in zip(input_names(change), change.inputs, strict=True))
    where = [(i.name, i.shape, r) for i in inputs for r in range(prod(i.shape) // lanes)]
    steps: list[Made] = []
    for number, op in enumerate(program.ops):
        name = f"part{number}"
        steps.append(_moved(name, (lanes,), reads(op.fit), [where[o] for o in op.operands], True))
        where.append((name, (lanes,), 0))
    first = 0
    for name, shape in zip(output_names(change), change.outputs, strict=True):
        count = prod(shape) // lanes
        own = [where[value] for value in program.outputs[first : first + count]]
        steps.append(_moved(name, shape, np.arange(prod(shape), dtype=np.int32), own, False))
        first += count
    outputs = tuple(
        Output(n, np.ones(prod(s), dtype=np.bool_))
        for n, s in zip(output_names(change), change.outputs, strict=True)
    )
    return Movement("", inputs, tuple(steps), outputs)


def _moved(
    name: str, shape: tuple[int, ...], row: Locations, operands: list[tuple[str, tuple[int, ...], int]],
    chosen: bool,
) -> Moved:  # fmt: skip
    """What a row of registers reads, each of which is one of an array."""
    arrays = {array: extents for array, extents, _ in operands}
    lanes = len(row) if chosen else len(row) // len(operands)
    begin = dict(zip(arrays, np.cumsum([0, *map(prod, arrays.values())]), strict=False))
    starts = np.array([begin[array] + r * lanes for array, _, r in operands], dtype=np.int32)
    at = np.where(row >= 0, starts[row // lanes] + row % lanes, row).astype(np.int32)
    return Moved(name, tuple(arrays), Gather(tuple(arrays.values()), shape, at), chosen)

"""Programs of registers: instructions that make output registers of source registers, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import Fit, InstructionTable, fitting


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One instruction. Values are numbered: the source registers first, then the ops in order."""

    fit: Fit
    operands: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RegisterProgram:
    """`outputs` names the value of each output register."""

    sources: int
    ops: tuple[Op, ...]
    outputs: tuple[int, ...]

    @property
    def cost(self) -> int:
        return sum(op.fit.form.cost for op in self.ops)


def reads(fit: Fit) -> NDArray[np.int32]:
    """The location in its operands that each element of an instruction's result reads."""
    chosen = np.repeat(fit.chosen, fit.form.per)
    hits = fit.form.inverse == chosen[:, None]
    return np.where(hits.any(axis=1), hits.argmax(axis=1) - 2, UNDEFINED).astype(np.int32)


def made(fit: Fit, operands: Sequence[Locations]) -> Locations:
    """What an instruction makes of registers of such contents."""
    both = np.concatenate([*operands, np.array([UNDEFINED, ZERO], dtype=np.int32)])
    found: Locations = both[reads(fit)]
    return found


def executed(program: RegisterProgram, lanes: int) -> Locations:
    """[output, lane]: the location `source * lanes + lane` that comes there, ZERO or UNDEFINED."""
    values = [np.arange(lanes, dtype=np.int32) + s * lanes for s in range(program.sources)]
    for op in program.ops:
        values.append(made(op.fit, [values[o] for o in op.operands]))
    return np.stack([values[value] for value in program.outputs])


def does(program: RegisterProgram, rows: Locations) -> bool:
    """Whether it makes the rows; where one is UNDEFINED anything will do."""
    return bool(((rows == UNDEFINED) | (executed(program, rows.shape[1]) == rows)).all())


def then(first: RegisterProgram, second: RegisterProgram) -> RegisterProgram:
    """`second` on what `first` makes."""
    assert second.sources == len(first.outputs)
    ops = list(first.ops)
    values = list(first.outputs)
    for op in second.ops:
        values.append(first.sources + len(ops))
        ops.append(Op(op.fit, tuple(values[o] for o in op.operands)))
    return pruned(
        RegisterProgram(first.sources, tuple(ops), tuple(values[v] for v in second.outputs))
    )


def pruned(program: RegisterProgram) -> RegisterProgram:
    """Without what no output needs, and without doing anything twice."""
    needed = set(program.outputs)
    for number in reversed(range(len(program.ops))):
        if program.sources + number in needed:
            needed |= set(program.ops[number].operands)
    renamed = {source: source for source in range(program.sources)}
    known: dict[tuple[int, bytes, tuple[int, ...]], int] = {}
    ops: list[Op] = []
    for number, op in enumerate(program.ops):
        if program.sources + number not in needed:
            continue
        operands = tuple(renamed[o] for o in op.operands)
        key = id(op.fit.form), op.fit.chosen.tobytes(), operands
        if key not in known:
            known[key] = program.sources + len(ops)
            ops.append(Op(op.fit, operands))
        renamed[program.sources + number] = known[key]
    return RegisterProgram(program.sources, tuple(ops), tuple(renamed[o] for o in program.outputs))


def respelled(
    program: RegisterProgram, rows: Locations, table: InstructionTable
) -> RegisterProgram:
    """The same program by the first instructions of the table that make what is needed of each value: those
    without constants stand before those that can do more."""
    lanes = rows.shape[1]
    needed = np.zeros((program.sources + len(program.ops), lanes), dtype=np.bool_)
    for row, value in zip(rows, program.outputs, strict=True):
        needed[value] |= row != UNDEFINED
    ops: list[Op] = []
    for number in reversed(range(len(program.ops))):
        op = program.ops[number]
        wanted = np.where(needed[program.sources + number], reads(op.fit), UNDEFINED)
        used = [at for at in range(len(op.operands)) if (wanted[wanted >= 0] // lanes == at).any()]
        operands = op.operands
        if 0 < len(used) < len(operands):
            place = np.zeros(len(operands), dtype=np.int32)
            place[used] = np.arange(len(used))
            which = place[np.maximum(wanted, 0) // lanes]
            wanted = np.where(wanted >= 0, which * lanes + wanted % lanes, wanted)
            operands = tuple(operands[at] for at in used)
        fit = fitting(table, len(operands), wanted.astype(np.int32))
        if fit is None or fit.form.cost > op.fit.form.cost:
            fit, operands = op.fit, op.operands
        ops.append(Op(fit, operands))
        source = reads(fit)
        for at, operand in enumerate(operands):
            mine = source[(wanted != UNDEFINED) & (source >= 0) & (source // lanes == at)]
            needed[operand, mine % lanes] = True
    return RegisterProgram(program.sources, tuple(ops[::-1]), program.outputs)

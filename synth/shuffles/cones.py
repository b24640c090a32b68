"""Instructions of more than two registers in place of several of fewer: what a value is made of is followed
back as far as one instruction reads, as circuits are mapped to gates of so many inputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import UNDEFINED, Locations
from hbc.ir.moves.instruction_table import Fit
from hbc.ir.moves.register_program import Op, RegisterProgram, does, pruned, reads
from hbc.synth.shuffles.choices import Choosing

Cut = tuple[Fit, tuple[int, ...]]


def fused(program: RegisterProgram, rows: Locations, machine: Choosing) -> RegisterProgram:
    """The program with values made of those behind their operands, where that takes fewer instructions: from
    the outputs on, each of the earliest values that one instruction makes it of."""
    lanes, sources = machine.lanes, program.sources
    needed = np.zeros((sources + len(program.ops), lanes), dtype=np.bool_)
    for row, value in zip(rows, program.outputs, strict=True):
        needed[value] |= row != UNDEFINED
    ops = list(program.ops)
    for number in reversed(range(len(ops))):
        cared = needed[sources + number]
        if not cared.any():
            continue
        own = ops[number].fit, ops[number].operands
        fit, operands = [own, *_cuts(ops, number, cared, sources, machine)][-1]
        ops[number] = Op(fit, operands)
        source = reads(fit)[cared]
        for at, operand in enumerate(operands):
            needed[operand, source[(source >= 0) & (source // lanes == at)] % lanes] = True
    found = pruned(RegisterProgram(sources, tuple(ops), program.outputs))
    return found if does(found, rows) and found.cost < program.cost else program


def _cuts(
    ops: list[Op], number: int, cared: NDArray[np.bool_], sources: int, machine: Choosing
) -> Iterator[Cut]:
    """Instructions for a value of earlier and earlier ones."""
    lanes = machine.lanes
    source = reads(ops[number].fit)
    # [lane]: the value, and the lane of it, that is read; values below 0 are zeros and no values
    value = np.where(source >= 0, np.array(ops[number].operands)[source // lanes], source)
    lane = source % lanes
    while True:
        last = int(value[cared].max(initial=-1))
        if last < sources:
            return
        here = value == last
        inside = reads(ops[last - sources].fit)[lane]
        operands = np.array(ops[last - sources].operands)
        value = np.where(here, np.where(inside >= 0, operands[inside // lanes], inside), value)
        lane = np.where(here, inside % lanes, lane)
        read = [int(v) for v in np.unique(value[cared & (value >= 0)])]
        if not 0 < len(read) <= machine.widest:
            return
        place = np.searchsorted(read, np.maximum(value, 0))
        row = np.where(value >= 0, place * lanes + lane, value)
        wanted = np.where(cared, row, UNDEFINED).astype(np.int32)
        fit = machine.fitted(wanted, np.arange(len(read) * lanes, dtype=np.int32))
        if fit is not None:
            yield fit, tuple(read)

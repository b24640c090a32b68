"""Keeps, of a set of gathers between registers, those that real instructions do: at most one for each
register of the output."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import Locations
from hbc.ir.moves.instruction_table import InstructionTable, fittable
from hbc.ir.moves.sketch import Option
from hbc.synth.sets.gather_set import GatherSet

AT_A_TIME = 1 << 22  # locations


def realizable(gathers: GatherSet, table: InstructionTable) -> GatherSet:
    """The gathers whose registers, the rows of the last axis, are each made by one instruction of one
    or two of the argument's registers, or by none."""
    lanes = table.lanes
    step = max(1, AT_A_TIME // max(1, gathers.cell.size))
    kept = [
        part[one_instruction_each(gathers.rows(part).reshape(-1, lanes), table)
             .reshape(len(part), -1).all(axis=1)]
        for part in (
            np.arange(start, min(start + step, gathers.size))
            for start in range(0, gathers.size, step)
        )
    ]  # fmt: skip
    chosen = np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
    return gathers if chosen.size == gathers.size else gathers.subset(chosen)


def one_instruction_each(rows: Locations, table: InstructionTable) -> NDArray[np.bool_]:
    """Which rows of locations one instruction makes, or none needs to."""
    lanes = table.lanes
    read = rows >= 0
    register = np.where(read, rows // lanes, -1)
    last = register.max(axis=1)
    first = np.where(read, register, last[:, None]).min(axis=1)
    two = first != last
    good: NDArray[np.bool_] = (
        (register == first[:, None]) | (register == last[:, None]) | ~read
    ).all(axis=1)
    lane = np.where(read, rows % lanes, rows)
    in_place = (~two & ((lane == np.arange(lanes)) | ~read).all(axis=1)) | ~read.any(axis=1)
    from_last = read & (register == last[:, None]) & two[:, None]
    from_first = read & ~from_last & two[:, None]
    single = good & ~two & ~in_place
    good[single] = _fittable(table, 1, lane[single])
    double = good & two
    forwards = _fittable(table, 2, (lane + lanes * from_last)[double])
    backwards = _fittable(table, 2, (lane + lanes * from_first)[double])
    good[double] = forwards | backwards
    return good


def _fittable(table: InstructionTable, arguments: int, rows: Locations) -> NDArray[np.bool_]:
    """As `fittable`; equal rows are looked up once."""
    if not len(rows):
        return np.zeros(0, dtype=np.bool_)
    distinct, where = np.unique(rows, axis=0, return_inverse=True)
    return fittable(table, arguments, distinct.astype(np.int32))[where.reshape(-1)]


def table_bits(constants: Mapping[str, Option]) -> int:
    """The width of elements: the sketch's parameter `bits`."""
    bits = constants.get("bits", 32)
    return bits if isinstance(bits, int) else 32

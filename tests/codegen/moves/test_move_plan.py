"""Plans of gathers between registers, executed instruction by instruction in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hbc.cli.sketches.synth_code import moves_table
from hbc.codegen.moves.plan import NOTHING, Plan, plan_registers
from hbc.ir.moves.gather import UNDEFINED, ZERO
from hbc.ir.moves.instruction_table import Fit, InstructionTable

Numbers = NDArray[np.int64]
POISON = -77

TARGETS = [("avx512", bits) for bits in (8, 16, 32, 64)] + [("avx2", b) for b in (8, 16, 32, 64)]


def table_of(target: str, bits: int) -> InstructionTable:
    table = moves_table(target, bits, False)
    assert table is not None
    return table


def executed(fit: Fit, operands: list[Numbers]) -> Numbers:
    """What the form's inverse says; an alternative that brings nothing is poison."""
    both = np.concatenate([np.array([POISON, 0]), *operands])  # UNDEFINED, ZERO, locations
    out = np.full(operands[0].size, POISON)
    for element in range(out.size):
        chosen = fit.chosen[element // fit.form.per]
        places = np.flatnonzero(fit.form.inverse[element] == chosen)
        if places.size:
            out[element] = both[places[0]]
    return out


def run(plan: Plan, registers: Numbers) -> list[Numbers | None]:
    values: list[Numbers] = list(registers)
    for op in plan.ops:
        values.append(executed(op.fit, [values[operand] for operand in op.operands]))
    return [None if value == NOTHING else values[value] for value in plan.outputs]


@pytest.mark.parametrize(("target", "bits"), TARGETS)
@pytest.mark.parametrize("lowest", [0, ZERO, UNDEFINED])
def test_plans_make_what_is_wanted(target: str, bits: int, lowest: int) -> None:
    table = table_of(target, bits)
    generator = np.random.default_rng(bits)
    for sources in (1, 2, 3, 5):
        rows = generator.integers(lowest, sources * table.lanes, size=(3, table.lanes))
        structured = np.arange(table.lanes)[None] * sources + np.arange(2)[:, None]
        rows = np.concatenate([rows, structured % (sources * table.lanes)]).astype(np.int32)
        registers = np.arange(1, 1 + sources * table.lanes).reshape(sources, table.lanes)
        plan = plan_registers(table, sources, rows)
        for row, made in zip(rows, run(plan, registers), strict=True):
            if made is None:
                assert (row < 0).all()
                continue
            wanted = np.where(row == ZERO, 0, row + 1)
            checked = row != UNDEFINED
            assert (made[checked] == wanted[checked]).all()


def test_what_is_there_costs_nothing() -> None:
    table = table_of("avx512", 32)
    rows = np.arange(32, dtype=np.int32).reshape(2, 16)[::-1].copy()
    rows[0, 3] = UNDEFINED
    plan = plan_registers(table, 2, rows)
    assert (plan.cost, plan.outputs) == (0, [1, 0])
    nothing = np.full((1, 16), ZERO, dtype=np.int32)
    assert plan_registers(table, 2, nothing).outputs == [NOTHING]


def test_equal_instructions_are_done_once() -> None:
    table = table_of("avx512", 32)
    row = np.arange(16, dtype=np.int32)[::-1].copy()
    assert plan_registers(table, 1, np.stack([row, row])).cost == 1


def test_instructions_without_indices_come_first() -> None:
    table = table_of("avx512", 32)
    interleaved = np.stack([np.arange(16), np.arange(16, 32)], axis=1).reshape(4, 4, 2)
    low = interleaved[:, :2].reshape(1, 16).astype(np.int32)
    (op,) = plan_registers(table, 2, low).ops
    assert "unpacklo" in op.fit.form.spelling

"""Executes every described instruction: the code does what the index formula says, on random bytes.

One C function for each form that is drawn, with alternatives that are drawn for its units."""

from __future__ import annotations

from pathlib import Path

import compiled_moves as native
import numpy as np
import pytest
from described_moves import VECTORS, c_file, drawn, source_of

from hbc.cli.sketches.synth_code import moves_table
from hbc.ir.moves.gather import UNDEFINED, ZERO
from hbc.ir.moves.instruction_table import OPERANDS, InstructionTable, fittable, fitting

TABLES = [
    (target, bits, vbmi)
    for target in VECTORS
    for bits in (8, 16, 32, 64)
    for vbmi in (False, True)
    if not vbmi or (target == "avx512" and bits == 8)
]


def table_of(target: str, bits: int, vbmi: bool) -> InstructionTable:
    table = moves_table(target, bits, vbmi)
    assert table is not None
    return table


@pytest.mark.parametrize(("target", "bits", "vbmi"), TABLES)
def test_code_does_what_the_description_says(
    target: str, bits: int, vbmi: bool, tmp_path: Path
) -> None:
    native.require(target)
    table = table_of(target, bits, vbmi)
    generator = np.random.default_rng(bits)
    fits = drawn(table, generator)
    text = c_file(fits, table, target)
    loaded = native.library(text, target, tmp_path, native.compilers(target)[0].command)
    for number, fit in enumerate(fits):
        given = [native.random_values(generator, table.lanes, f"u{bits}") for _ in OPERANDS]
        out = native.poisoned(given[0], table.lanes)
        native.call(loaded, f"f{number}", given, [out])
        both = np.concatenate(given)
        for element, source in enumerate(source_of(fit, table.lanes)):
            if source == UNDEFINED:
                continue
            wanted = 0 if source == ZERO else both[source]
            assert out[element] == wanted, (fit.form.spelling, fit.form.values, element)


@pytest.mark.parametrize(("target", "bits", "vbmi"), TABLES)
def test_lookups_agree(target: str, bits: int, vbmi: bool) -> None:
    """`fitting` one row and `fittable` many; a row that was made from a form is found again."""
    table = table_of(target, bits, vbmi)
    generator = np.random.default_rng(3)
    for arguments in range(1, table.widest + 1):
        rows = [
            source_of(fit, table.lanes)
            for fit in drawn(table, generator)
            if fit.form.arguments == arguments
        ]
        for row in [*rows]:
            hidden = np.array(row, dtype=np.int32)
            hidden[generator.random(table.lanes) < 0.5] = UNDEFINED
            rows.append([int(x) for x in hidden])
        many = np.array(rows, dtype=np.int32)
        random_rows = generator.integers(0, arguments * table.lanes, size=(20, table.lanes))
        many = np.concatenate([many, random_rows.astype(np.int32)])
        found = fittable(table, arguments, many)
        assert found[: len(rows)].all()
        assert [fitting(table, arguments, row) is not None for row in many] == list(found)

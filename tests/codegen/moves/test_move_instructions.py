"""Executes every described instruction: the code does what the index formula says, on random bytes.

One C function for each form that is drawn, with alternatives that are drawn for its units."""

from __future__ import annotations

import re
from pathlib import Path

import compiled_moves as native
import numpy as np
import pytest

from hbc.cli.sketches.synth_code import moves_table
from hbc.codegen.moves.file import AVX2, AVX512, NEON, SVE256
from hbc.codegen.moves.text import Constants, instruction_text
from hbc.codegen.text.names import Scope
from hbc.ir.moves.gather import UNDEFINED, ZERO
from hbc.ir.moves.instruction_table import (
    OPERANDS,
    Fit,
    Form,
    InstructionTable,
    fittable,
    fitting,
)

OF_ONE_DESCRIPTION = 6  # forms that are drawn
VECTORS = {"avx512": AVX512, "avx2": AVX2, "neon": NEON, "sve256": SVE256}

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


def drawn(table: InstructionTable, generator: np.random.Generator) -> list[Fit]:
    """Some forms of every description, with alternatives drawn for each unit."""
    groups: dict[str, list[Form]] = {}
    for form in table.forms:
        groups.setdefault(form.spelling, []).append(form)
    found: list[Fit] = []
    for forms in groups.values():
        several = generator.permutation(len(forms))[:OF_ONE_DESCRIPTION]
        for form in (forms[int(at)] for at in several):
            count = len(next(iter(form.names.values()))) if form.names else 1
            units = table.lanes // form.per
            found.append(Fit(form, generator.integers(0, count, size=units)))
    return found


def source_of(fit: Fit, lanes: int) -> list[int]:
    """What each element reads, from the inverse; alternatives that are never first read nothing."""
    found = []
    for element in range(lanes):
        chosen = int(fit.chosen[element // fit.form.per])
        at = np.flatnonzero(fit.form.inverse[element] == chosen)
        found.append(int(at[0]) - 2 if at.size else UNDEFINED)
    return found


def c_file(fits: list[Fit], table: InstructionTable, target: str) -> str:
    vector = VECTORS[target]
    constants = Constants(Scope())
    texts = [instruction_text(fit, OPERANDS, table.bits, constants) for fit in fits]
    given = ", ".join(f"const void *in_{name}" for name in OPERANDS)
    loads = ", ".join(f"{name} = {vector.loaded(f'in_{name}')}" for name in OPERANDS)
    lines = [
        f"#include <{vector.header}>",
        "#include <stdint.h>",
        vector.head,
        *constants.declarations(vector.bits),
    ]
    registers = {
        name: vector.constant(constant, name) for constant, name in constants.names.items()
    }
    for number, text in enumerate(texts):
        used = [registers[name] for name in dict.fromkeys(re.findall(r"\bindex\w+\b", text))]
        lines += [
            f"void f{number}({given}, void *out);",
            f"void f{number}({given}, void *out) {{",
            f"    const {vector.type} {loads};",
            *(f"    (void){name};" for name in OPERANDS),
            *used,
            f"    {vector.stored('out', text)}",
            "}",
        ]
    return "\n".join(lines) + "\n"


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

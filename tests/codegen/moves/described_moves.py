"""C functions of described instructions, with alternatives that are drawn for their units."""

from __future__ import annotations

import re

import numpy as np

from hbc.codegen.moves.file import AVX2, AVX512, NEON, SVE256
from hbc.codegen.moves.text import Constants, instruction_text
from hbc.codegen.text.names import Scope
from hbc.ir.moves.gather import UNDEFINED
from hbc.ir.moves.instruction_table import OPERANDS, Fit, Form, InstructionTable

OF_ONE_DESCRIPTION = 6  # forms that are drawn
VECTORS = {"avx512": AVX512, "avx2": AVX2, "neon": NEON, "sve256": SVE256}


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

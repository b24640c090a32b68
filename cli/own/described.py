"""The instructions that libraries of movements are made of, as described for each machine and width of
registers; and whether the C of a step is that of one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hbc.cli.files.read_sketch import SHIPPED, importer
from hbc.codegen.moves.text import Constant, Constants, instruction_text
from hbc.codegen.text.names import Scope
from hbc.ir.lang.target import ARM, X86
from hbc.ir.movement.chain import ANY, Row, Step
from hbc.ir.movement.library import VBMI
from hbc.ir.moves.gather import UNDEFINED
from hbc.ir.moves.instruction_table import OPERANDS, Fit, Form, InstructionTable, fit

FILES = {
    (X86, 128): "avx2_shuffles.sf", (X86, 256): "avx2_shuffles.sf", (X86, 512): "avx512_shuffles.sf",
    (VBMI, 256): "avx512_shuffles.sf", (VBMI, 512): "avx512_shuffles.sf", (ARM, 128): "neon_moves.sf",
}  # fmt: skip
SETTINGS = {VBMI: {"vbmi": "1"}}
ACROSS = ("permute", "cvtepu")  # in names of 256-bit instructions of which there is no shorter one


class _Written(Constants):
    """Constants in the place where they are used: `[32: 0 2 4 6]`."""

    def name(self, constant: Constant) -> str:
        return f"[{constant.bits}: {' '.join(map(str, constant.values))}]"


def table_of(machine: str, width: int) -> InstructionTable:
    """Those for registers of so many bits that any processor of the width has."""
    from hbc.cli.files.read_source import read_source, source_name
    from hbc.frontend.sketch.elaborate import load_sets
    from hbc.ir.ground.source import Source
    from hbc.synth.sets.instructions import instruction_table

    file = SHIPPED / FILES[machine, width]
    source = Source(source_name(file), read_source(file))
    definitions, constants = load_sets(
        source, {"bits": "8", **SETTINGS.get(machine, {})}, importer(SHIPPED)
    )
    table = instruction_table(str(width), definitions, constants, width // 8, 8)
    if (machine, width) == (X86, 128):
        table = replace(table, forms=tuple(_halved(table)), _parts={}, _stacks={}, _doubled=[])
    if (machine, width) == (VBMI, 256):
        table = replace(table, forms=tuple(_short(table)), _parts={}, _stacks={}, _doubled=[])
    return table


def _short(table: InstructionTable) -> Iterator[Form]:
    """Of the instructions for 512 bits those that permute any units: the others are in the library below."""
    for form in table.forms:
        if re.match(r"_mm512_permutex2?var_", form.spelling):
            yield replace(form, spelling=form.spelling.replace("_mm512_", "_mm256_"))


def _halved(table: InstructionTable) -> Iterator[Form]:
    for form in table.forms:
        if not any(word in form.spelling for word in ACROSS):
            text = form.spelling.replace("_mm256_", "_mm_").replace("si256", "si128")
            yield replace(form, spelling=text)


def bytes_of(row: Row, size: int) -> list[int]:
    """Of units of `size` bytes: where each byte comes from."""
    return [u * size + b if u != ANY else UNDEFINED for u in row for b in range(size)]


def step_text(exact: Fit) -> str:
    """The C of an instruction as entries have it."""
    return instruction_text(exact, [f"{{{o}}}" for o in OPERANDS], 8, _Written(Scope()))


def is_described(step: Step, size: int, table: InstructionTable) -> bool:
    """Whether the C of the step, in units of `size` bytes, is that of an instruction of the table that makes
    its row."""
    wanted = np.array(bytes_of(step.row, size), dtype=np.int32)
    fits = (fit(form, wanted) for form in table.forms_of(len(step.operands)))
    return any(exact is not None and step_text(exact) == step.text for exact in fits)

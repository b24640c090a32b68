"""Elements of 4 bits and of one: every described instruction is executed, and programs for any gather."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import compiled_moves as native
import numpy as np
import pytest
from described_moves import c_file, drawn, source_of
from numpy.typing import NDArray

from hbc.cli.sketches.gather_spec import NAME, buffers, element_type
from hbc.cli.sketches.shuffles import find_shuffle, shuffle_machine
from hbc.codegen.shuffles.c_file import emit_registers
from hbc.frontend.sketch.gather_text import ArrayGather, parse_gather
from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather
from hbc.ir.moves.instruction_table import OPERANDS

Elements = NDArray[np.uint8]


def elements(packed: NDArray[Any], bits: int) -> Elements:
    """From the low end of each byte on."""
    single = np.unpackbits(packed.view(np.uint8), bitorder="little").reshape(-1, bits)
    return (single << np.arange(bits, dtype=np.uint8)).sum(axis=1, dtype=np.uint8)


def require(target: str, gfni: bool) -> None:
    """No functions stand for shifts by vectors and the like."""
    native.require(
        target,
        *(native.NEEDS["avx512"] if target == "avx512" else ()),
        *(("gfni",) if gfni else ()),
    )


CASES = [
    (target, bits, vbmi)
    for target in ("avx512", "avx2", "neon")
    for bits in (4, 1)
    for vbmi in (False, True)
    if not vbmi or target == "avx512"
]


@pytest.mark.parametrize(("target", "bits", "vbmi"), CASES)
def test_code_does_what_the_description_says(
    target: str, bits: int, vbmi: bool, tmp_path: Path
) -> None:
    require(target, vbmi)
    table = shuffle_machine(target, vbmi, bits, vbmi).table
    generator = np.random.default_rng(bits)
    fits = drawn(table, generator)
    text = c_file(fits, table, target)
    flags = ("-mgfni",) if vbmi else ()
    loaded = native.library(text, target, tmp_path, [*native.compilers(target)[0].command, *flags])
    size = table.lanes * bits // 8
    for number, fit in enumerate(fits):
        given = [native.random_values(generator, size, "u8") for _ in OPERANDS]
        out = native.poisoned(given[0], size)
        native.call(loaded, f"f{number}", given, [out])
        both, made = elements(np.concatenate(given), bits), elements(out[:size], bits)
        read = np.array(source_of(fit, table.lanes))
        wanted = np.where(read >= 0, both[np.maximum(read, 0)], 0)
        assert (wanted == made)[read != UNDEFINED].all(), (fit.form.spelling, fit.form.values)


def executed(
    gather: Gather, kind: str, target: str, folder: Path, gfni: bool = False
) -> tuple[int, int]:
    """Finds a program and runs it on random elements; its instructions, and how many there must be."""
    dtype = element_type(kind)
    machine = shuffle_machine(target, False, dtype.bits, gfni)
    found = find_shuffle(gather, 1, machine, lambda: None)
    assert found is not None
    asked = buffers(ArrayGather("x", gather), dtype)
    code = emit_registers(NAME, found.program, *asked, target, [], dtype.bits)
    flags = ("-mgfni",) if gfni else ()
    generator = np.random.default_rng(3)
    (read,), (made,), _ = asked
    for compiler in native.compilers(target):
        loaded = native.library(code, target, folder, [*compiler.command, *flags])
        given = native.random_values(generator, read.size, "u8")
        out = native.poisoned(given, made.size)
        native.call(loaded, NAME, [given], [out])
        index = gather.index
        right = np.where(index >= 0, elements(given, dtype.bits)[np.maximum(index, 0)], 0)
        same = elements(out[: made.size], dtype.bits)[: index.size] == right
        assert same[index != UNDEFINED].all()
        assert native.intact(out, made.size)
    return found.program.cost, found.bound


@pytest.mark.parametrize("target", ["avx512", "avx2", "neon"])
@pytest.mark.parametrize("kind", ["u4", "u1"])
def test_any_gather_is_done(kind: str, target: str, tmp_path: Path) -> None:
    """Random ones with zeros and elements that do not matter, of more than a register."""
    require(target, False)
    generator = np.random.default_rng(5)
    read = 200
    for count in (21, 150):
        index = generator.integers(0, read, size=count).astype(np.int32)
        index[generator.random(count) < 0.1] = ZERO
        index[generator.random(count) < 0.1] = UNDEFINED
        executed(Gather(((read,),), (count,), index), kind, target, tmp_path)


@pytest.mark.parametrize(
    ("target", "kind", "text", "gfni", "count", "bound"),
    [
        ("avx512", "u4", "[i in 128] x[i ^ 1]", False, 3, 3),
        ("avx512", "u4", "[i in 128] x[i/2 + i%2*64]", False, 6, 3),
        ("avx512", "u4", "[i in 128] if i%2 == 0 then x[i/2] else 0", False, 5, 3),
        ("avx512", "u1", "[i in 512] x[i/8*8 + 7 - i%8]", True, 1, 1),
        ("avx512", "u1", "[i in 512] x[i/64*64 + i%8*8 + i%64/8]", True, 2, 2),
        ("avx512", "u1", "[i in 512] x[i/8*8 + 7 - i%8]", False, 9, 3),
        ("avx512", "u1", "[i in 512] x[i/64*64 + i%8*8 + i%64/8]", False, 12, 3),
        ("avx2", "u1", "[i in 256] x[i/8*8 + 7 - i%8]", False, 15, 3),
        ("avx2", "u4", "[i in 64] x[i ^ 1]", False, 5, 3),
        ("neon", "u4", "[i in 32] x[i ^ 1]", False, 2, 2),
        ("neon", "u1", "[i in 128] x[i/8*8 + 7 - i%8]", False, 1, 1),
        ("neon", "u4", "[i in 32] if i%2 == 0 then x[i/2] else 0", False, 3, 3),
    ],
)
def test_instructions(
    target: str, kind: str, text: str, gfni: bool, count: int, bound: int, tmp_path: Path
) -> None:
    require(target, gfni)
    bits = element_type(kind).bits
    gather = parse_gather(text, Fraction(bits, 8), 1 << 14).gather
    assert executed(gather, kind, target, tmp_path, gfni) == (count, bound)

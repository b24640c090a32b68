"""The contraction tables, layouts and sizes that follow from descriptions."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from isa_machines import DESCRIBED

from hbc.codegen.text.instruction_text import compile_flags, statement
from hbc.ir.algebra.layout import Layout, normal
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.nodes import Var, const_index
from hbc.ir.lang.show import show
from hbc.ir.meaning.contraction import (
    extent_range,
    largest,
    multiplications,
    operand_layout,
    row_stride,
    shape,
    terms,
)

ROOT = Path(__file__).resolve().parents[3]


def named(name: str) -> Instruction:
    return next(i for i in DESCRIBED.instructions if i.name == name)


def table(i: Instruction) -> list[str]:
    """One line for each row: name, kind, extent, strides in the order of the operands."""
    return [" ".join([r.name, r.kind, show(r.extent), "|", *map(show, r.strides)]) for r in i.rows]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "tdpbf16ps",
            [
                "i i M | c_row a_row 0",
                "j j N | 1 0 2",
                "k/2 k K / 2 | 0 2 b_row",
                "k%2 k 2 | 0 1 1",
            ],
        ),
        ("vpdpbusd_zmm", ["l batch 16 | 1 4 4", "q k 4 | 0 1 1"]),
        ("smmla", ["i i 2 | 2 8 0", "j j 2 | 1 0 8", "k k 8 | 0 1 1"]),
        ("vfmadd231ps_zmm", ["l batch 16 | 1 1 1"]),
    ],
)
def test_table(name: str, rows: list[str]) -> None:
    assert table(named(name)) == rows


def test_sizes() -> None:
    i = named("tdpbusd")
    assert [extent_range(i, r) for r in i.rows] == [
        (1, 16, 1), (1, 16, 1), (1, 16, 1), (4, 4, 1),
    ]  # fmt: skip
    assert shape(i, 2, {"M": 3, "N": 5, "K": 24}) == (6, 5, 4)
    assert (multiplications(i, largest(i)), terms(i, largest(i))) == (16 * 16 * 64, 64)


def test_operand_layouts() -> None:
    """Tile rows may lie anywhere, registers are dense."""
    i = named("tdpbf16ps")
    b = operand_layout(i, 2, {"M": 16, "N": 8, "K": 32})
    assert normal(b) == Layout(
        const_index(0),
        (
            (16, const_index(0)),
            (8, const_index(2)),
            (16, Var(row_stride("b"))),
            (2, const_index(1)),
        ),
    )
    dense = operand_layout(named("vpdpbusd_zmm"), 1, {})
    assert normal(dense) == Layout(const_index(0), ((64, const_index(1)),))


def test_targets() -> None:
    assert {t.name for t in DESCRIBED.targets} >= {
        "avx512", "avx512vnni", "avx512bf16", "avxvnni", "amx", "arm_dot",
    }  # fmt: skip
    for t in DESCRIBED.targets:
        assert DESCRIBED.of_target(t.name), t.name
    listed = {i.name for t in DESCRIBED.targets for i in DESCRIBED.of_target(t.name)}
    assert listed == {i.name for i in DESCRIBED.instructions}


def test_printed_text() -> None:
    names = {"c": "acc", "a": "x", "b": "y"}
    i = named("vpdpbusd_zmm")
    assert statement(i, "clang", names) == "acc = _mm512_dpbusd_epi32(acc, x, y);"
    assert statement(i, "gcc", names) == (
        '__asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(y));'
    )
    assert compile_flags([i]) == ["-mavx512f", "-mavx512vnni"]
    both = [named("bfmmla"), named("sdot"), named("udot")]
    assert compile_flags(both) == ["-march=armv8.2-a+bf16+dotprod"]
    tiles = {"c": "0", "a": "4", "b": "6"}
    assert statement(named("tdpfp16ps"), "gcc", tiles) == "_tile_dpfp16ps(0, 4, 6);"


def test_python_names_no_instruction() -> None:
    """What Python does with an instruction follows from its description."""
    names = re.compile(r"\b(" + "|".join(i.name for i in DESCRIBED.instructions) + r")\b")
    for package in ("cli", "codegen", "eqsat", "frontend", "ir"):
        for file in sorted((ROOT / package).rglob("*.py")):
            code = ast.parse(file.read_text(encoding="utf-8"))
            texts = [n.value for n in ast.walk(code) if isinstance(n, ast.Constant)]
            found = [t for t in texts if isinstance(t, str) and names.fullmatch(t)]
            assert not found, f"{file}: {found}"

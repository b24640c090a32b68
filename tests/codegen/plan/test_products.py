"""Products in tile registers: the interpreter agrees with NumPy, compiled code with the interpreter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tile_kernels import PRODUCTS, Product, block, gemm, nested, read
from tile_machines import TileMachine, interpreted, outputs_of
from tile_numbers import SIZES, check, inputs

from hbc.ir.lang.kernel import Kernel
from hbc.ir.meaning.numpy_types import Array

FULL = {"f32": (16, 16, 32), "i32": (16, 16, 64)}  # by the type of the sums
ODD = {"f32": (5, 7, 6), "i32": (5, 7, 20)}
THIN = {"f32": (1, 1, 2), "i32": (1, 1, 4)}


def product(name: str, shapes: dict[str, tuple[int, int, int]]) -> Product:
    sums = Product(name, 1, 1, 4).type(0).name
    return Product(name, *shapes[sums])


def run(kernel: Kernel, given: dict[str, Array], machine: TileMachine, folder: Path) -> Array:
    """The result of the machine, which has the bits of the interpreter's."""
    want = interpreted(kernel, SIZES, given)["C"]
    got = outputs_of(kernel, SIZES, given, machine, folder)["C"]
    assert (got.view(np.uint32) == want.view(np.uint32)).all()
    return got


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_product(name: str, machine: TileMachine, tmp_path: Path) -> None:
    p = product(name, FULL)
    given = inputs(p, 1, 1)
    check(given, run(gemm(p), given, machine, tmp_path))


@pytest.mark.parametrize(
    ("name", "shapes", "down", "across"),
    [
        ("tdpbf16ps", FULL, 2, 2), ("tdpbusd", FULL, 1, 6), ("tdpbf16ps", ODD, 2, 2),
        ("tdpbusd", ODD, 3, 1), ("tdpbusd", THIN, 1, 2),
    ],
    ids=["2x2", "1x6", "odd-2x2", "odd-3x1", "thin"],
)  # fmt: skip
def test_blocks(
    name: str, shapes: dict[str, tuple[int, int, int]], down: int, across: int,
    machine: TileMachine, tmp_path: Path,
) -> None:  # fmt: skip
    p = product(name, shapes)
    given = inputs(p, down, across)
    check(given, run(gemm(p, down, across), given, machine, tmp_path))


def test_threads(machine: TileMachine, tmp_path: Path) -> None:
    """Each has tiles of its own."""
    p = product("tdpbf16ps", FULL)
    given = inputs(p, 2, 2)
    check(given, run(gemm(p, 2, 2, outer="parallel"), given, machine, tmp_path))


def test_packed_operands(machine: TileMachine, tmp_path: Path) -> None:
    """A buffer that is filled again between two loads of tiles: memory is read each time."""
    p = product("tdpbf16ps", FULL)
    given = inputs(p, 1, 1)
    check(given, run(_packing(p), given, machine, tmp_path))


def _packing(p: Product) -> Kernel:
    """A gemm that copies each tile of B to the stack, and from there to its register."""
    g, rows = p.group, p.k // p.group
    copy = f"""for r from 0 count {rows} {{
        for c from 0 count {p.n * g} {{
            pack[r * {p.n * g} + c] =
                B.bf16[(ko * {rows} + r) * B_stride0 + jo * {p.n} * B_stride1 + c]
        }}
    }}"""
    step = [
        copy,
        p.load(1, "a", "A", f"io * {p.m} * A_stride0 + ko * {p.k}", "A_stride0"),
        p.load(2, "b", "pack", "0", str(p.n * g)),
        p.multiply("acc", "a", "b"),
    ]
    loop = nested([p.allocate(1, "a"), p.allocate(2, "b")], step)
    loop = nested([f"allocate pack: bf16[{rows * p.n * g}] in stack"], [loop])
    body = [
        p.zero("acc"),
        f"for ko from 0 count S {{\n{loop}\n}}",
        p.store("acc", "C", f"io * {p.m} * C_stride0 + jo * {p.n}", "C_stride0"),
    ]
    inner = nested([p.allocate(0, "acc")], body)
    head = p.header("packing", f"P * {p.m}", f"Q * {p.n}", f"S * {rows}")
    loops = f"for io from 0 count P {{ for jo from 0 count Q {{\n{inner}\n}} }}"
    return read(f"{head}{{\n{loops}\n}}")


def test_one_row_for_all(machine: TileMachine, tmp_path: Path) -> None:
    """Rows of a tile may be the same row of memory."""
    p = product("tdpbusd", ODD)
    body = [
        p.zero("acc"),
        p.load(1, "a", "A", "0", "0"),
        p.load(2, "b", "B", "0", "B_stride0"),
        p.multiply("acc", "a", "b"),
        p.store("acc", "C", "0", "C_stride0"),
    ]
    operands = [p.allocate(0, "acc"), p.allocate(1, "a"), p.allocate(2, "b")]
    head = p.header("same", str(p.m), str(p.n), str(p.k // p.group))
    kernel = read(f"{head}{{\n{nested(operands, body)}\n}}")
    given = inputs(p, 1, 1, {"P": 1, "Q": 1, "S": 1})
    got = run(kernel, given, machine, tmp_path)
    check({"A": np.repeat(given["A"][:1], p.m, axis=0), "B": given["B"]}, got)


def test_two_shapes_one_after_the_other(machine: TileMachine, tmp_path: Path) -> None:
    """Blocks of 7 tiles and of 4 others do not fit one configuration: each part has its own."""
    big, small = product("tdpbf16ps", FULL), product("tdpbf16ps", ODD)
    rows = {"P": 2, "Q": 1, "S": 3}
    first, second = block(big, 2, 2), block(small, 2, 2, end="_s")
    second = second.replace("A.", "D.").replace("A_", "D_").replace("B.", "E.")
    second = second.replace("B_", "E_").replace("C[", "F[").replace("C_", "F_")
    text = f"""kernel two
size P
size Q
size S
input A: bf16[P * 32, S * 32]
input B: bf16[S * 16, Q * 32, 2]
input D: bf16[P * {2 * small.m}, S * {small.k}]
input E: bf16[S * {small.k // 2}, Q * {2 * small.n}, 2]
output C: f32[P * 32, Q * 32]
output F: f32[P * {2 * small.m}, Q * {2 * small.n}]
instruction tdpbf16ps
{{
{first}
{second}
}}"""
    kernel = read(text)
    one, other = inputs(big, 2, 2), inputs(small, 2, 2)
    given = {**one, "D": other["A"], "E": other["B"]}
    want = interpreted(kernel, rows, given)
    got = outputs_of(kernel, rows, given, machine, tmp_path)
    for name in ("C", "F"):
        assert (got[name].view(np.uint32) == want[name].view(np.uint32)).all()
    check(one, got["C"])
    check(other, got["F"])

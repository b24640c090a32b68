"""A made-up instruction that exists as text alone: kernels use it, and no Python knows of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from hbc.cli.pipeline import lower_to_kernel
from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.eqsat.choosing.select import select
from hbc.frontend.checks.check import check
from hbc.frontend.isa.load import load_instructions
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Instruct, VectorReduce
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import numpy_dtype, poison
from hbc.ir.meaning.verify import verify

DESCRIPTIONS = """
feature grids { machine x86_64; cpuinfo "grids"; flag "-mgrids"; probe { leaf 7; register ecx; bit 30 } }
place grid {
    machine x86_64
    memory amx_tile
    count 4
    rows 7
    row_bytes 20
    header "grids.h"
    load "grid_load({register}, {pointer}, {stride});"
    store "grid_store({register}, {pointer}, {stride});"
}
place strip {
    machine x86_64
    memory registers
    count 16
    row_bytes 12
    header "grids.h"
    types { int "strip_t" }
}
target grids "a processor with grids" uses grids

# Matrices of 3 x 7 and 7 x 5 numbers of 16 bits.
instruction grid_product(c: i32[3, 5], a: i16[3, 7], b: i16[7, 5]) in grid {
    reduce k in 7
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
}
emit "grid_product({c}, {a}, {b});"
cost { latency 9; per_cycle 0.2 }
needs grids

# Three sums of two products.
instruction strip_dot(c: i32[3], a: i16[3, 2], b: i16[3, 2]) in strip {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = strip_dot({c}, {a}, {b});"
cost { latency 2; per_cycle 1 }
needs grids
"""

GEMM = """
size   M, N, K
input  A: i16[M, K]
input  B: i16[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j]    = acc[i, j]
"""
CONVOLUTION = """
size   H, W, T
input  I: i16[H, W + T - 1]
input  F: i16[T]
output O: i32[H, W]
reduce r in T
acc[y, x]  = 0
acc[y, x] += i32(I[y, x + r]) * i32(F[r])
O[y, x]    = acc[y, x]
"""
DOWNSAMPLE = """
size   H, W
input  I: i16[H, 2 * W + 5]
input  F: i16[6]
output O: i32[H, W]
reduce r in 6
acc[y, x]  = 0
acc[y, x] += i32(I[y, 2 * x + r]) * i32(F[r])
O[y, x]    = acc[y, x]
"""

# By what and where: the program, its schedule, the instruction and sizes.
CASES = {
    "gemm on grids": (
        GEMM,
        """
        C.tile(i, j, io, jo, ii, ji, 3, 5, tail = exact).vectorize(ii).vectorize(ji)
        acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
        acc.update.split(k, ko, ki, 7, tail = exact).reorder(ko, i, j, ki)
        acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
        """,
        "grid_product", {"M": 6, "N": 15, "K": 21},
    ),
    "gemm on grids with tails": (
        GEMM,
        """
        C.tile(i, j, io, jo, ii, ji, 3, 5, tail = mask).vectorize(ii).vectorize(ji)
        acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
        acc.update.split(k, ko, ki, 7, tail = mask).reorder(ko, i, j, ki)
        acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
        """,
        "grid_product", {"M": 5, "N": 11, "K": 9},
    ),
    "gemm on larger blocks": (
        GEMM,
        """
        C.tile(i, j, io, jo, ii, ji, 6, 10, tail = exact).vectorize(ii).vectorize(ji)
        acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
        acc.update.split(k, ko, ki, 14, tail = exact).reorder(ko, i, j, ki)
        acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
        """,
        "grid_product", {"M": 6, "N": 20, "K": 28},
    ),
    "gemm on strips": (
        GEMM,
        """
        C.split(j, jo, ji, 6, tail = exact).vectorize(ji)
        acc.compute_at(C, jo).store_in(registers).vectorize(j)
        acc.update.split(k, ko, ki, 2, tail = exact).reorder(ko, i, j, ki)
        acc.update.atomic().vectorize(j).vectorize(ki)
        """,
        "strip_dot", {"M": 3, "N": 12, "K": 8},
    ),
    "convolution on grids": (
        CONVOLUTION,
        """
        O.split(x, xo, xi, 15, tail = exact).vectorize(xi)
        acc.compute_at(O, xo).store_in(amx_tile).vectorize(x)
        acc.update.split(r, ro, ri, 3, tail = exact).reorder(ro, y, x, ri)
        acc.update.atomic().vectorize(x).vectorize(ri)
        """,
        "grid_product", {"H": 2, "W": 30, "T": 6},
    ),
    "convolution on strips": (
        CONVOLUTION,
        """
        O.split(x, xo, xi, 9, tail = exact).vectorize(xi)
        acc.compute_at(O, xo).store_in(registers).vectorize(x)
        acc.update.split(r, ro, ri, 4, tail = exact).reorder(ro, y, x, ri)
        acc.update.atomic().vectorize(x).vectorize(ri)
        """,
        "strip_dot", {"H": 2, "W": 18, "T": 8},
    ),
    "downsample on grids": (
        DOWNSAMPLE,
        """
        O.split(x, xo, xi, 15, tail = exact).vectorize(xi)
        acc.compute_at(O, xo).store_in(amx_tile).vectorize(x)
        acc.update.reorder(y, x, r).atomic().vectorize(x).vectorize(r)
        """,
        "grid_product", {"H": 2, "W": 30},
    ),
    "downsample on strips": (
        DOWNSAMPLE,
        """
        O.split(x, xo, xi, 9, tail = exact).vectorize(xi)
        acc.compute_at(O, xo).store_in(registers).vectorize(x)
        acc.update.reorder(y, x, r).atomic().vectorize(x).vectorize(r)
        """,
        "strip_dot", {"H": 2, "W": 18},
    ),
}  # fmt: skip


@cache
def instructions() -> tuple[Instruction, ...]:
    """Those of the made-up target, read together with all that hbc brings."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "grids.hb"
        path.write_text(DESCRIPTIONS, encoding="utf-8")
        return load_instructions([*builtin_descriptions(), path]).of_target("grids")


def test_the_target_has_them_alone() -> None:
    assert [i.name for i in instructions()] == ["grid_product", "strip_dot"]


@pytest.mark.parametrize("what", CASES)
def test_kernels_use_it(what: str) -> None:
    program, schedule, name, sizes = CASES[what]
    text = f"{program}\nschedule made_up for amx {{{schedule}}}\n"
    p = check(parse(Source("made_up.hb", text)), {})
    kernel = lower_to_kernel(p, p.schedules[0], TARGETS["amx"], before="select")
    chosen = select(kernel, instructions())
    verify(chosen, "select")
    assert [i.name for i in chosen.instructions] == [name]
    assert any(isinstance(n, Instruct) for n in nodes(chosen.body))
    assert not any(isinstance(n, VectorReduce) for n in nodes(chosen.body))
    np.testing.assert_array_equal(result(chosen, program, sizes), expected(program, sizes))


def operands(program: str, sizes: dict[str, int]) -> list[np.ndarray]:
    """The two inputs, of the whole range of their type."""
    random = np.random.default_rng(11)
    if program == GEMM:
        shapes = [(sizes["M"], sizes["K"]), (sizes["K"], sizes["N"])]
    elif program == CONVOLUTION:
        shapes = [(sizes["H"], sizes["W"] + sizes["T"] - 1), (sizes["T"],)]
    else:
        shapes = [(sizes["H"], 2 * sizes["W"] + 5), (6,)]
    return [random.integers(-(1 << 15), 1 << 15, s, np.int16) for s in shapes]


def result(kernel: Kernel, program: str, sizes: dict[str, int]) -> np.ndarray:
    """What the interpreter makes of the kernel."""
    a, b = operands(program, sizes)
    names = [x.name for x in kernel.arguments]
    (out,) = (x for x in kernel.arguments if x.output)
    shape = (sizes["M"], sizes["N"]) if program == GEMM else (sizes["H"], sizes["W"])
    value = poison(out.element, shape[0] * shape[1]).reshape(shape)
    assert value.dtype == numpy_dtype(out.element)
    run(kernel, sizes, dict(zip(names, (a, b, value), strict=True)))
    return value


def expected(program: str, sizes: dict[str, int]) -> np.ndarray:
    """The definition, with NumPy, wrapped to 32 bits."""
    a, b = (x.astype(np.int64) for x in operands(program, sizes))
    if program == GEMM:
        total = a @ b
    else:
        step = 1 if program == CONVOLUTION else 2
        total = np.array([[row[step * x :][: len(b)] @ b for x in range(sizes["W"])] for row in a])
    return total.astype(np.int32)

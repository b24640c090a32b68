"""Loops for what unrolled code repeats: they do what the statements did, and read as one would write
them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from compilers import compiler_named

from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.repeats import with_loops
from hbc.codegen.text.unit import Unit
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang.build import const_value
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Expr, For, LoopKind, Stmt, Store, const_index
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import statements, substitute
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
SIZES = {"M": 7, "N": 67, "K": 5, "H": 9, "W": 70, "T": 9, "B": 1, "L": 66, "D": 3}
KERNELS = [
    ("gemm_f32", "avx512"), ("gemm_f32", "arm_dot"), ("downsample_bf16", "avx512vnni"),
    ("conv1d_u8s8", "avx512vnni"), ("attention", "avx2"),
]  # fmt: skip


def lowered(name: str, target: str) -> Kernel:
    p = load_pipeline(SAMPLES / f"{name}.hb", {})
    return lower_to_kernel(p, choose_schedule(p, target, None), TARGETS[target])


def extent(e: Expr, sizes: dict[str, int]) -> int:
    value = const_value(simplify(substitute(e, {n: const_index(v) for n, v in sizes.items()})))
    assert value is not None
    return int(value)


def results(kernel: Kernel) -> dict[str, Array]:
    """All arrays after a run on small numbers, whose sums are exact."""
    sizes = {s.name: SIZES[s.name] for s in kernel.sizes}
    random = np.random.default_rng(1)
    arrays = {}
    for a in kernel.arguments:
        numbers = random.integers(0, 5, [extent(e, sizes) for e in a.extents])
        arrays[a.name] = numbers.astype(numpy_dtype(a.element))
    run(kernel, sizes, arrays)
    return arrays


@pytest.mark.parametrize(("name", "target"), KERNELS)
def test_loops_do_what_the_statements_did(name: str, target: str) -> None:
    kernel = lowered(name, target)
    rolled = kernel.map_body(lambda s: with_loops(s, Unit(TARGETS[target])))
    assert any(isinstance(s, For) and s.kind is LoopKind.UNROLL for s in statements(rolled.body))
    before, after = results(kernel), results(rolled)
    for array, values in before.items():
        np.testing.assert_array_equal(values, after[array])


def test_sums_and_what_they_share_are_arrays_of_registers() -> None:
    text = emit_c(lowered("gemm_f32", "avx512"), TARGETS["avx512"]).text
    inner = """
                            #pragma GCC unroll 5
                            for (int64_t t_1 = 0; t_1 < 5; ++t_1) {
                                const __m512 A_1 =
                                    _mm512_set1_ps(A[(i_base + t_1 + 1) * A_stride0 + 2 * k + t]);
                                #pragma GCC unroll 4
                                for (int64_t e = 0; e < 4; ++e) {
                                    acc[4 * t_1 + e + 4] =
                                        _mm512_fmadd_ps(A_1, B_in_acc_1[4 * t + e],
                                            acc[4 * t_1 + e + 4]);
                                }
                            }
"""
    assert "__m512 acc[24];" in text
    assert inner in text


def test_registers_of_unequal_lengths_are_no_array() -> None:
    s = stores("acc[ramp(0, 1, 16)] = x16(0.0:f32)", "acc[ramp(16, 1, 8)] = x8(0.0:f32)",
               "acc[ramp(24, 1, 8)] = x8(0.0:f32)", "acc[ramp(32, 1, 8)] = x8(0.0:f32)",
               "acc[ramp(40, 1, 8)] = x8(0.0:f32)")  # fmt: skip
    assert with_loops(s, Unit(TARGETS["avx512"])) == s


def test_parts_of_a_register_are_not_indexed() -> None:
    s = stores(*(f"acc[ramp({16 * n}, 1, 16)] = x16(0.0:f32)" for n in range(3)),
               *(f"O[ramp({8 * n}, 1, 8)] = acc.f32x8[ramp({8 * n}, 1, 8)]" for n in range(6)))  # fmt: skip
    rolled = with_loops(s, Unit(TARGETS["avx512"]))
    loops = [c for c in statements(rolled) if isinstance(c, For)]
    assert not any(n.buffer == "O" for c in loops for n in statements(c) if isinstance(n, Store))


def stores(*lines: str) -> Stmt:
    body = "\n".join(lines)
    return read_stmt(f"allocate acc: f32[48] in registers {{\n{body}\n}}")


def test_rows_to_interleave_stay_one_call() -> None:
    target = TARGETS["avx512vnni"]
    text = emit_c(lowered("gemm_u8s8", "avx512vnni"), target).text
    assert re.search(r"^ +interleave_4x64_u8\(", text, re.M)


@pytest.mark.parametrize("command", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O2", "-O3"])
def test_compilers_keep_the_arrays_in_registers(command: str, level: str, tmp_path: Path) -> None:
    """24 sums, 4 and 1 operands are in 32 registers: in memory they would be stored 24 times in each
    part of the kernel. gcc 12 stores a few between its parts."""
    compiler = compiler_named(command)
    source = emit_c(lowered("gemm_f32", "avx512"), TARGETS["avx512"])
    file = tmp_path / "kernel.c"
    file.write_text(source.text)
    (tmp_path / f"{source.name}.h").write_text(source.header)
    made = subprocess.run(
        [*compiler.command, "-std=c11", level, "-march=x86-64-v4", "-S", "-o", "-", str(file)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(re.findall(r"vmov\w+\s+%zmm\d+, .*\(%r[sb]p\)", made.stdout)) < 12

"""Every instruction of NEON that is described, in loops, against the interpreter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from neon_kernels import INSTRUCTIONS, called, inputs_of, kernel_of

from hbc.codegen.build.cross import is_foreign
from hbc.codegen.build.toolchain import Compiler, all_compilers, cross_compilers
from hbc.ir.lang.target import Target
from hbc.ir.meaning.interp import run

STEPS = 37


def compilers(target: Target) -> list[Compiler]:
    return cross_compilers(target.machine) if is_foreign(target.machine) else all_compilers()


@pytest.mark.parametrize("kind", ["gcc", "clang", "zig"])
def test_in_loops(arm: Target, kind: str, tmp_path: Path) -> None:
    """Contiguous operands, repeated groups, executions on executions: bit by bit."""
    compiler = next((c for c in compilers(arm) if c.kind == kind), None)
    if compiler is None:
        pytest.skip(f"no {kind} for {arm.machine}")
    kernel = kernel_of("all_instructions", INSTRUCTIONS)
    inputs = inputs_of(kernel, STEPS, seed=3)
    got = called(kernel, arm, compiler, tmp_path, STEPS, inputs)
    want = {name: np.full_like(array, 77) for name, array in got.items()}
    run(kernel, {"N": STEPS}, {**inputs, **want})
    for name, expected in want.items():
        np.testing.assert_array_equal(got[name], expected, err_msg=name)


def test_integers_are_sums_of_products(arm: Target, tmp_path: Path) -> None:
    """The first form of the dot products, beside NumPy."""
    kernel = kernel_of("all_instructions", INSTRUCTIONS)
    inputs = inputs_of(kernel, STEPS, seed=4)
    got = called(kernel, arm, compilers(arm)[0], tmp_path, STEPS, inputs)
    dots = [i for i in INSTRUCTIONS if i.name.endswith("dot") and i.operands[0].element.is_int]
    assert len(dots) == 3
    for i in dots:
        a, b = (inputs[f"{letter}_{i.name}"].astype(np.int64) for letter in "AB")
        total = (a * b).reshape(STEPS, -1, 4).sum(axis=(0, 2)) + inputs[f"C_{i.name}"]
        np.testing.assert_array_equal(got[f"D_{i.name}"][0], total.astype(got[f"D_{i.name}"].dtype))

"""Tiles loaded ahead: the same results at every number of iterations, and the loads come first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tile_kernels import Product, gemm, read
from tile_machines import TileMachine, interpreted, outputs_of, source_of
from tile_numbers import check, inputs

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show_kernel
from hbc.ir.meaning.verify import verify
from hbc.ir.passes.rotate import rotate

P = Product("tdpbf16ps", 16, 8, 32)


def pipelined(kernel: Kernel, stages: int) -> Kernel:
    """With the loop over steps on so many stages."""
    text = show_kernel(kernel)
    assert text.count("for ko from 0 count S {") == 1
    staged = text.replace("for ko from 0 count S {", f"for ko from 0 count S stages {stages} {{")
    return read(staged).map_body(rotate)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("across", [1, 2])
def test_every_number_of_iterations(stages: int, across: int) -> None:
    kernel = pipelined(gemm(P, 1, across), stages)
    verify(kernel, "rotate")
    for steps in range(8):
        sizes = {"P": 1, "Q": 1, "S": steps}
        given = inputs(P, 1, across, sizes)
        check(given, interpreted(kernel, sizes, given)["C"])


def test_on_a_machine(machine: TileMachine, tmp_path: Path) -> None:
    kernel = pipelined(gemm(P, 1, 2), 2)
    sizes = {"P": 2, "Q": 1, "S": 4}
    given = inputs(P, 1, 2, sizes)
    check(given, outputs_of(kernel, sizes, given, machine, tmp_path)["C"])


def test_loads_come_one_iteration_early() -> None:
    text = source_of(pipelined(gemm(P), 2)).text
    loop = re.search(r"for \(int64_t ko = .*?\{\n(.*?)\n *\}\n", text, re.DOTALL)
    assert loop is not None
    steps = re.findall(r"_tile_(\w+)\((\w+),", loop[1])
    assert steps == [
        ("loadd", "A_0_ODD"), ("loadd", "B_0_ODD"), ("dpbf16ps", "ACC_0"),
        ("loadd", "A_0_EVEN"), ("loadd", "B_0_EVEN"), ("dpbf16ps", "ACC_0"),
    ]  # fmt: skip
    assert text.count("(ACC_0, A_0_ODD, B_0_ODD)") == 2  # in the loop, and behind it


def test_a_loop_without_tiles_to_load_ahead_stays() -> None:
    """Tiles of memory that the loop fills itself."""
    staged = show_kernel(gemm(P)).replace("from 0 count S {", "from 0 count S stages 2 {")
    head, body = staged.split("{\n", 1)
    for name in ("A", "B"):
        body = body.replace(f"= {name}.bf16x", f"= copy_{name}.bf16x")
        head += f"{{\nallocate copy_{name}: bf16[S * 512] in heap "
    fill = "copy_A[0] = A.bf16[0]\ncopy_B[0] = B.bf16[0]\n"
    body = body.replace("stages 2 {\n", "stages 2 {\n" + fill)
    text = f"{head}{{\n{body.rstrip()}\n}}\n}}\n"
    assert read(text).map_body(rotate) == read(text.replace(" stages 2", ""))

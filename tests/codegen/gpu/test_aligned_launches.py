"""Strides are tested by the host, once a launch, and not in the loops of blocks."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_library import CudaLibrary, poisoned
from gpu_kernels import CUDA, lowered, scheduled

from hbc.codegen.cuda.file import emit_cuda
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import nodes

M, N, K = 9, 33, 23  # no piece of the schedule divides any of them
ALIGNED = {"A": 24, "B": 36, "C": 36}
FAST, OTHER = "pipelined_C", "pipelined_C_any_strides"


def launches(body: ir.Stmt) -> list[ir.For]:
    """The outermost loops over blocks."""
    found = [n for n in nodes(body) if isinstance(n, ir.For) and n.kind is ir.LoopKind.BLOCK]
    inner = {id(n) for s in found for n in nodes(s.body)}
    return [s for s in found if id(s) not in inner]


def conditions_in(s: ir.Node) -> set[str]:
    """The conditions on strides."""
    conditions = {show(n.condition) for n in nodes(s) if isinstance(n, ir.If)}
    return {c for c in conditions if "_stride0 %" in c}


def test_the_first_launch_has_no_tests() -> None:
    first, other = launches(lowered("pipelined", "two").body)
    assert (first.marks.version, other.marks.version) == (0, 1)
    assert conditions_in(first) == set()
    assert conditions_in(other) == {f"{x}_stride0 % 4 == 0" for x in "ABC"}


def test_one_test_leaves_none() -> None:
    """With one array that is copied in vectors, the other launch is the one where it is not aligned."""
    lines = """
        C.tile(i, j, io, jo, ii, ji, 8, 32).gpu_blocks(io, jo).gpu_threads(ii, ji)
        acc.compute_at(C, jo).store_in(registers).gpu_threads(i, j)
        acc.update.split(k, ko, ki, 8).reorder(ko, i, j, ki).gpu_threads(i, j)
        A.in(acc).compute_at(acc.update, ko).vectorize(k, 4)
    """
    first, other = launches(scheduled("gemm", lines).body)
    assert conditions_in(first) == conditions_in(other) == set()
    widths = [
        {n.type.lanes for n in nodes(s) if isinstance(n, ir.Load) and n.buffer == "A"}
        for s in (first, other)
    ]
    assert 4 in widths[0] and widths[1] == {1}


def test_tests_outside_of_loops_stay() -> None:
    """A second kernel for what is tested once in a block would be longer than the test."""
    lines = (
        "B.tile(j, i, jo, io, ji, ii, 32, 32).gpu_blocks(jo, io).gpu_threads(ji).vectorize(ii, 8)"
    )
    body = scheduled("transpose", lines).body
    assert len(launches(body)) == 1 and conditions_in(body)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> CudaLibrary:
    source = emit_cuda(lowered("pipelined", "two"), CUDA)
    return CudaLibrary(source, tmp_path_factory.mktemp("product"))


@pytest.mark.parametrize("odd", ["", "A", "B", "C", "AB", "AC", "BC", "ABC"])
def test_the_host_chooses(product: CudaLibrary, odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays with rows that are aligned, or are not: the right kernel, and the right products."""
    monkeypatch.setenv("CUDA_ON_CPU_FAILS", OTHER if odd == "" else FAST)
    strides = {x: n + (x in odd) for x, n in ALIGNED.items()}
    random = np.random.default_rng(len(odd))
    a = random.random((M, strides["A"]), np.float32)
    b = random.random((K, strides["B"]), np.float32)
    c = poisoned((M, strides["C"]))
    passed = (a, strides["A"], b, strides["B"], c, strides["C"])
    assert product.call("_strided", M, N, K, *passed) == 0
    np.testing.assert_allclose(c[:, :N], a[:, :K] @ b[:, :N], rtol=1e-5)
    assert (c[:, N:].view(np.uint8) == 0xA5).all()

"""Products by groups of four warps run on the CPU, where each fence, wait and barrier is missed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cuda_library import CudaLibrary
from suite_tables import WHOLE
from warp_group_products import ORDERS, program
from warp_group_runs import compiled, each_is_missed, is_right

from hbc.codegen.build.nvcc import build_cuda

TABLE = [(t, n) for t in ("f16", "bf16") for n in (64, 128, 256)]
SOME = TABLE if WHOLE else [("f16", 64), ("bf16", 128), ("f16", 256)]
NEEDED = re.compile(
    r"__syncthreads\(\);|__pipeline_commit\(\);|__pipeline_wait_prior\(1\);"
    r"|ptx_fence_proxy_async\(\);|ptx_wgmma_(?:fence|commit)\(\);|ptx_wgmma_wait<[01]>\(\);"
)


@pytest.mark.parametrize(("t", "n"), SOME)
def test_right_in_every_order(t: str, n: int, tmp_path: Path) -> None:
    """Whole tiles and tails, for matrices by rows and by columns."""
    sizes = [{"M": 130, "N": n + 9, "K": 200}, {"M": 128, "N": n, "K": 64}]
    assert is_right(*compiled(program(t, n, ORDERS)), sizes, tmp_path)


def without_one(text: str) -> Iterator[tuple[str, str]]:
    """The text without each of these around the loop over k of the kernel for aligned strides, and what is
    missing."""
    loop = next(re.finditer(r"\n( *)if \(\(K \+ 63\) / 64 > 0\) \{.*?\n\1\}", text, re.DOTALL))
    for m in NEEDED.finditer(text, loop.start(), loop.end()):
        yield text[: m.start()] + text[m.end() :], m[0]


def test_each_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program("f16", 64, ("ik kj",), stages=4, tail="guard")
    p, kernel, source = compiled(text)
    sizes = [{"M": 128, "N": 64, "K": 448}]
    assert is_right(p, kernel, source, sizes, tmp_path)
    missing = list(without_one(source.text))
    assert sorted({what for _, what in missing}) == [
        "__pipeline_commit();", "__pipeline_wait_prior(1);", "__syncthreads();",
        "ptx_fence_proxy_async();", "ptx_wgmma_commit();", "ptx_wgmma_fence();",
        "ptx_wgmma_wait<0>();", "ptx_wgmma_wait<1>();",
    ]  # fmt: skip
    each_is_missed(p, kernel, source, missing, sizes, tmp_path, monkeypatch)


def test_products_run_on_into_the_next_iteration() -> None:
    """One group is under way while the next one begins; no more where there are but two stages."""
    _, _, source = compiled(program("f16", 64, ("ik kj",), stages=4))
    assert "ptx_wgmma_wait<1>();" in source.text
    _, _, source = compiled(program("f16", 64, ("ik kj",), stages=2))
    assert "ptx_wgmma_wait<1>();" not in source.text
    assert "ptx_wgmma_wait<0>();" in source.text


@pytest.mark.parametrize(("t", "n"), SOME)
@pytest.mark.usefixtures("nvcc")
def test_nvcc_makes_it_asynchronous(t: str, n: int, tmp_path: Path) -> None:
    """No spills; and of what ptxas would say where it waits for each product, nothing is said."""
    _, _, source = compiled(program(t, n, ("ik kj",), stages=4))
    used = build_cuda(source, tmp_path / "k.cubin", "cubin", ("sm_90",))
    assert {r.arch for r in used} == {"sm_90a"}
    assert all(r.spills == r.stack == 0 for r in used)


def test_shared_memory_is_aligned(tmp_path: Path) -> None:
    """Pieces of eight rows of 128 bytes begin at multiples of 1024."""
    _, _, source = compiled(program("f16", 64, ("ik kj",)))
    assert "extern __shared__ __align__(1024) unsigned char shared_memory[];" in source.text
    assert CudaLibrary(source, tmp_path) is not None

"""Automatic schedules by groups of warps: right at any size, for GPUs that have them, ranked as measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu_runs import CUDA, GROUPS, SAMPLES, USUAL, made, mistakes, of_file

from hbc.cli.instruction_set import instructions_of
from hbc.cli.pipeline import load_pipeline
from hbc.frontend.automatic_gpu.groups import group_dots, ranked_groups
from hbc.frontend.automatic_gpu.points import gpu_space_of
from hbc.frontend.automatic_gpu.products import product_of
from hbc.frontend.costs.choices import Choices
from hbc.frontend.costs.inlining import inlined

LARGE = {"M": 512, "N": 512, "K": 512}
LONG = {"M": 256, "N": 256, "K": 32768}
ODD = ({"M": 67, "N": 131, "K": 37}, {"M": 130, "N": 72, "K": 200})
RIGHT = {
    "gemm_f16_tt": (LARGE, *ODD),
    "gemm_bias_relu": (LARGE, *ODD),
    "gemm_long": (LONG, {"M": 40, "N": 72, "K": 4200}, {"M": 3, "N": 5, "K": 77}),
    "batched": (
        {"B": 2, "H": 8, "M": 512, "N": 512, "K": 64},
        {"B": 2, "H": 3, "M": 65, "N": 70, "K": 40}, {"B": 1, "H": 1, "M": 130, "N": 72, "K": 136},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_results_are_those_of_the_oracle(name: str, tmp_path: Path) -> None:
    """At sizes that divide nothing, chosen for large ones; with copies in bulk and without."""
    typical, *tried = RIGHT[name]
    found = made(name, GROUPS, **typical)
    assert "store_in(wgmma_accumulator)" in found.text
    assert found.text.count("copy_in_bulk()") == 2
    assert not found.refused, found.refused
    assert mistakes(name, tmp_path, *tried, archs=GROUPS, **typical) == 0


@pytest.mark.parametrize(
    ("archs", "memory"), [("sm_80", "mma"), (USUAL, "mma"), ("sm_90", "wgmma"), ("sm_100", "mma")]
)
def test_all_architectures_have_the_instructions(archs: str, memory: str) -> None:
    found = made("gemm_f16", archs, **LARGE)
    assert f"store_in({memory}_accumulator)" in found.text
    assert {i.place.memory.value for i in found.kernel.instructions} == {f"{memory}_accumulator"}


def test_tiles_grow_with_the_matrices() -> None:
    """A long sum of few results is done in pieces."""
    kernel = SAMPLES / "cuda" / "gemm_f16.hb"

    def blocks(n: int, k: int) -> str:
        return of_file(kernel, GROUPS, M=n, N=n, K=k).about

    assert "in blocks of 64 x 64" in blocks(512, 512)
    assert "in blocks of 64 x 128" in blocks(1024, 1024)
    assert "in blocks of 128 x 256" in blocks(4096, 4096)
    assert "pieces" in blocks(256, 32768)


# Microseconds of f16 products on an H100, by M = N and K: of blocks of rows, columns and stages.
MEASURED = {
    (512, 512): {
        (64, 64, 4): 4.6, (64, 64, 8): 4.4, (64, 128, 6): 5.2, (64, 256, 4): 6.7, (128, 64, 4): 5.6,
        (128, 128, 3): 6.8, (128, 256, 4): 10.3, (256, 128, 4): 10.3,
    },
    (1024, 1024): {
        (64, 64, 4): 8.1, (64, 64, 8): 10.0, (64, 128, 4): 7.9, (64, 128, 6): 7.7, (64, 256, 4): 9.1,
        (128, 64, 4): 8.2, (128, 128, 4): 8.9, (128, 256, 4): 14.3, (256, 128, 4): 14.7,
    },
    (2048, 2048): {
        (64, 64, 4): 55.3, (64, 128, 4): 40.9, (64, 256, 4): 35.5, (128, 64, 4): 43.1,
        (128, 128, 3): 30.0, (128, 128, 4): 33.8, (128, 256, 4): 29.8, (256, 128, 4): 30.0,
    },
    (4096, 4096): {
        (64, 64, 4): 452.5, (64, 128, 4): 347.8, (64, 256, 4): 245.9, (128, 64, 4): 367.8,
        (128, 128, 4): 234.9, (128, 256, 3): 200.9, (128, 256, 4): 202.1, (256, 128, 4): 207.8,
    },
    (256, 32768): {
        (64, 64, 4): 119.9, (64, 64, 8): 95.4, (64, 128, 4): 130.4, (128, 64, 4): 145.5,
        (128, 128, 3): 226.2, (128, 256, 4): 298.1, (256, 128, 4): 287.2,
    },
}  # fmt: skip
LOST, OFF = 1.05, 1.35


@pytest.mark.parametrize(("side", "deep"), MEASURED)
def test_the_model_is_near_what_was_measured(side: int, deep: int) -> None:
    """What it takes for the fastest of these is nearly so, and no time is far off."""
    p = load_pipeline(SAMPLES / "cuda" / "gemm_f16.hb", {})
    sizes = {"M": str(side), "N": str(side), "K": str(deep)}
    space = gpu_space_of(p, CUDA, sizes, "s", instructions_of(CUDA))
    graph = inlined(space.pipeline, space.sizes, space.dots, Choices({}))
    product = product_of(graph, "C")
    assert product is not None
    measured = MEASURED[side, deep]
    blocks = ranked_groups(product, group_dots(graph, product, space.dots))
    said = {(b.rows, b.columns, b.stages): cycles / 1.7e3 for cycles, b in blocks}
    best = min(measured, key=lambda block: said[block])
    assert measured[best] <= LOST * min(measured.values()), best
    for block, time in measured.items():
        assert time / OFF <= said[block] <= time * OFF, (block, said[block])

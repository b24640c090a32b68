"""Automatic schedules for GPUs are right at any size, and have the shape that those of the samples have."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from gpu_runs import CUDA, KERNELS, SAMPLES, made, mistakes, of_file

from hbc.cli.instruction_set import instructions_of
from hbc.cli.pipeline import load_pipeline
from hbc.codegen.gpu.banks import bank_uses
from hbc.frontend.automatic_gpu.points import gpu_space_of

ALL = sorted(file.stem for file in KERNELS.glob("*.hb"))
ODD = (1, 2, 5, 17, 33, 40, 64, 70, 97)


@pytest.mark.parametrize("name", ALL)
def test_results_are_those_of_the_oracle(name: str, tmp_path: Path) -> None:
    """At sizes that divide nothing, and at those of the example."""
    p = load_pipeline(KERNELS / f"{name}.hb", {})
    random = np.random.default_rng(len(name))
    limit = ODD if len(p.sizes) <= 3 else ODD[:5]
    tried = [{s.name: int(random.choice(limit)) for s in p.sizes} for _ in range(3)]
    assert mistakes(name, tmp_path, *tried, dict(p.examples[0].sizes)) == 0


# What stands in the text of each class.
SHAPES = {
    "batched": ("fuse(b, h, bf)", "store_in(mma_accumulator)", "pipeline(ko, "),
    "conv_same": ("store_in(mma_accumulator)", "P.compute_at(acc.update, "),
    "conv_strided": ("store_in(mma_accumulator)", "I.in(acc).compute_at(acc.update, co)"),
    "filter_2d": ("store_in(mma_accumulator)", "pipeline(sc, 2)", "vectorize(ri)"),
    "filter_double": ("store_in(wmma_accumulator)", "bound(p, 0, 2)", "taps.reorder_storage(p, q"),
    "filter_half": ("store_in(mma_accumulator)", "pipeline(rc, 2)", "split(yi, yw, yv, 2)"),
    "gemm_f32": ("store_in(registers)", "pipeline(ko, 3)"),
    "gemm_tf32": ("store_in(mma_accumulator)", "split(ki, kt, kv, 8)"),
    "gemm_u8s8": ("store_in(mma_accumulator)", "reorder_storage(j, k)"),
    "layernorm": ("mean.compute_at(Y, block)", "gpu_lanes(ml)"),
    "shared_norm": (
        "top.update.split(i, io, iw, 8)",
        "gpu_blocks(block).gpu_threads(iw).gpu_lanes(kl)",
    ),
    "softmax": ("total.compute_at(Y, io)", "gpu_lanes(kl)"),
    "total": ("rfactor(kb, s)", "acc_s.compute_root()", "gpu_lanes(krl)"),
    "axpy": ("vectorize(jv)", "gpu_threads(jt)"),
    "transpose": ("A.in(T).compute_at(T, block)", "pad_storage(j, 33)"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_each_class_has_its_shape(name: str) -> None:
    found = made(name)
    assert [part for part in SHAPES[name] if part not in found.text] == [], found.text
    assert not found.refused, found.refused


def test_a_large_product_has_the_tiles_of_the_sample() -> None:
    """Those that are the fastest by `mma.sync` at these sizes, as samples/bench/RESULTS.gpu.md has it."""
    text = of_file(SAMPLES / "cuda" / "gemm_f16.hb", M=4096, N=4096, K=4096).text
    assert "C.tile(i, j, io, jo, ii, ji, 128, 128).tile(ii, ji, iw, jw, iu, ju, 64, 64)" in text
    small = of_file(SAMPLES / "cuda" / "gemm_f16.hb", M=256, N=256, K=512).text
    assert "128, 128" not in small  # more blocks than a few


@pytest.mark.parametrize("name", ["gemm_f16", "gemm_tf32", "gemm_u8s8", "transpose", "conv_same"])
def test_shared_memory_is_read_without_conflicts(name: str) -> None:
    loads = [u for u in bank_uses(made(name).kernel) if not u.stores]
    assert loads
    assert [u for u in loads if u.wavefronts > u.least] == []


def test_the_schedule_is_for_cuda() -> None:
    assert made("axpy").text.startswith(f"schedule auto_{CUDA.name} for {CUDA.name} {{\n")


@pytest.mark.parametrize(
    "name", ["batched", "conv_strided", "gemm_f16", "gemm_f32", "gemm_of_exp", "softmax"]
)
def test_there_are_candidates_at_any_typical_size(name: str) -> None:
    """Of all blocks that are tried some fit, and the model has a number for each."""
    p = load_pipeline(KERNELS / f"{name}.hb", {})
    for size in (1, 7, 64, 500, 2048, 16384):
        space = gpu_space_of(
            p, CUDA, {s.name: str(size) for s in p.sizes}, "s", instructions_of(CUDA)
        )
        for kind in ("mma", "threads"):
            made = space.made({"acc.by": kind})
            assert made.text.startswith("schedule s for cuda {")
            assert made.cycles is None or 0 < made.cycles < math.inf
            again = space.made({"acc.by": kind}, 255)
            assert (again.cycles or 0) >= (made.cycles or 0)


def test_neighbours_that_serve_other_sums_are_no_rows() -> None:
    """A convolution along a row: a thread for each pixel, as lanes of a warp would read the same again."""
    found = of_file(SAMPLES / "conv1d.hb")
    assert "gpu_lanes" not in found.text

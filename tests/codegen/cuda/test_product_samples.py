"""The matrix product and the layer for GPUs: every schedule agrees with the oracle on the processor, at the
sizes that the bundle checks, and nvcc keeps the fragments in registers."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, architectures, poisoned

from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.cli.runs.trials import accepted
from hbc.codegen.build.nvcc import build_cuda
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.limits import own_arch
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.meaning.numpy_types import numpy_dtype

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
CASES = tomllib.loads((SAMPLES / "bench" / "gpu_cases.toml").read_text(encoding="utf-8"))
TARGET = TARGETS["cuda"]
SCHEDULES = [
    ("gemm_f16", "wmma"), ("gemm_f16", "wmma_64"), ("gemm_f16", "wmma_direct"), ("gemm_f16", "mma"),
    ("gemm_f16", "wmma_async"), ("gemm_f16", "wmma_split_k"), ("gemm_f16", "simt"),
    ("gemm_f16", "mma_persistent"), ("gemm_f16", "mma_split_k"), ("gemm_f16", "simt_direct"),
    ("gemm_f16", "simt_async"), ("gemm_f16", "wgmma"), ("gemm_f16", "wgmma_128"),
    ("conv_layer", "wmma"), ("conv_layer", "mma"), ("conv_layer", "simt"),
]  # fmt: skip


@cache
def lowered(name: str, schedule: str) -> Kernel:
    p = load_pipeline(SAMPLES / "cuda" / f"{name}.hb", {})
    return lower_to_kernel(p, choose_schedule(p, "cuda", schedule), TARGET)


@pytest.mark.parametrize(("name", "schedule"), SCHEDULES)
def test_agrees(name: str, schedule: str, tmp_path: Path) -> None:
    p = load_pipeline(SAMPLES / "cuda" / f"{name}.hb", {})
    kernel = lowered(name, schedule)
    source = emit_cuda(kernel, TARGET)
    names = {"wmma": "wmma::mma_sync", "mma": "ptx_mma_", "wgmma": "ptx_wgmma_"}
    used = names.get(schedule.partition("_")[0])
    assert used is None or used in source.text
    # gcc does not see that what one loop over threads leaves out, under a condition, no other one reads.
    library = CudaLibrary(source, tmp_path, "-Wno-maybe-uninitialized")
    cases = CASES[name]["check"]
    assert all(accepted(p, kernel.checks, c) for c in cases)
    random = np.random.default_rng(7)
    for sizes in cases:
        arrays = {
            a.name: random.uniform(-1, 1, extents(a, sizes)).astype(numpy_dtype(a.element))
            for a in p.inputs
        }
        out = poisoned(extents(p.outputs[0], sizes))
        assert library.call("", *(sizes[s.name] for s in p.sizes), *arrays.values(), out) == 0
        reference = evaluate(p, sizes, arrays)[p.outputs[0].name]
        assert compare(out, reference).mismatches == 0


@pytest.mark.parametrize(("name", "schedule"), [s for s in SCHEDULES if s[1] != "simt"])
@pytest.mark.usefixtures("nvcc")
def test_no_spills(name: str, schedule: str, tmp_path: Path) -> None:
    source = emit_cuda(lowered(name, schedule), TARGET)
    archs = ("sm_90",) if own_arch(source.instructions) else architectures(name, schedule)
    used = build_cuda(source, tmp_path / "k.fatbin", "fatbin", archs)
    assert used and all((r.spills, r.stack) == (0, 0) for r in used)


def test_the_layer_ends_in_fragments() -> None:
    """The bias is what the sums begin with, and ReLU is done where they are."""
    text = emit_cuda(lowered("conv_layer", "wmma"), TARGET).text
    assert "wmma::load_matrix_sync(acc[e], B_in_acc, (unsigned)(0), wmma::mem_row_major);" in text
    assert "acc_0_result.x[e] = most_f32(acc[0].x[e], 0.0f);" in text

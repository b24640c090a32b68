"""The matrix product and the layer for GPUs: every schedule agrees with the oracle on the processor, at the
sizes that the bundle checks, and nvcc keeps the fragments in registers."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_checks import CASES, count_agreeing, cuda_of, resources

SCHEDULES = [
    ("gemm_f16", "wmma"), ("gemm_f16", "wmma_64"), ("gemm_f16", "wmma_direct"), ("gemm_f16", "mma"),
    ("gemm_f16", "wmma_async"), ("gemm_f16", "wmma_split_k"), ("gemm_f16", "simt"),
    ("gemm_f16", "mma_persistent"), ("gemm_f16", "mma_split_k"), ("gemm_f16", "simt_direct"),
    ("gemm_f16", "simt_async"), ("gemm_f16", "wgmma"), ("gemm_f16", "wgmma_128"),
    ("conv_layer", "wmma"), ("conv_layer", "mma"), ("conv_layer", "simt"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "schedule"), SCHEDULES)
def test_agrees(name: str, schedule: str, tmp_path: Path) -> None:
    names = {"wmma": "wmma::mma_sync", "mma": "ptx_mma_", "wgmma": "ptx_wgmma_"}
    used = names.get(schedule.partition("_")[0])
    assert used is None or used in cuda_of(name, schedule).text
    assert count_agreeing(name, schedule, tmp_path) == len(CASES[name]["check"])


@pytest.mark.parametrize(("name", "schedule"), [s for s in SCHEDULES if s[1] != "simt"])
@pytest.mark.usefixtures("nvcc")
def test_no_spills(name: str, schedule: str, tmp_path: Path) -> None:
    used = resources(name, schedule, tmp_path)
    assert all((r.spills, r.stack) == (0, 0) for r in used)


def test_the_layer_ends_in_fragments() -> None:
    """The bias is what the sums begin with, and ReLU is done where they are."""
    text = cuda_of("conv_layer", "wmma").text
    assert "wmma::load_matrix_sync(acc[e], B_in_acc, (unsigned)(0), wmma::mem_row_major);" in text
    assert "acc_0_result.x[e] = most_f32(acc[0].x[e], 0.0f);" in text

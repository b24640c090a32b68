"""Conditions of sums in fragments: dropped where the factors are zeros beyond them, else kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, cuda_of

from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

KERNEL = """
size M, N, K
input A: f16[M, K]
input B: f16[EXTENT, N]
output C: f32[M, N]
reduce p in (K + 31) / 32, r in 32
acc[i, j] = 0
acc[i, j] += f32(A[i, 32 * p + r]) * f32(B[32 * p + r, j]) where CONDITION
C[i, j] = acc[i, j]
schedule s for cuda {
  C.tile(i, j, io, jo, ii, ji, 32, 16).split(ii, iw, iv, 16).gpu_blocks(io, jo)
  C.gpu_threads(iw).vectorize(iv).vectorize(ji)
  acc.compute_at(C, jo).store_in(mma_accumulator).split(i, iw, iv, 16).gpu_threads(iw)
  acc.vectorize(iv).vectorize(j)
  acc.update.split(r, ro, ri, 16).split(i, iw, iv, 16).reorder(p, ro, iw, iv, j, ri)
  acc.update.gpu_threads(iw).atomic().vectorize(iv).vectorize(j).vectorize(ri)
  A.in(acc).compute_at(acc.update, p).store_in(shared)
  B.in(acc).compute_at(acc.update, p).store_in(shared)
}
"""


@pytest.mark.parametrize(
    ("condition", "extent", "dropped"),
    [
        ("32 * p + r < K", "K", True),
        ("32 * p + r < K", "K + 2", False),  # B goes on
        ("32 * p + r < K - 3", "K", False),
        ("32 * p + r < K and r < 7", "K", False),
    ],
)
def test_condition(condition: str, extent: str, dropped: bool, tmp_path: Path) -> None:
    """Of sizes that divide nothing, with an infinity behind the end of A in each row of B."""
    text = KERNEL.replace("CONDITION", condition).replace("EXTENT", extent)
    source = cuda_of(text)
    loads = [line for line in source.text.splitlines() if "ptx_ldmatrix_x4(ptx_words(" in line]
    assert (bool(loads) and "] &=" not in source.text) == dropped  # masks of what is loaded
    p = check(parse(Source("k.hb", text)), {})
    sizes = {"M": 40, "N": 23, "K": 41}
    random = np.random.default_rng(7)
    a = random.uniform(-1, 1, (40, 41)).astype(np.float16)
    b = random.uniform(-1, 1, (41 if extent == "K" else 43, 23)).astype(np.float16)
    b[41:] = np.inf
    reference = evaluate(p, sizes, {"A": a, "B": b})["C"]
    c = np.full((40, 23), 77, np.float32)
    assert CudaLibrary(source, tmp_path).call("", *sizes.values(), a, b, c) == 0
    assert compare(c, reference).mismatches == 0

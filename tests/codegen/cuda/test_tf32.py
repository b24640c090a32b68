"""Products of floats on tensor cores: `tf32(a) * tf32(b)` is what they multiply, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, cuda_of, poisoned

from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

KERNEL = """
size M, N, K
input A: f32[M, K]
input B: f32[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += PRODUCT
C[i, j] = acc[i, j]
schedule s for cuda {
  C.tile(i, j, io, jo, ii, ji, 32, 16, tail = exact).split(ii, iw, iv, 16).gpu_blocks(io, jo)
  C.gpu_threads(iw).vectorize(iv).vectorize(ji)
  acc.compute_at(C, iw).store_in(PLACE).vectorize(i, 16).vectorize(j, 16)
  acc.update.split(k, ko, ki, 8, tail = exact).reorder(ko, i, j, ki)
  acc.update.atomic().vectorize(i, 16).vectorize(j, 16).vectorize(ki)
}
"""
SIZES = {"M": 32, "N": 32, "K": 24}


@pytest.mark.parametrize("place", ["mma_accumulator", "wmma_accumulator"])
def test_products(place: str, tmp_path: Path) -> None:
    """Of numbers with more bits than TF32 has: they round as the algorithm says."""
    text = KERNEL.replace("PRODUCT", "tf32(A[i, k]) * tf32(B[k, j])").replace("PLACE", place)
    source = cuda_of(text)
    used = "ptx_mma_m16n16k8_f32_f32(" if place.startswith("mma") else "wmma::__float_to_tf32("
    assert used in source.text
    random = np.random.default_rng(11)
    values = {
        "A": random.standard_normal((32, 24)).astype(np.float32),
        "B": random.standard_normal((24, 32)).astype(np.float32),
    }
    c = poisoned((32, 32))
    assert CudaLibrary(source, tmp_path).call("", *SIZES.values(), *values.values(), c) == 0
    p = check(parse(Source("k.hb", text)), {})
    reference = evaluate(p, SIZES, dict(values))["C"]
    assert compare(c, reference).mismatches == 0
    exact = evaluate(
        check(parse(Source("k.hb", text.replace("tf32(", "("))), {}), SIZES, dict(values)
    )["C"]
    assert compare(c, exact).mismatches > 100  # the bound sees the rounding


@pytest.mark.parametrize("place", ["mma_accumulator", "wmma_accumulator"])
def test_any_size(place: str, tmp_path: Path) -> None:
    """Factors straight from the device's memory, masked at the edges, K included."""
    text = KERNEL.replace(", tail = exact", "").replace("PLACE", place)
    text = text.replace("PRODUCT", "tf32(A[i, k]) * tf32(B[k, j])")
    source = cuda_of(text)
    p = check(parse(Source("k.hb", text)), {})
    random = np.random.default_rng(12)
    library = CudaLibrary(source, tmp_path)
    for m, n, k in ((37, 21, 13), (32, 16, 7), (5, 40, 16)):
        values = {
            "A": random.standard_normal((m, k)).astype(np.float32),
            "B": random.standard_normal((k, n)).astype(np.float32),
        }
        c = poisoned((m, n))
        assert library.call("", m, n, k, *values.values(), c) == 0
        reference = evaluate(p, {"M": m, "N": n, "K": k}, dict(values))["C"]
        assert compare(c, reference).mismatches == 0


def test_other_products_of_floats_are_refused() -> None:
    text = KERNEL.replace("PRODUCT", "A[i, k] * B[k, j]").replace("PLACE", "mma_accumulator")
    with pytest.raises(HbcError) as raised:
        cuda_of(text)
    shown = raised.value.diagnostics[0].render()
    assert "rounds both to tf32" in shown
    assert "write `tf32(..) * tf32(..)`" in shown

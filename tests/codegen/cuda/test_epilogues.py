"""What is done to sums in fragments is done there, element by element, where that is possible."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, cuda_of, poisoned

from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

KERNEL = """
size M, N, K
input A: f16[M, K]
input B: f16[K, N]
input E: f16[M, K]
input bias: f32[N]
output C: f32[M, N]
require M <= N
reduce k in K
acc[i, j] = BEGIN
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
other[i, j] = 0
other[i, j] += f32(E[i, k]) * f32(B[k, j])
C[i, j] = END
schedule s for cuda {
  C.tile(i, j, io, jo, ii, ji, 32, 16, tail = exact).split(ii, iw, iv, 16).gpu_blocks(io, jo)
  C.gpu_threads(iw).vectorize(iv).vectorize(ji)
  acc.compute_at(C, iw).store_in(wmma_accumulator).vectorize(i, 16).vectorize(j, 16)
  acc.update.split(k, ko, ki, 16, tail = exact).reorder(ko, i, j, ki)
  acc.update.atomic().vectorize(i, 16).vectorize(j, 16).vectorize(ki)
  other.compute_at(C, iw).store_in(wmma_accumulator).vectorize(i, 16).vectorize(j, 16)
  other.update.split(k, ko, ki, 16, tail = exact).reorder(ko, i, j, ki)
  other.update.atomic().vectorize(i, 16).vectorize(j, 16).vectorize(ki)
}
"""
SIZES = {"M": 32, "N": 32, "K": 48}
ELEMENTWISE = {
    "scale": ("0", "acc[i, j] * 0.5 + other[i, j]"),
    "relu": ("0", "max(acc[i, j], 0.0) + other[i, j]"),
    "bias first": ("bias[j]", "acc[i, j] - other[i, j]"),
    "bias last": ("0", "max(acc[i, j] + other[i, j] + bias[j], 0.0)"),
    "value twice": (
        "bias[j]",
        "let t = acc[i, j] * 0.5 + other[i, j] in max(t + bias[j], 0.25 * t)",
    ),
    "choice": ("0", "select(acc[i, j] > other[i, j], acc[i, j], bias[j])"),
    "factor of a row": ("bias[i]", "acc[i, j] * bias[i] + other[i, j]"),
    "clamp": ("0", "clamp(acc[i, j], -1.0, 1.0) * other[i, j]"),
}


def texts(begin: str, end: str) -> str:
    return KERNEL.replace("BEGIN", begin).replace("END", end)


def inputs() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    shapes = {"A": (32, 48), "B": (48, 32), "E": (32, 48)}
    arrays = {n: random.uniform(-1, 1, s).astype(np.float16) for n, s in shapes.items()}
    return {**arrays, "bias": random.uniform(-1, 1, 32).astype(np.float32)}


def agrees(text: str, folder: Path) -> None:
    """Compiles for the processor, runs, and compares with the oracle."""
    values: Mapping[str, np.ndarray] = inputs()
    c = poisoned((32, 32))
    assert CudaLibrary(cuda_of(text), folder).call("", *SIZES.values(), *values.values(), c) == 0
    reference = evaluate(check(parse(Source("k.hb", text)), {}), SIZES, dict(values))["C"]
    assert compare(c, reference).mismatches == 0


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name: str, tmp_path: Path) -> None:
    text = texts(*ELEMENTWISE[name])
    source = cuda_of(text).text
    assert ".num_elements" in source or name == "bias first"
    assert "a copy of tiles" not in source
    assert ("wmma::mem_col_major" in source) == (name == "factor of a row")
    agrees(text, tmp_path)


@pytest.mark.parametrize(
    "end",
    [
        "acc[i, j] * f32(i) + other[i, j]",  # says where the element is
        "acc[i, j] + other[i, 15 - j % 16]",  # says so too
        "acc[i, j] + other[i, j] * f32(A[0, 0])",
    ],
)
def test_what_is_not_stays_right(end: str, tmp_path: Path) -> None:
    """Not the same for all elements: not done in fragments."""
    source = cuda_of(texts("0", end)).text
    assert (".x[" in source) == ("A[0, 0]" in end)

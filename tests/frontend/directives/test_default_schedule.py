"""The schedule that is taken where none is named: of those for a GPU the first with tensor cores."""

from __future__ import annotations

import pytest

from hbc.cli.pipeline import choose_schedule
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

ALGORITHM = """
size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
"""
PLAIN = "schedule {} for {} {{ C.compute_root() }}"
TENSOR = "schedule {} for cuda {{ acc.store_in({}) }}"


@pytest.mark.parametrize(
    ("schedules", "chosen"),
    [
        ([PLAIN.format("simt", "cuda"), TENSOR.format("wmma", "wmma_accumulator")], "wmma"),
        ([TENSOR.format("mma", "mma_accumulator"), PLAIN.format("simt", "cuda")], "mma"),
        ([TENSOR.format("w", "wmma_accumulator"), TENSOR.format("m", "mma_accumulator")], "w"),
        ([TENSOR.format("g", "wgmma_accumulator"), TENSOR.format("w", "wmma_accumulator")], "w"),
        ([TENSOR.format("g", "wgmma_accumulator"), PLAIN.format("simt", "cuda")], "g"),
        ([PLAIN.format("one", "cuda"), PLAIN.format("two", "cuda")], "one"),
        ([PLAIN.format("cpu", "c"), PLAIN.format("simt", "cuda")], "simt"),
    ],
)
def test_tensor_cores_first(schedules: list[str], chosen: str) -> None:
    p = check(parse(Source("k.hb", ALGORITHM + "\n".join(schedules) + "\n")), {})
    found = choose_schedule(p, "cuda", None)
    assert found is not None
    assert found.name == chosen


def test_the_named_one() -> None:
    text = ALGORITHM + PLAIN.format("simt", "cuda") + "\n" + TENSOR.format("w", "wmma_accumulator")
    found = choose_schedule(check(parse(Source("k.hb", text + "\n")), {}), "cuda", "simt")
    assert found is not None
    assert found.name == "simt"

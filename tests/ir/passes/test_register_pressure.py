"""Pins the warning for buffers that do not fit the vector registers."""

from __future__ import annotations

import pytest

from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS
from hbc.ir.passes.register_pressure import register_pressure

GEMM = """
size M, N, K
input A: f32[M, K]
input B: f32[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j] = acc[i, j]
schedule s for TARGET {
    C.tile(i, j, io, jo, ii, ji, ROWS, COLUMNS).unroll(ii).vectorize(ji, LANES).unroll(ji)
    acc.compute_at(C, jo).store_in(registers).unroll(i).vectorize(j, LANES).unroll(j)
    acc.update.reorder(k, i, j).unroll(i).vectorize(j, LANES).unroll(j)
}
"""


@pytest.mark.parametrize(
    ("target", "rows", "lanes", "vectors", "warned"),
    [
        ("avx512", 7, 16, 4, False),  # 28 of 32
        ("avx512", 8, 16, 4, True),
        ("avx2", 6, 8, 2, False),  # 12 of 16
        ("avx2", 8, 8, 2, True),
        ("arm_dot", 7, 4, 4, False),
        ("arm_dot", 8, 4, 4, True),
    ],
)
def test_accumulators(target: str, rows: int, lanes: int, vectors: int, warned: bool) -> None:
    text = GEMM.replace("TARGET", target).replace("ROWS", str(rows))
    text = text.replace("COLUMNS", str(lanes * vectors)).replace("LANES", str(lanes))
    p = check(parse(Source("k.hb", text)), {})
    kernel = lower_to_kernel(p, choose_schedule(p, target, None), TARGETS[target])
    found = register_pressure(kernel, TARGETS[target])
    assert [f"`acc` fills {rows * vectors} vector registers" in d.message for d in found] == [
        True for _ in range(warned)
    ]
    assert all(d.span is not None and d.hint for d in found)

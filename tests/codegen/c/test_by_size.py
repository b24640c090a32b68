"""One C function for several schedules, of which it takes one by its sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled import compiled, emitted, lowered, poisoned

from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.c.file import emit_c
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

GEMM = """
size M, N, K
input A: f32[M, K]
input B: f32[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]
"""
BLOCKS = """
schedule blocks for avx2 where N % 16 == 0 and M % 4 == 0 {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = exact).vectorize(ji, 8).unroll(ji).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 8).unroll(i).unroll(j)
    acc.update.reorder(k, i, j).vectorize(j, 8).unroll(i).unroll(j)
}
"""
ROW = """
schedule row for avx2 where M < 4 {
    C.vectorize(j, 8)
    acc.compute_at(C, j).vectorize(j, 8)
    acc.update.reorder(k, i, j).vectorize(j, 8)
}
"""
ANY = """
schedule any for c {
    C.reorder(j, i)
    acc.compute_at(C, j)
}
"""


@pytest.mark.skipif("avx2" not in cpu_features(), reason="the processor has no AVX2")
@pytest.mark.parametrize("schedules", [BLOCKS + ROW + ANY, BLOCKS + ROW, ANY + ROW + BLOCKS])
def test_sizes_on_both_sides_of_the_conditions(schedules: str, tmp_path: Path) -> None:
    library = compiled(GEMM + schedules, tmp_path, "avx2")
    random = np.random.default_rng(1)
    for m, n, k in (
        (4, 16, 5), (8, 32, 7), (8, 33, 7), (7, 32, 3), (3, 9, 2), (1, 16, 4), (4, 15, 1), (5, 17, 64),
        (12, 48, 1), (3, 16, 0), (4, 16, 0),
    ):  # fmt: skip
        a = random.integers(-9, 9, (m, k)).astype(np.float32)
        b = random.integers(-9, 9, (k, n)).astype(np.float32)
        c = poisoned((m, n))
        assert library.dense(m, n, k, a, b, c) == 0
        assert (c == a @ b).all(), (m, n, k)


def test_what_a_schedule_promises_holds_where_it_is_taken() -> None:
    """`tail = exact` is checked only there, and not at all where the condition says it already."""
    kernel = lowered(GEMM + BLOCKS + ANY, "avx2")
    assert not [c for c in kernel.checks if "divide" in c.message or "multiple" in c.message]
    looser = BLOCKS.replace("M % 4 == 0", "M >= 4")
    alone = lowered(GEMM + looser.replace(" where N % 16 == 0 and M >= 4", ""), "avx2")
    own = set(lowered(GEMM + looser + ANY, "avx2").checks) - set(kernel.checks)
    (check_,) = own
    assert check_.message in {c.message for c in alone.checks}
    assert check_ not in alone.checks


def test_the_header_is_that_of_one_schedule() -> None:
    several, one = emitted(GEMM + BLOCKS + ROW + ANY, "avx2"), emitted(GEMM + ANY, "avx2")
    assert several.header.split("*/", 1)[1] == one.header.split("*/", 1)[1]


def test_conditions_are_facts() -> None:
    """What divides a size leaves no rest; neither do its divisors."""
    text = GEMM + "schedule s for c where N % 64 == 0 { C.unroll(j, 8) }"
    p = check(parse(Source("k.hb", text)), {})
    target = TARGETS["c"]
    own = emit_c(lower_to_kernel(p, choose_schedule(p, "c", "s"), target), target)
    general = emitted(text.replace(" where N % 64 == 0", ""))
    assert "% 8" in general.text
    assert "% 8" not in own.text


def test_fixed_sizes_leave_one_body() -> None:
    p = check(parse(Source("k.hb", GEMM + BLOCKS + ROW + ANY)), {"M": "8", "N": "32"}, True)
    kernel = lower_to_kernel(p, choose_schedule(p, "avx2", None), TARGETS["avx2"])
    text = emit_c(kernel, TARGETS["avx2"]).text
    assert "C.tile" in text
    assert "C.reorder" not in text
    assert "any: " not in text

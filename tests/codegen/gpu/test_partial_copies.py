"""Copies at edges as one masked copy: what it puts in memory is what the branches did."""

from __future__ import annotations

import numpy as np
import pytest

from hbc.codegen.gpu.partial_copies import live_count, partial_copy
from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import Load, Stmt, const_index
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.types import F32
from hbc.ir.meaning.interp import run

ZEROS = "C[ramp(0, 1, 8)] = x8(0:f32)"
ARRAYS = (
    Argument("A", F32, (const_index(30),), False),
    Argument("C", F32, (const_index(8),), True),
)


def copied(condition: str) -> str:
    return f"C[ramp(0, 1, 8)] = A.f32x8[ramp(i, 1, 8) if {condition}]"


@pytest.mark.parametrize(
    "text",
    [
        copied("ramp(i, 1, 8) < x8(n)"),
        copied("ramp(i + 2, 1, 8) <= x8(n)"),
        copied("x8(n) > ramp(i, 1, 8)"),
        copied("x8(n) >= ramp(2 * i, 1, 8) & x8(i < 5)"),
        f"if i < 3 {{ {copied('ramp(i, 1, 8) < x8(n)')} }} else {{ {ZEROS} }}",
    ],
)
def test_the_first_elements_and_zeros(text: str) -> None:
    before = read_stmt(text)
    after = partial_copy(before)
    assert after is not None
    assert isinstance(after.value, Load) and live_count(after.value.mask) is not None
    for i in range(7):
        for n in range(12):
            assert (outcome(before, i, n) == outcome(after, i, n)).all(), (i, n)


@pytest.mark.parametrize(
    "text",
    [
        copied("ramp(i, 2, 8) < x8(n)"),
        copied("ramp(i, 1, 8) > x8(n)"),
        f"if i < 3 {{ {copied('x8(i < n)')} }} else {{ C[ramp(0, 1, 8)] = x8(1:f32) }}",
        f"if i < 3 {{ {copied('x8(i < n)')} }}",
        "C[ramp(0, 1, 8)] = A.f32x8[ramp(i, 1, 8)]",
    ],
)
def test_others_stay(text: str) -> None:
    assert partial_copy(read_stmt(text)) is None


def outcome(s: Stmt, i: int, n: int) -> np.ndarray:
    k = Kernel("k", (Size("i"), Size("n")), ARRAYS, (), (), s)
    arrays = {"A": np.arange(1, 31, dtype=np.float32), "C": np.full(8, -1, np.float32)}
    run(k, {"i": i, "n": n}, arrays)
    return arrays["C"]

"""Blocks that do the most are begun first: a GPU begins them in the order of their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from warp_group_runs import compiled, is_right

SIZES = [{"N": 1}, {"N": 31}, {"N": 100}]


def program(interval: str) -> str:
    """Rows of a part of a matrix, times a vector, 32 rows a block."""
    return f"""
size   N
input  A: f32[N, N]
input  x: f32[N]
output y: f32[N]
reduce k in {interval}
y[i]  = 0
y[i] += A[i, k] * x[k]
schedule rows for cuda {{
    y.split(i, io, ii, 32).gpu_blocks(io).gpu_threads(ii)
    y.update.split(i, io, ii, 32).reorder(io, ii, k).gpu_blocks(io).gpu_threads(ii)
}}
"""


@pytest.mark.parametrize(
    ("interval", "turned"),
    [
        ("0 .. i + 1", True),
        ("0 .. min(N, i + 8)", True),
        ("0 .. i / 2", True),
        ("i .. N", False),
        ("0 .. N", False),
        ("0 .. max(i, N - i)", False),
        ("0 .. (i + 1) % 8", False),
    ],
)
def test_which_are_turned(interval: str, turned: bool, tmp_path: Path) -> None:
    """Those whose loops are longer the larger the number of the block is; and what comes out stays right."""
    p, kernel, source = compiled(program(interval))
    assert ("= gridDim.x - 1 - blockIdx.x;" in source.text) == turned
    assert is_right(p, kernel, source, SIZES, tmp_path)

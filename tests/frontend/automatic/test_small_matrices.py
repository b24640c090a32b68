"""Small matrices, one in each lane: what they are made of is computed for a block of lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of

# Triangular systems: each unknown from those before.
PROGRAM = """\
size B
param N: i32 = 5
input A: f32[N, N, B]
input Y: f32[N, B]
output X: f32[N, B]
reduce i in N, k in 0 .. i
x[r, b] = Y[r, b]
x[i, b] -= A[i, k, b] * x[k, b]
X[r, b] = x[r, b] * 0.5
example { B = 4096; A = random(1, -1, 1); Y = random(2) }
"""


def written(folder: Path, target: str, program: str = PROGRAM) -> Path:
    """The file with the schedule that hbc makes."""
    file = folder / "k.hb"
    file.write_text(program)
    assert (
        exit_code_of(["compile", str(file), "--target", target, "--schedule", "auto", "--write"])
        == 0
    )
    return file


def test_all_points_of_a_block_of_lanes(tmp_path: Path) -> None:
    text = written(tmp_path, "avx512").read_text()
    assert "reorder(bo, r, bi)" in text
    assert "x.compute_at(X, bo)" in text
    assert "x.update.reorder(i, k, b).vectorize(b, 16)" in text


def test_not_of_many_points(tmp_path: Path) -> None:
    """They would not stay in the first cache."""
    text = written(tmp_path, "avx512", PROGRAM.replace("= 5", "= 65")).read_text()
    assert "reorder(bo, r, bi)" not in text


@pytest.mark.parametrize("count", [1, 16, 37])
def test_right_at_other_sizes(tmp_path: Path, native_target: str, count: int) -> None:
    file = written(tmp_path, native_target)
    command = ["verify", str(file), "--target", native_target, "--trials", "1", f"B={count}"]
    assert exit_code_of(command) == 0

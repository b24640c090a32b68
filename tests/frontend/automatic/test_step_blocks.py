"""What sums read along their steps is computed a block of them at a time, where many rows wait for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of

# Two rows of taps for each channel, then all channels: rows of `near` would lie C apart.
PROGRAM = """\
size H, W, C, K
input A: f32[H + 1, W, C]
input F: f32[2, C]
input P: f32[C, K]
output O: f32[H, W, K]
reduce r in 2, c in C
near[y, x, d] = 0.0
near[y, x, d] += F[r, d] * A[y + r, x, d]
all[y, x, k] = 0.0
all[y, x, k] += P[c, k] * near[y, x, c]
O[y, x, k] = max(all[y, x, k], 0)
"""
TYPICAL = "H = 40; W = 64; C = 64; K = 16; "


def written(folder: Path, program: str, target: str, typical: str = TYPICAL) -> str:
    """The file with the schedule that hbc makes for typical sizes."""
    file = folder / "k.hb"
    filled = "A = random(1, -1, 1); F = random(2, -1, 1); P = random(3, -1, 1)"
    file.write_text(f"{program}\nexample {{ {typical}{filled} }}\n")
    assert (
        exit_code_of(["compile", str(file), "--target", target, "--schedule", "auto", "--write"])
        == 0
    )
    return file.read_text()


def test_many_rows_read_a_small_array(tmp_path: Path) -> None:
    text = written(tmp_path, PROGRAM, "avx512")
    assert "all.update.split(c, co, ci, 16)" in text
    assert "near.compute_at(all.update, co)" in text


def test_a_constant_distance_needs_none(tmp_path: Path) -> None:
    program = PROGRAM.replace("size H, W, C, K", "size H, W, K\nparam C: i32 = 64")
    text = written(tmp_path, program, "avx512", TYPICAL.replace("C = 64; ", ""))
    assert "split(c," not in text


@pytest.mark.parametrize("sizes", ["H=3 W=33 C=35 K=18", "H=2 W=16 C=16 K=16", "H=1 W=5 C=3 K=40"])
def test_right_at_other_sizes(tmp_path: Path, native_target: str, sizes: str) -> None:
    written(tmp_path, PROGRAM, native_target)
    command = [
        "verify",
        str(tmp_path / "k.hb"),
        "--target",
        native_target,
        "--trials",
        "1",
        *sizes.split(),
    ]
    assert exit_code_of(command) == 0

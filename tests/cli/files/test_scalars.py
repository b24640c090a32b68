"""`--input gain=0.5`: scalars on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Command = Callable[..., Any]

KERNEL = """
size N
input X: f32[N]
input gain: f32
input n: u8
bound n in 0 .. N + 1
output Y: f32[n]
Y[i] = X[i] * gain
example { N = 100; X = constant(3); gain = 0.5; n = 20 }
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "scaled.hb"
    path.write_text(KERNEL, encoding="utf-8")
    return path


def test_run_takes_numbers(hbc: Command, kernel: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(9, dtype=np.float32))
    given = ["--input", f"X={tmp_path / 'x.npy'}", "--input", "gain=-2e0", "--input", "n=7"]
    out = tmp_path / "y.npy"
    found = hbc("run", kernel, *given, "--output", f"Y={out}")
    assert found.code == 0, found.err
    assert np.load(out).tolist() == [-2.0 * i for i in range(7)]


def test_the_example_gives_the_others(hbc: Command, kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "y.npy"
    found = hbc("run", kernel, "--input", "gain=4", "--output", f"Y={out}")
    assert found.code == 0, found.err
    assert np.load(out).tolist() == [12.0] * 20
    assert hbc("verify", kernel).code == 0


WRONG = [
    ("gain=x.npy", "`gain` is one f32, given as a number"),
    ("gain=1e99", "`gain` is 1e+99, which is too large for f32"),
    ("n=256", "`n` is 256, and u8 holds 0 .. 255"),
    ("n=1.5", "`n` is one u8, given as an integer"),
    ("n=101", "`n` is outside of its bound 0 .. N + 1"),
    ("m=1", "there is no `m`"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_what_is_no_such_number(hbc: Command, kernel: Path, given: str, said: str) -> None:
    found = hbc("run", kernel, "--input", given)
    assert found.code in (1, 2) and said in found.err

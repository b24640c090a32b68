"""What is said of a kernel for a GPU that has no schedule for one, and what its loops become."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

MAKES_NONE = (
    "hbc makes no schedules for GPUs: plain blocks of 256 threads, a thread for each element, without shared "
    "memory and tensor cores"
)


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    file = tmp_path / "scan.hb"
    file.write_text(
        "size N\ninput x: f32[N]\noutput y: f32[N]\nreduce t in 1 .. N\ns[i] = x[i]\n"
        "s[t] = s[t - 1] * 0.5 + x[t]\ny[i] = s[i]\n"
        "schedule few for cuda where N < 8 { y.gpu_threads(i) }\nexample { N = 9; x = random(1) }\n"
    )
    return file


def test_loops_of_no_schedule(hbc: Command, scan: Path) -> None:
    text = scan.read_text()
    scan.write_text("".join(x for x in text.splitlines(True) if not x.startswith("schedule")))
    done = hbc("compile", scan, "--target", "cuda", "--emit", "loops", "-o", "-")
    note = f"note: no schedule of the file is for `cuda`, and {MAKES_NONE}; one thread does all of "
    assert done.err.splitlines()[0] == f"{note}`s.update`, along reductions alone"
    assert "blocks for i_o by 256" in done.out
    assert MAKES_NONE in hbc("run", scan, "--target", "cuda", "--on-cpu").err


def test_where_none_of_the_conditions_holds(hbc: Command, scan: Path) -> None:
    done = hbc("compile", scan, "--target", "cuda", "--emit", "loops", "-o", "-")
    assert f"note: at sizes that `few` is not for, {MAKES_NONE}" in done.err


def test_what_is_asked_for(hbc: Command, scan: Path) -> None:
    done = hbc(
        "compile", scan, "--target", "cuda", "--schedule", "auto", "--emit", "loops", "-o", "-"
    )
    assert done.err.startswith(f"note: {MAKES_NONE}")
    done = hbc(
        "compile", scan, "--target", "cuda", "--schedule", "none", "--emit", "loops", "-o", "-"
    )
    assert "note:" not in done.err

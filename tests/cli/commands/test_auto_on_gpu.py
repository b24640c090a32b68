"""What is said of a kernel for a GPU that has no schedule for one, and what becomes of its loops."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hbc.cli import automatic

Command = Callable[..., Any]

ALONE = "; one thread does all of `s.update`, along reductions alone"
MADE = f"a thread for each element{ALONE}"
PLAIN = (
    "no automatic schedule suits this kernel: a thread for each element, without shared memory and tensor"
    f" cores{ALONE}"
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


def without_schedule(file: Path) -> Path:
    text = file.read_text()
    file.write_text("".join(x for x in text.splitlines(True) if not x.startswith("schedule")))
    return file


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> Iterator[object]:
        return iter(())

    monkeypatch.setattr(automatic, "gpu_candidates", none)


def test_a_schedule_is_made(hbc: Command, scan: Path) -> None:
    file = without_schedule(scan)
    done = hbc("compile", file, "--target", "cuda", "--emit", "loops", "-o", "-")
    assert done.err.splitlines()[0] == f"note: schedule auto for `cuda`: {MADE}"
    assert "threads for ii in 32" in done.out
    assert MADE in hbc("run", file, "--target", "cuda", "--on-cpu").err


@pytest.mark.usefixtures("nothing_fits")
def test_plain_blocks_where_none_suits(hbc: Command, scan: Path) -> None:
    file = without_schedule(scan)
    done = hbc("compile", file, "--target", "cuda", "--emit", "loops", "-o", "-")
    assert done.err.splitlines()[0] == f"note: plain blocks of 256 threads for `cuda`: {PLAIN}"
    assert "blocks for i_o by 256" in done.out


def test_where_none_of_the_conditions_holds(hbc: Command, scan: Path) -> None:
    done = hbc("compile", scan, "--target", "cuda", "--emit", "loops", "-o", "-")
    assert "note: schedule auto for `cuda` at sizes that `few` is not for: a thread" in done.err


@pytest.mark.usefixtures("nothing_fits")
def test_where_none_suits_the_rest(hbc: Command, scan: Path) -> None:
    done = hbc("compile", scan, "--target", "cuda", "--emit", "loops", "-o", "-")
    where = "at sizes that `few` is not for"
    assert f"note: plain blocks of 256 threads for `cuda` {where}: {PLAIN}" in done.err


def test_what_is_asked_for(hbc: Command, scan: Path) -> None:
    asked = ("compile", scan, "--target", "cuda", "--emit", "loops", "-o", "-", "--schedule")
    assert hbc(*asked, "auto").err.startswith(f"note: schedule auto for `cuda`: {MADE}")
    assert "note:" not in hbc(*asked, "none").err


def test_it_is_written_into_the_file(hbc: Command, tmp_path: Path) -> None:
    file = tmp_path / "k.hb"
    file.write_text("size N\ninput x: f32[N]\noutput y: f32[N]\ny[i] = 2 * x[i]\n")
    out = tmp_path / "build"
    hbc("compile", file, "--target", "cuda", "--schedule", "auto", "--write", "-o", out)
    assert "schedule auto_cuda for cuda {\n    y.split(i, " in file.read_text()
    again = hbc("compile", file, "--target", "cuda", "--emit", "loops", "-o", "-")
    assert "schedule auto_cuda" in again.out
    assert "note: schedule auto" not in again.err

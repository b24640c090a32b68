"""`hbc synth` as users run it: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sketch_solver import SKETCHES
from synth_words import synth

HBC = [sys.executable, "-m", "hbc.cli.main", "synth"]


def sketch(folder: Path, text: str) -> str:
    file = folder / "sketch.sf"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_json_has_what_scripts_rely_on() -> None:
    done = synth(str(SKETCHES / "ffm4.sf"), "--all", "--count", "--json", "--stats")
    value = json.loads(done.stdout)
    assert value["solutions"] == 2
    assert value["complete"] is True
    assert value["states"] > 0
    assert [hole["name"] for hole in value["holes"]] == ["a0", "a1", "b0", "b1", "low", "high"]
    assert {"name", "candidates", "visited"} <= set(value["holes"][0])
    assert value["seconds"]["total"] >= value["seconds"]["search"]
    assert value["peak_mb"] > 10


def test_the_cheapest_is_printed_as_formulas() -> None:
    done = synth(str(SKETCHES / "crc.sf"), "--explain-cost")
    lines = done.stdout.splitlines()
    assert lines[0] == "# solution 1: 9 clocks of a multiprocessor for a warp in the holes"
    assert "b0: [32, 3] = a[(3*i + 31*j) % 32, j]" in lines
    table = {line.split()[0]: line.split()[1:] for line in lines[9:]}
    assert table["array"][2:] == [
        "address", "comparison", "global_sector", "select", "shuffle", "cost"
    ]  # fmt: skip
    assert table["b0"] == ["with", "b"]
    assert table["b"] == ["shuffles", "3", "3", "4.5"]
    assert table["total"] == ["3", "3", "12", "6", "3", "12"]


def test_cost_of_another_target() -> None:
    file = str(SKETCHES / "sum.sf")
    done = synth(file, "--explain-cost", "--json", "--target", "avx512")
    (found,) = json.loads(done.stdout)["found"]
    moves = {move["array"]: move for move in found["moves"]}
    assert found["unit"] == "core cycles"
    assert moves["b"]["instructions"] == {"vmovdqu64": 6, "vpermt2d": 6}
    assert found["cost"] == pytest.approx(moves["a"]["cost"] + moves["b"]["cost"])
    assert "did you mean `avx512`?" in synth(file, "--target", "avx51", code=2).stderr


def test_code_is_called_as_the_file_is(tmp_path: Path) -> None:
    file = tmp_path / "xor.sf"
    file.write_text("x: [2]\ny: [2] = ?rots{main=0}(x)\ngoal y == [x1, x0]\n", encoding="utf-8")
    for target in ("cuda_sm80", "avx512"):
        done = synth(str(file), "--target", target, "-o", str(tmp_path / "code"), code=1)
        assert "`xor` is a keyword of C or C++" in done.stderr
        assert "the sketch's file" in done.stderr


def test_all_and_limit_and_count() -> None:
    file = str(SKETCHES / "crc.sf")
    assert synth(file, "--all", "--count", "--set", "s=4").stdout == "9\n"
    assert synth(file, "--all", "--set", "s=4").stdout.count("# solution") == 9
    assert synth(file, "--limit", "2", "--set", "s=4").stdout.count("# solution") == 2


@pytest.mark.parametrize("switch", ["--no-join", "--no-merge", "--no-compose", "--no-crowds"])
def test_what_is_switched_off_changes_no_solution(switch: str) -> None:
    assert synth(str(SKETCHES / "ffm4.sf"), "--count", switch).stdout == "2\n"


@pytest.mark.parametrize("tests", ["none", "classes", "copies,classes", "pairs,copies,classes"])
def test_prunings_change_no_solution(tests: str, tmp_path: Path) -> None:
    file = sketch(tmp_path, """
        x: [4, 3]
        a: [4, 3] = ?xforms{main=1, second=0, out=1}(x)
        b: [4, 3] = ?xforms{main=0, second=1, out=0}(a)
        goal b == [i in 4, j in 3] x[(i + j) % 4, j]
    """)  # fmt: skip
    every = synth(file, "--count", "--prune", "classes,copies").stdout
    assert int(every) > 0
    assert synth(file, "--count", "--prune", tests).stdout == every


def test_no_solution_says_what_cannot_be_reached(tmp_path: Path) -> None:
    file = sketch(tmp_path, "x: [3]\ny: [3] = ?rots{main=0}(x)\ngoal y == [x0, x0, x2]\n")
    said = synth(file, code=5).stderr
    assert "has no solution: all candidates have been searched" in said
    assert "every element can be reached by itself" in said
    turned = "[[x0_0, x1_0], [x0_1, x1_1]]"
    file = sketch(tmp_path, f"x: [2, 2]\ny: [2, 2] = ?rots{{main=0}}(x)\ngoal y == {turned}\n")
    assert "`y[0, 1]`, `y[1, 0]`" in synth(file, code=5).stderr


def test_timeout_without_a_solution(tmp_path: Path) -> None:
    file = str(SKETCHES / "rcr.sf")
    done = synth(file, "--set", "s=4", "--prune", "none", "--no-compose", "--timeout", "2", code=5)
    assert "was found in the time given" in done.stderr


def test_usage_errors() -> None:
    file = str(SKETCHES / "crc.sf")
    assert "did you mean `pairs`?" in synth(file, "--prune", "pair", code=2).stderr
    assert "`level` is 4, and may be one of 3, 1, 2" in synth(
        file, "--set", "level=4", code=2
    ).stderr.replace("1, 2, 3", "3, 1, 2")
    assert "has no parameter `q`" in synth(file, "--set", "q=4", code=2).stderr
    assert "cannot read" in synth("nowhere.sf", code=1).stderr


def _interruptible() -> None:
    """Jobs in the background of a shell script ignore interrupts, and so do their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


SEARCHED = 4.0  # seconds of the processor: it starts in a second, and searches for much longer


def _used(process: int) -> float:
    """Seconds of the processor that it took so far, however busy the machine is."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_interrupt_prints_statistics() -> None:
    command = [*HBC, str(SKETCHES / "rcr.sf"), "--set", "s=4", "--prune", "none", "--no-compose"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        preexec_fn=_interruptible,
    ) as child:  # fmt: skip
        try:
            while child.poll() is None and _used(child.pid) < SEARCHED:
                time.sleep(0.05)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=300)
        finally:
            child.kill()
    assert child.returncode == 130
    assert "interrupted after" in said
    assert "candidates tested" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--spec", "transpose(rows=8, cols=8)", "--count"], "`--count` belongs to a sketch"),
        (["--spec", "transpose(rows=8, cols=8)", "--picture", "a.svg"], "`--picture` belongs to"),
        ([str(SKETCHES / "crc.sf"), "--type", "u8"], "add -o FILE"),
    ],
)
def test_options_that_would_do_nothing_are_refused(arguments: list[str], said: str) -> None:
    assert said in synth(*arguments, code=2).stderr

"""samples/bench/table.py on recorded figures: the printed table, RESULTS.md and its remarks."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "samples" / "bench" / "table.py"
RECORDED = HERE / "recorded.jsonl"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, TABLE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_printed_table() -> None:
    """Medians over rounds, the fastest way of a peer, the later of two measurements, goals."""
    done = run(RECORDED)
    assert done.stdout == (HERE / "table.txt").read_text()
    assert done.stderr == ""


def test_failures_and_wrong_results_give_exit_code_1(tmp_path: Path) -> None:
    assert run(RECORDED).returncode == 1
    good = tmp_path / "record"
    good.write_text("".join(RECORDED.read_text().partition('{"case": "conv1d_u8s8"')[0]))
    assert run(good).returncode == 0


def test_results_file(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    run("--write", file, RECORDED)
    assert file.read_text() == (HERE / "results.md").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["RESULTS.md"]


def test_remarks_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    run("--write", file, RECORDED)
    remark = "None yet, but **soon**: \\d \\1 {rounds}."
    ours = file.read_text().replace("None yet.", remark)
    file.write_text(ours.replace("conv1d", "no such kernel"))
    run("--write", file, RECORDED)
    assert file.read_text() == ours


@pytest.mark.parametrize("lost", ["<!-- remarks", "<!-- end of remarks -->"])
def test_a_file_without_room_for_remarks_is_left_alone(tmp_path: Path, lost: str) -> None:
    file = tmp_path / "RESULTS.md"
    run("--write", file, RECORDED)
    file.write_text(file.read_text().replace(lost, "<!-- "))
    before = file.read_text()
    done = run("--write", file, RECORDED)
    assert (done.returncode, file.read_text()) == (2, before)
    assert "is left as it is" in done.stderr


def test_the_machine_may_be_unknown(tmp_path: Path) -> None:
    record, file = tmp_path / "record", tmp_path / "RESULTS.md"
    record.write_text(RECORDED.read_text().partition("\n")[2])
    run("--write", file, record)
    assert "- Machine: not recorded; avx512.\n" in file.read_text()


def test_nothing_measured(tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.write_text("")
    done = run(record)
    assert done.returncode == 0
    assert done.stdout.split()[:2] == ["workload", "size"]


@pytest.mark.parametrize(
    "text",
    [
        '{"case": "conv1d", "lab',
        "[1]",
        '{"peer": "halide"}',
        '{"case": "a", "label": "b"} {"c": 1}',
    ],
)
def test_a_record_that_no_script_wrote(tmp_path: Path, text: str) -> None:
    record = tmp_path / "record"
    record.write_text(text)
    done = run(record)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("table.py: ")
    assert done.stderr.count("\n") == 1

"""`hbc tune` on the command line: tiny kernels, really built and measured."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tuning_fakes import GEMM, QUICK, TARGET, Fakes, tuned

from hbc.cli.main import exit_code_of
from hbc.cli.measuring.trial import Built, Failure, State
from hbc.codegen.build.processor import can_run
from hbc.ir.lang.target import TARGETS


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is known from other runs, and the roofs are not measured."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("HBC_CACHE", str(folder))
    monkeypatch.setattr("hbc.cli.tuning.session._roofs", lambda threads, shown: None)
    return folder


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled or run: for what is not about that. The model looks at as many on any machine."""
    monkeypatch.setattr("hbc.cli.tuning.by_model.SECONDS", float("inf"))
    monkeypatch.setattr("hbc.cli.tuning.session.Builders", Fakes)
    monkeypatch.setattr("hbc.cli.measuring.track.NativeMeter", Fakes)


@pytest.fixture
def gemm(tmp_path: Path) -> Path:
    path = tmp_path / "gemm.hb"
    path.write_text(GEMM, encoding="utf-8")
    return path


def test_the_best_is_measured_and_written(gemm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Really built and run. It stands before a schedule for the same target, and is taken from then on."""
    by_hand = f"schedule mine for {TARGET} {{ C.parallel(i) }}\n\n# The usual"
    gemm.write_text(GEMM.replace("# The usual", by_hand), encoding="utf-8")
    found, err = tuned(capsys, gemm, *QUICK, "--write")
    assert found["best"]["seconds"] > 0 and found["tried"] == 4
    assert found["states"]["measured"] >= 3, found["trials"]
    assert found["stopped"] == "trials" and found["sizes"] == {"M": 48, "N": 64, "K": 32}
    assert "schedule mine of the file" in [t["about"] for t in found["trials"]]
    text = gemm.read_text(encoding="utf-8")
    head = f"schedule tuned_{TARGET} for {TARGET} {{\n    # Tuned on "
    assert head in text and text.index(head) < text.index("schedule mine")
    assert f"wrote schedule tuned_{TARGET}" in err
    verify = ["verify", str(gemm), "--target", TARGET, "--trials", "1", "--json"]
    assert exit_code_of(verify) == 0
    assert json.loads(capsys.readouterr().out)["schedule"] == f"tuned_{TARGET}"


@pytest.mark.usefixtures("faked")
def test_written_again_it_takes_its_own_place(gemm: Path, capsys) -> None:
    for _ in range(2):
        tuned(capsys, gemm, *QUICK, "--write")
    text = gemm.read_text(encoding="utf-8")
    assert text.count("schedule tuned_") == text.count("# Tuned on") == 1
    assert text.index("schedule tuned") < text.index("# The usual one.\nexample")


@pytest.mark.usefixtures("faked")
def test_a_journal_is_resumed(gemm: Path, tmp_path: Path, capsys) -> None:
    journal = tmp_path / "found.jsonl"
    first, _ = tuned(capsys, gemm, *QUICK, "--journal", journal)
    lines = journal.read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 4 and all(json.loads(line)["job"] for line in lines)
    # What was being written when the machine stopped, what another version wrote, what is no JSON.
    other = json.dumps({**json.loads(lines[0]), "made": "another"})
    journal.write_text("\n".join([*lines, other, "nonsense", lines[0][:40]]), encoding="utf-8")
    again, err = tuned(capsys, gemm, *QUICK, "--journal", journal, "--fresh")
    assert again["from_other_runs"] == 4
    assert [t["point"] for t in again["trials"]] == [t["point"] for t in first["trials"]]
    assert "2 lines could not be read" in err and "1 line of another version" in err


@pytest.mark.usefixtures("faked")
def test_another_run_knows_from_the_cache(
    gemm: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tuned(capsys, gemm, *QUICK)
    kept = sorted(own_cache.glob("tuned-*.json"))
    assert kept
    # Comments, layout and other schedules change nothing.
    gemm.write_text(GEMM.replace("# The usual one.", "#  Another comment."), encoding="utf-8")
    again, _ = tuned(capsys, gemm, *QUICK)
    assert again["from_other_runs"] == 4
    kept[0].write_bytes(kept[0].read_bytes()[:-20])
    damaged, err = tuned(capsys, gemm, *QUICK)
    assert "1 damaged files of the cache" in err
    assert damaged["from_other_runs"] == 3
    # The algorithm does.
    gemm.write_text(GEMM.replace("B[k, j]\n", "B[k, j] * 2\n"), encoding="utf-8")
    other, _ = tuned(capsys, gemm, *QUICK)
    assert other["from_other_runs"] == 0


@pytest.mark.usefixtures("faked")
def test_a_file_that_changed_meanwhile_is_left_alone(
    gemm: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hbc.cli.tuning import session

    def tuning(*arguments: object) -> object:
        found = real(*arguments)
        gemm.write_text(GEMM + "# edited\n", encoding="utf-8")
        return found

    real = session.tune
    monkeypatch.setattr(session, "tune", tuning)
    _, err = tuned(capsys, gemm, *QUICK, "--write", code=1)
    assert "changed while it was tuned: nothing was written" in err
    assert gemm.read_text(encoding="utf-8") == GEMM + "# edited\n"


@pytest.mark.usefixtures("faked")
def test_what_is_wrong_at_other_sizes_is_not_written(
    gemm: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def odd(_: Fakes, built: Built) -> Failure | None:
        asked.append(built.candidate.key)
        return Failure(State.WRONG, "at M = 7: so") if len(asked) == 1 else None

    monkeypatch.setattr(Fakes, "elsewhere", odd)
    found, err = tuned(capsys, gemm, *QUICK, "--write")
    assert len(asked) == 2 and found["states"]["wrong"] == 1
    assert "note: a faster schedule is passed over: wrong at M = 7: so" in err
    assert "schedule tuned_" in gemm.read_text(encoding="utf-8")
    assert asked[0] != asked[1]


@pytest.mark.usefixtures("faked")
def test_what_was_not_compared_at_other_sizes_is_not_written(
    gemm: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Fakes, "elsewhere", interrupted)
    found, err = tuned(capsys, gemm, *QUICK, "--write", code=130)
    assert found["best"]["seconds"] > 0
    assert "what was not compared at other sizes is not written" in err
    assert gemm.read_text(encoding="utf-8") == GEMM


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_what_cannot_be_written_is_said_before(gemm: Path, capsys) -> None:
    gemm.chmod(0o444)
    _, err = tuned(capsys, gemm, *QUICK, "--write", code=1)
    assert "cannot write" in err


def test_a_file_that_is_none_is_said_before(tmp_path: Path, capsys) -> None:
    _, err = tuned(capsys, tmp_path, *QUICK, "--write", code=1)
    assert "is not a file" in err


@pytest.mark.usefixtures("faked")
def test_sizes_without_a_value(gemm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gemm.write_text(GEMM[: GEMM.index("# The usual")], encoding="utf-8")
    _, err = tuned(capsys, gemm, *QUICK, code=1)
    assert "`M`" in err
    found, _ = tuned(capsys, gemm, *QUICK, "M=32", "N=48", "K=16")
    assert found["sizes"] == {"M": 32, "N": 48, "K": 16}


@pytest.mark.usefixtures("faked")
def test_a_table_of_sizes(gemm: Path, tmp_path: Path, capsys) -> None:
    table = tmp_path / "layers.csv"
    table.write_text("M,N,K,model\n16,32,8,a\n\n24,32,8,b\n", encoding="utf-8")
    found, err = tuned(
        capsys, gemm, "--layers", table, "--trials", "2", "--target", TARGET, "--write"
    )
    assert [one["sizes"]["M"] for one in found["layers"]] == [16, 24]
    assert "the columns model are not of the kernel" in err
    assert exit_code_of(["tune", str(gemm), "--layers", str(table), "--trials", "2"]) == 0
    assert "M = 16, N = 32, K = 8" in capsys.readouterr().out


@pytest.mark.usefixtures("faked")
def test_rows_are_chosen_by_size(gemm: Path, tmp_path: Path, capsys) -> None:
    """Of rows with the same best schedule one is written, for the sizes of all."""
    table = tmp_path / "layers.csv"
    table.write_text("M,N,K\n48,64,32\n96,64,32\n5,64,32\n", encoding="utf-8")
    options = ("--trials", "1", "--time", "9999", "--target", TARGET, "--write")
    found, _ = tuned(capsys, gemm, "--layers", table, *options)
    bodies = {one["best"]["text"].rsplit("#", 1)[1].split("\n", 1)[1] for one in found["layers"]}
    text = gemm.read_text(encoding="utf-8")
    first = f"schedule tuned_{TARGET}_1 for {TARGET} where M == 48 and N == 64 and K == 32"
    assert first in text and len(bodies) == text.count("schedule tuned_") < 3
    assert f"{first} or M == 96 and N == 64 and K == 32 {{\n    # Tuned on" in text
    assert "    # Also at M = 96, N = 64, K = 32: " in text
    verify = [
        "verify",
        str(gemm),
        "--target",
        TARGET,
        "--set",
        "M=24",
        "--set",
        "N=32",
        "--set",
        "K=8",
    ]
    assert exit_code_of([*verify, "--trials", "1"]) == 0
    assert f"`tuned_{TARGET}_1`" in capsys.readouterr().err
    tuned(capsys, gemm, "--layers", table, *options)
    again = gemm.read_text(encoding="utf-8")
    assert again.count("schedule tuned_") == again.count("# Tuned on") == len(bodies)


@pytest.mark.usefixtures("faked")
def test_rows_that_no_size_tells_apart(gemm: Path, tmp_path: Path, capsys) -> None:
    text = GEMM.replace("* B[k, j]", "* B[k, j] * s").replace(
        "reduce k", "param s: f32 = 1\nreduce k"
    )
    gemm.write_text(text, encoding="utf-8")
    table = tmp_path / "layers.csv"
    table.write_text("M,s\n16,2\n16,3\n24,3\n", encoding="utf-8")
    _, err = tuned(capsys, gemm, "--layers", table, "--trials", "1", "--target", TARGET, "--write")
    text = gemm.read_text(encoding="utf-8")
    assert f"note: tuned_{TARGET}_1, tuned_{TARGET}_2: no sizes tell these rows from others" in err
    assert [f"tuned_{TARGET}_{n} for {TARGET} {{" in text for n in (1, 2, 3)] == [True, True, False]
    assert f"tuned_{TARGET}_3 for {TARGET} where M == 24 {{" in text


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("a,b\n1,2\n", "no column is named like a size"),
        ("M,N\n1\n", "layers.csv:2: 1 cell, and the head has 2"),
        ("M,N\n1,\n", "layers.csv:2: `N` has no value"),
        ("M,N\n", "has no rows"),
        ("M,M\n1,2\n", "two columns have the same name"),
    ],
)
def test_what_is_no_table(gemm: Path, tmp_path: Path, capsys, table: str, said: str) -> None:
    path = tmp_path / "layers.csv"
    path.write_text(table, encoding="utf-8")
    _, err = tuned(capsys, gemm, "--layers", path, code=1)
    assert said in err


def test_what_does_not_run_here_is_not_tuned(gemm: Path, capsys) -> None:
    foreign = next(t for t in ("arm_dot", "avx512") if not can_run(TARGETS[t]))
    _, err = tuned(capsys, gemm, "--target", foreign, code=2)
    assert "tuning measures on this processor" in err


def test_another_machines_schedule_is_named(gemm: Path, capsys) -> None:
    made = f"schedule tuned_{TARGET} for {TARGET} {{\n    # Tuned on Z80 on 1982-04-23\n"
    text = GEMM.replace("# The usual", made + "    C.parallel(i)\n}\n\n# The usual")
    gemm.write_text(text, encoding="utf-8")
    for command in (["bench", "--seconds", "0"], ["explain"]):
        assert exit_code_of([command[0], str(gemm), "--target", TARGET, *command[1:]]) == 0
        err = capsys.readouterr().err
        assert f"note: schedule tuned_{TARGET} was tuned on Z80" in err

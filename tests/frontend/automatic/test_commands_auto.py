"""`auto` on the command line: when it is taken, how it is named, `none`, `--write`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hbc.cli import automatic as automatic_schedules
from hbc.cli.main import exit_code_of
from hbc.frontend.automatic.candidates import Candidate
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.lang.target import Target

SAMPLES = Path(__file__).parents[3] / "samples"
GEMM = """\
size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]

# The usual one.
example { M = 64; N = 64; K = 32; A = random(1, -1, 1); B = random(2, -1, 1) }
"""


@pytest.fixture
def gemm(tmp_path: Path) -> Path:
    path = tmp_path / "gemm.hb"
    path.write_text(GEMM, encoding="utf-8")
    return path


def compiled(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, str]:
    assert exit_code_of(["compile", *map(str, arguments)]) == 0
    done = capsys.readouterr()
    return done.out, done.err


def test_without_a_schedule_one_is_made_and_named(
    gemm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = compiled(capsys, gemm, "--target", "avx512", "--emit", "loops")
    assert err.splitlines() == [
        "note: schedule auto for `avx512`: C in blocks of 6 x 64, 1 of 2 Funcs computed inside others"
    ]
    assert "vectorized for" in out


STEM = [f"--set={name}" for name in ["H=30", "W=30", "C=3", "K=16", "R=7", "S=7", "stride=2"]]


@pytest.mark.parametrize("command", [("compile", "--emit", "loops"), ("explain",)])
def test_nobody_is_told_to_edit_what_hbc_wrote(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Three channels are copied in other lanes than they lie in."""
    name, *options = command
    kernel = str(SAMPLES / "conv2d_u8s8.hb")
    assert exit_code_of([name, kernel, *options, "--target", "avx512vnni", *STEM]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("note: schedule auto for `avx512vnni`: ")


def test_none_is_plain_loops(gemm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = compiled(capsys, gemm, "--target", "avx512", "--schedule", "none", "--emit", "loops")
    assert err == ""
    assert "vectorized" not in out


def test_a_schedule_of_the_file_goes_before(gemm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gemm.write_text(GEMM + "schedule rows for c { C.parallel(i) }\n", encoding="utf-8")
    out, err = compiled(capsys, gemm, "--target", "avx512", "--emit", "loops")
    assert (err, "vectorized" in out) == ("", False)
    out, err = compiled(capsys, gemm, "--target", "avx512", "--schedule", "auto", "--emit", "loops")
    assert err.startswith("note: schedule auto for `avx512`: ")
    assert "vectorized" in out


def test_json_names_it(gemm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = compiled(capsys, gemm, "--target", "avx2", "--json", "-o", tmp_path / "out")
    assert json.loads(out)["schedule"] == "auto"


def test_an_empty_line_stands_above_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "double.hb"
    text = "size   N\ninput  A: f32[N]\noutput B: f32[N]\n\nB[i] = 2 * A[i]\n"
    path.write_text(f"{text}example {{ N = 8; A = random(1) }}\n", encoding="utf-8")
    compiled(capsys, path, "--target", "avx2", "--write")
    assert path.read_text(encoding="utf-8").startswith(f"{text}\nschedule auto_avx2 for avx2 {{")


def test_it_is_written_into_the_file(gemm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the examples and their comments, formatted; from then on it is a schedule like any other;
    written again, it takes its own place."""
    _, err = compiled(capsys, gemm, "--target", "avx512", "--write")
    assert err.splitlines()[1:] == [f"wrote schedule auto_avx512 into {gemm}"]
    first = gemm.read_text(encoding="utf-8")
    before, _, after = first.partition("schedule auto_avx512 for avx512 {\n")
    assert before == GEMM.partition("# The usual")[0]
    assert after.endswith("}\n\n" + GEMM[GEMM.index("# The usual") :])
    assert exit_code_of(["fmt", "--check", str(gemm)]) == 0
    capsys.readouterr()
    out, err = compiled(capsys, gemm, "--target", "avx512", "--emit", "loops")
    assert (err, "vectorized" in out) == ("", True)
    compiled(capsys, gemm, "--target", "avx512", "--schedule", "auto", "--write")
    assert gemm.read_text(encoding="utf-8") == first
    compiled(capsys, gemm, "--target", "avx2", "--schedule", "auto", "--write")
    assert gemm.read_text(encoding="utf-8").count("schedule auto_") == 2


def test_what_is_written_is_for_all_sizes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where `--set` gives some, for which code is made: what holds for these alone is not written."""
    path = tmp_path / "both.hb"
    path.write_text(
        "size M, N\ninput A: f32[M, N]\noutput O: f32[M, N]\nf[i, j] = exp(A[i, j])\n"
        "O[i, j] = f[i, j] / f[i, N - 1 - j]\n",
        encoding="utf-8",
    )
    usual = automatic_schedules.candidates

    def candidates(p: Pipeline, target: Target, given: object, name: str, *rest: Any) -> Any:
        text = f"schedule {name} for avx2 {{\n    f.compute_root().bound(j, 0, 8)\n}}\n"
        yield Candidate(text, "eight columns")
        yield from usual(p, target, {}, name, *rest)

    monkeypatch.setattr(automatic_schedules, "candidates", candidates)
    asked = ("--target", "avx2", "--set", "N=8")
    _, err = compiled(capsys, path, *asked, "--emit", "loops")
    assert "eight columns" in err
    _, err = compiled(capsys, path, *asked, "--write", "-o", tmp_path / "made")
    assert err.count("schedule auto for") == 1
    compiled(capsys, path, *asked, "-o", tmp_path / "read")
    made, read = (tmp_path / folder / "both.c" for folder in ("made", "read"))
    assert made.read_bytes() == read.read_bytes(), "what was written is compiled, not another"
    assert "bound(" not in path.read_text(encoding="utf-8")
    assert "schedule auto_avx2" in path.read_text(encoding="utf-8")


def test_what_the_file_has_is_not_written(gemm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gemm.write_text(GEMM + "schedule rows for c { C.parallel(i) }\n", encoding="utf-8")
    assert exit_code_of(["compile", str(gemm), "--target", "c", "--write"]) == 2
    assert "schedule `rows` was not made by hbc" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_stays(
    gemm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = gemm.parent / "linked.hb"
    gone.symlink_to(gemm)
    assert exit_code_of(["compile", str(gone), "--target", "avx2", "--write"]) == 0
    assert "schedule auto_avx2" in gemm.read_text(encoding="utf-8")


@pytest.mark.parametrize("height", [1, 2])
def test_one_row_is_no_tile_and_a_line_says_so(
    height: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sizes = {"H": height, "W": 1, "C": 64, "K": 32, "R": 1, "S": 1}
    given = [x for n, v in sizes.items() for x in ("--set", f"{n}={v}")]
    kernel = SAMPLES / "conv2d_u8s8.hb"
    _, err = compiled(
        capsys, kernel, "--target", "amx", "--schedule", "auto", *given, "-o", tmp_path
    )
    why = "; plain vectors: a tile has up to 16 rows, and `acc` has one at these sizes"
    assert (why in err) == (height == 1)

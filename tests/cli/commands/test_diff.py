"""Two schedules, targets or files: what is said of them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbc.cli.main import main

KERNEL = """size N
input A: f32[N]
output O: f32[N]
O[x] = A[x] * A[x] + FACTOR
schedule wide for c { O.vectorize(x, 8) }
schedule plain for c { O.unroll(x, 2) }
example { N = 37; A = random(1) }
"""


def diff(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["diff", *words])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def written(folder: Path, name: str, factor: str) -> str:
    path = folder / name
    path.write_text(KERNEL.replace("FACTOR", factor), encoding="utf-8")
    return str(path)


def test_two_schedules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    k = written(tmp_path, "k.hb", "1")
    two = ("--schedule", "wide", "--schedule", "plain", "--target", "c", "--seconds", "0.01")
    code, out, _ = diff(capsys, k, *two)
    assert code == 0
    assert "-      vectorized for x_v in 8" in out.replace("    vectorized", "      vectorized")
    assert "results  equal" in out
    assert " takes " in out
    value = json.loads(diff(capsys, k, *two, "--json")[1])
    assert value["results_differ"] is False
    assert len(value["seconds_median"]) == 2
    assert all(s > 0 for s in value["seconds_median"])


def test_other_results_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = written(tmp_path, "a.hb", "1"), written(tmp_path, "b.hb", "1.5")
    words = (a, b, "--target", "c", "--seconds", "0.01")
    code, out, _ = diff(capsys, *words)
    assert code == 0
    assert "loops: the same" not in out  # their kernels have other names
    assert "`O` differs in 37 of 37 elements, by 0.5 at most" in out
    assert json.loads(diff(capsys, *words, "--json")[1])["results_differ"] is True


def test_the_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = written(tmp_path, "a.hb", "1"), written(tmp_path, "b.hb", "1.5")
    _, out, _ = diff(capsys, a, b, "--target", "c", "--seconds", "0", "--code")
    assert any(line.startswith("+") and "1.5f" in line for line in out.splitlines())
    assert "time" not in out


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    k = written(tmp_path, "k.hb", "1")
    other = tmp_path / "other.hb"
    other.write_text("size N\ninput B: f32[N]\noutput O: f32[N]\nO[x] = B[x]\n", encoding="utf-8")
    code, _, said = diff(capsys, k)
    assert (code, "nothing to compare" in said) == (2, True)
    code, _, said = diff(capsys, k, k, k)
    assert (code, "given 3 times" in said) == (2, True)
    code, _, said = diff(capsys, k, str(other))
    assert (code, "take different arrays" in said) == (2, True)
    assert diff(capsys, k, str(other), "--seconds", "0")[0] == 0

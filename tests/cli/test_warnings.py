"""Pins what `hbc check` warns of: each `.hb` in `warned` has a `.stderr`, and in its `.fixed.hb` the hints
are done and nothing is left. No sample has a warning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from suite_goldens import FIXED, Golden, cases

from hbc.cli.advice import LOOPS, Watch, advice
from hbc.cli.commands.check import command as check
from hbc.cli.commands.compile import command as compile_
from hbc.cli.commands.explain import command as explain
from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.ir.lang.target import GPU, TARGETS

FOLDER = Path(__file__).parent / "warned"
SAMPLES = Path(__file__).parents[2] / "samples"
WARNED = cases(FOLDER)


@pytest.mark.parametrize("file", WARNED, ids=lambda file: file.stem)
def test_warnings(file: Path, golden: Golden) -> None:
    result = CliRunner().invoke(check, [str(file)])
    golden.said(file, result.exit_code, result.stderr.replace(f"{FOLDER}/", ""))
    assert result.exit_code == 0
    assert result.stdout == ""


@pytest.mark.parametrize("file", WARNED, ids=lambda file: file.stem)
def test_the_hints_help(file: Path) -> None:
    result = CliRunner().invoke(check, [str(file.with_suffix(FIXED))])
    assert (result.exit_code, result.stderr) == (0, "1 file checked, no mistakes\n")


def test_json_has_them_under_a_key() -> None:
    file = str(FOLDER / "lanes_apart.hb")
    result = CliRunner().invoke(check, [file, "--json"])
    found = json.loads(result.stdout)
    assert found["ok"] and not found["mistakes"] and result.stderr == ""
    assert [(w["severity"], w["line"]) for w in found["warnings"]] == [("warning", 4)] * 2


def test_compile_and_explain_show_them(tmp_path: Path) -> None:
    file = str(FOLDER / "lanes_apart.hb")
    for command, more in ((compile_, ["-o", str(tmp_path)]), (explain, [])):
        arguments = [file, "--target", "avx2", *more]
        result = CliRunner().invoke(command, arguments)
        assert result.exit_code == 0 and result.stderr.count(": warning: ") == 2
        result = CliRunner().invoke(command, [*arguments, "--json"])
        assert result.stderr == ""
        assert len(json.loads(result.stdout)["warnings"]) == 2


@pytest.mark.parametrize(
    "file", sorted(SAMPLES.rglob("*.hb")), ids=lambda file: file.relative_to(SAMPLES).as_posix()
)
def test_samples_have_none(file: Path) -> None:
    p = load_pipeline(file, {})
    for schedule in p.schedules:
        for target in (TARGETS[t] for t in schedule.targets):
            if target.machine != GPU:
                watch = Watch()
                last = lower_to_kernel(p, schedule, target, watch, before="vectorize")
                assert watch.loops is last, LOOPS
                assert advice(p, schedule, target, watch, last) == []


@pytest.mark.parametrize(
    ("steps", "warned"), [("2 .. 16", False), ("2 .. 160", True), ("2 .. N", True)]
)
def test_few_steps_are_worth_no_line(steps: str, warned: bool, tmp_path: Path) -> None:
    """The first steps of a recursion, beside a vector line for all elements."""
    file = tmp_path / "k.hb"
    file.write_text(
        f"size N\ninput X: f32[N, 2]\noutput Y: f32[N, 2]\nreduce s in {steps}\nY[i, c] = X[i, c]\n"
        "Y[s, c] = X[s, c] + Y[s - 2, c] where s < N\n"
        "schedule wide for avx2 {\n    Y.vectorize(i, 8)\n}\n",
        encoding="utf-8",
    )
    result = CliRunner().invoke(check, [str(file)])
    assert result.exit_code == 0
    assert ("no line for `Y.update`" in result.stderr) == warned, result.stderr

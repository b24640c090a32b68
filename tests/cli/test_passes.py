"""`hbc passes`: the order is that in which they run, and what it says of a target is what happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hbc.cli.passes import PASSES
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS, Target
from hbc.ir.lang.walk import block

Command = Callable[..., Any]


def test_all_are_listed_in_order(hbc: Command) -> None:
    done = hbc("passes")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == [p.name for p in PASSES]
    assert all(p.says in done.out for p in PASSES)


@pytest.mark.parametrize("target", TARGETS)
def test_of_passes_with_one_name_one_runs(target: str) -> None:
    chosen = [p.name for p in PASSES if p.when.target(TARGETS[target])]
    assert len(set(chosen)) == len(chosen)


def test_a_target_has_its_own(hbc: Command) -> None:
    assert "barriers" in hbc("passes", "--target", "cuda").out
    said = hbc("passes", "--target", "avx2").out
    assert "barriers" not in said
    assert "select" not in said


def test_json_says_which_run(hbc: Command) -> None:
    said = json.loads(hbc("passes", "--target", "avx2", "--json").out)
    runs = {(p["pass"], p["for"]): p["runs"] for p in said["passes"]}
    assert runs["legalize", "CPUs"] is True
    assert runs["legalize", "GPUs"] is False
    assert runs["lower", None] is True


def test_unknown_targets_suggest_known_ones(hbc: Command) -> None:
    done = hbc("passes", "--target", "cudo")
    assert done.code == 2
    assert "did you mean `cuda`?" in done.err


@pytest.mark.parametrize("broken", ["simplify", "integers", "share", "hoist"])
def test_a_pass_that_makes_nonsense_is_named(
    hbc: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gemm: Path, broken: str
) -> None:
    """Also one after which the IR is not verified: all that follow it go on with the nonsense."""

    def nonsense(kernel: Kernel, _: Target) -> Kernel:
        lost = ir.Store("nobody", ir.const_index(0), ir.const_index(0))
        return replace(kernel, body=block(kernel.body, lost))

    passes = tuple(replace(p, run=nonsense) if p.name == broken else p for p in PASSES)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("hbc.cli.pipeline.PASSES", passes)
    done = hbc("compile", gemm, "--target", "avx2", "-o", tmp_path)
    assert done.code == 70
    assert f"after `{broken}`: there is no buffer `nobody`" in done.err
    assert hbc("compile", gemm, "--target", "avx2", "--no-check", "-o", tmp_path).code != 0


def test_a_pass_that_dies_of_it_is_not_blamed(
    hbc: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gemm: Path
) -> None:
    def nonsense(kernel: Kernel, _: Target) -> Kernel:
        return replace(kernel, body=ir.Store("nobody", ir.const_index(0), ir.const_index(0)))

    def dies(kernel: Kernel, _: Target) -> Kernel:
        raise KeyError("nobody")

    runs = {"integers": nonsense, "share": dies}
    passes = tuple(replace(p, run=runs.get(p.name, p.run)) for p in PASSES)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("hbc.cli.pipeline.PASSES", passes)
    done = hbc("compile", gemm, "--target", "avx2", "--schedule", "none", "-o", tmp_path)
    assert done.code == 70
    assert "after `integers`: there is no buffer `nobody`" in done.err

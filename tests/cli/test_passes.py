"""`hbc passes`: the order is that in which they run, and what it says of a target is what happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hbc.cli.passes import PASSES
from hbc.ir.lang.target import TARGETS

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

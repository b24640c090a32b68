"""An e-graph that runs into a budget: the best so far is taken and right, and said; nothing hangs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensor_checks import assert_agrees, assert_selected, compiled
from tensor_programs import LANES, TILES, changed

from hbc.cli.main import exit_code_of
from hbc.eqsat.graph import search

BUDGETS = {"ROUNDS": 1, "MOST_NODES": 1, "MOST_MATCHES": 1}
BOUND = "the search for instructions ended at its bound"


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_best_so_far_is_right(
    budget: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search, budget, BUDGETS[budget])
    p, kernels = compiled(TILES, "amx")
    assert_selected(kernels["select"])
    assert_agrees(p, kernels["select"], {"M": 32, "N": 16, "K": 64})
    said = capsys.readouterr().err
    assert said.count(f"warning: {BOUND}") == 1
    assert "test.hb:8:1" in said


def test_explain_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search, "ROUNDS", 1)
    file = tmp_path / "product.hb"
    file.write_text(TILES, encoding="utf-8")
    assert exit_code_of(["explain", str(file), "--target", "amx"]) == 0
    assert "the search ended at its bound: there may be better" in capsys.readouterr().out


def test_a_sum_of_a_hundred_products_ends(capsys: pytest.CaptureFixture[str]) -> None:
    """Sums in any order are more than there are terms for."""
    many = " + ".join("f32(A[i, k]) * f32(B[k, j])" for _ in range(100))
    text = changed(LANES, ("f32(A[i, k]) * f32(B[k, j])", many))
    p, kernels = compiled(text, "avx512bf16")
    assert_agrees(p, kernels["select"], {"M": 3, "N": 32, "K": 4})
    capsys.readouterr()

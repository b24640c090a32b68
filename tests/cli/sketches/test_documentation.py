"""The sketches in docs/synthesis.md have solutions; every sample is listed in its README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sketch_solver import SKETCHES, solve_text

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```sf solve\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "folder", ["docs/movement.md", "docs/synthesis.md", "samples/sketches/README.md"]
)
def test_sketches_are_solved(folder: str) -> None:
    blocks = BLOCK.findall((ROOT / folder).read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        assert solve_text(block).count() >= 1, block


def test_every_sample_is_described() -> None:
    text = (SKETCHES / "README.md").read_text(encoding="utf-8")
    for file in SKETCHES.glob("*.sf"):
        assert f"`{file.name}`" in text


def test_the_step_of_the_tutorial() -> None:
    """It says which goal is reached, and of which nothing is."""
    text = (ROOT / "samples/tutorial/11_synthesis.sf").read_text(encoding="utf-8")
    assert solve_text(text).count() == 6  # the three exchanges, in any order
    assert solve_text(text.replace("step = 1\n", "step = 3\n")).count() == 0

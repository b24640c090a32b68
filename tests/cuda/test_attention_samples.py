"""Attention for GPUs agrees with the oracle on the processor, and nvcc keeps its fragments in registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sample_checks import CASES, count_agreeing, cuda_of, spills

NAMES = ["attention", "attention_fused"]


@pytest.mark.parametrize("schedule", ["wmma", "simt"])
@pytest.mark.parametrize("name", NAMES)
def test_agrees(name: str, schedule: str, tmp_path: Path) -> None:
    """At any size."""
    assert ("mma_sync" in cuda_of(name, schedule).text) == (schedule == "wmma")
    assert count_agreeing(name, schedule, tmp_path) == len(CASES[name]["check"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("nvcc")
def test_no_spills(name: str, tmp_path: Path) -> None:
    assert spills(name, "wmma", tmp_path) == 0

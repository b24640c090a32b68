"""Pins every message of the schedule passes: `.hb` files in `refused`, each with its `.stderr`."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_goldens import Golden, cases

from hbc.cli.pipeline import lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

FILES = cases(Path(__file__).parent / "refused")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_message(file: Path, golden: Golden) -> None:
    pipeline = check(parse(Source(file.name, file.read_text(encoding="utf-8"))), {})
    found = golden.refuses(
        file, lambda: lower_to_kernel(pipeline, pipeline.schedules[0], TARGETS["avx512"])
    )
    assert all(d.span is not None and d.hint for d in found)

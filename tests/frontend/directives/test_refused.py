"""Pins every message of the schedule passes: `.hb` files in `refused`, each with its `.stderr`. What the
message says is done in its `.fixed.hb`, which is lowered."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_goldens import Golden, assert_fixed_or_listed, cases, fixed

from hbc.cli.pipeline import lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

FOLDER = Path(__file__).parent / "refused"
FILES = cases(FOLDER)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_message(file: Path, golden: Golden) -> None:
    pipeline = check(parse(Source(file.name, file.read_text(encoding="utf-8"))), {})
    found = golden.refuses(
        file, lambda: lower_to_kernel(pipeline, pipeline.schedules[0], TARGETS["avx512"])
    )
    assert all(d.span is not None and d.hint for d in found)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_the_hint_is_true(file: Path) -> None:
    repaired = fixed(file)
    pipeline = check(parse(Source(repaired.name, repaired.read_text(encoding="utf-8"))), {})
    for schedule in pipeline.schedules:
        lower_to_kernel(pipeline, schedule, TARGETS[schedule.targets[0]])


def test_every_case_has_a_fixed_version() -> None:
    assert_fixed_or_listed(FOLDER, {})

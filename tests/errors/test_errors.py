"""Pins every message of the frontend: each `.hb` here has a `.stderr` with exit code and text.

Files named `illegal_*` and `limit_*` pass the checker, and
are refused when they are lowered. What the hints say is done in the `.fixed.hb`, which compiles.
"""

from pathlib import Path

import pytest
from suite_goldens import FIXED, Golden, cases, settings

from hbc.cli.pipeline import lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.text.kernels import each
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

HERE = Path(__file__).parent
REFUSED = cases(HERE)


def compile_all(file: Path, text: str) -> None:
    """Checks the program; lowers it with each of its schedules, or with none."""
    mistakes: list[Diagnostic] = []
    for source in each(Source(file.name, text)):
        try:
            pipeline = check(parse(source), settings(text))
            for schedule in pipeline.schedules or (None,):
                target = TARGETS[schedule.targets[0] if schedule else "c"]
                lower_to_kernel(pipeline, schedule, target)
        except HbcError as failure:
            if not source.whole:
                raise
            mistakes += failure.diagnostics
    if mistakes:
        raise HbcError(mistakes)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_message(file: Path, golden: Golden) -> None:
    text = file.read_text(encoding="utf-8")
    golden.refuses(file, lambda: compile_all(file, text))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("file", sorted(HERE.glob(f"*{FIXED}")), ids=lambda file: file.stem)
def test_the_hint_is_true(file: Path) -> None:
    assert (HERE / file.name.replace(FIXED, ".stderr")).is_file()
    text = file.read_text(encoding="utf-8")
    compile_all(file, text)

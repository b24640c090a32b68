"""Pins every message of the frontend: each `.hb` here has a `.stderr` with exit code and text.

Files named `illegal_*` and `limit_*` pass the checker, and are refused when they are lowered. What the
message says is done in the `.fixed.hb`, which compiles: of every case but those in `NOT_FIXED`.
"""

import re
from pathlib import Path

import pytest
from suite_goldens import Golden, assert_fixed_or_listed, cases, fixed, settings

from hbc.cli.pipeline import lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.text.kernels import each
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

HERE = Path(__file__).parent
REFUSED = cases(HERE)
MESSAGE = re.compile("(error|note|hint|warning): ")
PLURAL_OF_ONE = re.compile(r"(?<![-+*/] )(?<! x )(?<![\w.,-])1 (?!is|was|has|times)[a-z]+s\b")
NOT_FIXED = {
    "syntax_description": "instructions are described in files of another kind",
    "syntax_version_newer": "a later hbc reads it",
}


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
@pytest.mark.parametrize(
    "file", [f for f in REFUSED if f.stem not in NOT_FIXED], ids=lambda file: file.stem
)
def test_the_hint_is_true(file: Path) -> None:
    repaired = fixed(file)
    compile_all(repaired, repaired.read_text(encoding="utf-8"))


def test_one_is_no_plural() -> None:
    """In all messages that the tests pin, wherever they come from."""
    for file in sorted(HERE.parent.rglob("*.stderr")):
        said = [x for x in file.read_text(encoding="utf-8").splitlines() if MESSAGE.search(x)]
        found = [one for x in said for one in PLURAL_OF_ONE.findall(re.sub("`[^`]*`", "", x))]
        assert not found, f"{file.name}: {found}"


def test_every_case_has_a_fixed_version() -> None:
    assert_fixed_or_listed(HERE, NOT_FIXED)

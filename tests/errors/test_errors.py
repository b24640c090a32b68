"""Pins every message of the frontend: each `.hb` here has a `.stderr` with exit code and text.

HBC_UPDATE_GOLDEN=1 writes them anew; read the difference before committing it. A first line
`# --set NAME=VALUE ...` gives settings. Files named `illegal_*` and `limit_*` pass the checker, and
are refused when they are lowered. What the hints say is done in the `.fixed.hb`, which compiles.
"""

import os
from pathlib import Path

import pytest

from hbc.cli.pipeline import lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

HERE = Path(__file__).parent
FIXED = ".fixed.hb"
REFUSED = sorted(file for file in HERE.glob("*.hb") if not file.name.endswith(FIXED))
UPDATE = os.environ.get("HBC_UPDATE_GOLDEN") == "1"


def settings(text: str) -> dict[str, str]:
    """The settings that the first line asks for."""
    first = text.partition("\n")[0]
    words = first.split("--set")[1:] if first.startswith("# --set") else []
    return {name.strip(): value.strip() for name, _, value in (w.partition("=") for w in words)}


def compile_all(file: Path, text: str) -> None:
    """Checks the program; lowers it with each of its schedules, or with none."""
    pipeline = check(parse(Source(file.name, text)), settings(text))
    for schedule in pipeline.schedules or (None,):
        lower_to_kernel(pipeline, schedule, TARGETS[schedule.targets[0] if schedule else "c"])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_message(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    with pytest.raises(HbcError) as raised:
        compile_all(file, text)
    shown = "\n".join(d.render() for d in raised.value.diagnostics)
    said = f"exit code {raised.value.exit_code}\n{shown}\n"
    golden = file.with_suffix(".stderr")
    if UPDATE:
        golden.write_text(said, encoding="utf-8")
    assert golden.is_file(), "run once with HBC_UPDATE_GOLDEN=1"
    assert said == golden.read_text(encoding="utf-8")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("file", sorted(HERE.glob(f"*{FIXED}")), ids=lambda file: file.stem)
def test_the_hint_is_true(file: Path) -> None:
    assert (HERE / file.name.replace(FIXED, ".stderr")).is_file()
    text = file.read_text(encoding="utf-8")
    compile_all(file, text)

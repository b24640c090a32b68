"""Pins every message of the schedule passes: `.hb` files in `refused`, each with its `.stderr`.

HBC_UPDATE_GOLDEN=1 writes them anew; read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hbc.cli.pipeline import lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

FILES = sorted((Path(__file__).parent / "refused").glob("*.hb"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_message(file: Path) -> None:
    pipeline = check(parse(Source(file.name, file.read_text(encoding="utf-8"))), {})
    with pytest.raises(HbcError) as raised:
        lower_to_kernel(pipeline, pipeline.schedules[0], TARGETS["avx512"])
    shown = "\n".join(d.render() for d in raised.value.diagnostics)
    said = f"exit code {raised.value.exit_code}\n{shown}\n"
    assert all(d.span is not None and d.hint for d in raised.value.diagnostics), shown
    golden = file.with_suffix(".stderr")
    if os.environ.get("HBC_UPDATE_GOLDEN") == "1":
        golden.write_text(said, encoding="utf-8")
    assert golden.is_file(), "run once with HBC_UPDATE_GOLDEN=1"
    assert said == golden.read_text(encoding="utf-8")

"""Pins every message of `hbc synth` about a sketch: each `.sf` in `errors` has a `.stderr` with exit code
and text. What the message says is done in the `.fixed.sf`, which has a solution.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_goldens import Golden, assert_fixed_or_listed, cases, fixed, settings

from hbc.cli.commands.synth import chosen_table, none_found
from hbc.cli.files.read_sketch import importer
from hbc.frontend.sketch.elaborate import load_sketch
from hbc.ir.ground.source import Source
from hbc.synth.prunings.watch import Watch
from hbc.synth.results.solve import solve
from hbc.synth.search.switches import Switches

HERE = Path(__file__).parent / "errors"


def complete(file: Path) -> None:
    """What the command does with the file, by the same functions."""
    text = file.read_text(encoding="utf-8")
    sketch = load_sketch(Source(file.name, text), settings(text), importer(Path()))
    chosen_table(sketch, None)
    outcome = solve(sketch, Switches(), Watch())
    if not outcome.fragments:
        raise none_found(outcome)


@pytest.mark.parametrize("file", cases(HERE, ".sf"), ids=lambda file: file.stem)
def test_message(file: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    golden.refuses(file, lambda: complete(file))


@pytest.mark.parametrize("file", cases(HERE, ".sf"), ids=lambda file: file.stem)
def test_the_hint_is_true(file: Path) -> None:
    complete(fixed(file))


def test_every_case_has_a_fixed_version() -> None:
    assert_fixed_or_listed(HERE, {}, ".sf")

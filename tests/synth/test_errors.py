"""Pins every message of `hbc synth` about a sketch: each `.sf` in `errors` has a `.stderr` with exit code
and text.

HBC_UPDATE_GOLDEN=1 writes them anew; read the difference before committing it. A first line
`# --set NAME=VALUE ...` gives settings.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hbc.cli.commands.synth import chosen_table, none_found
from hbc.cli.sketches.read_sketch import importer
from hbc.frontend.sketch.elaborate import load_sketch
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.synth.prunings.watch import Watch
from hbc.synth.results.solve import solve
from hbc.synth.search.switches import Switches

HERE = Path(__file__).parent / "errors"
UPDATE = os.environ.get("HBC_UPDATE_GOLDEN") == "1"


def settings(text: str) -> dict[str, str]:
    """The settings that the first line asks for."""
    first = text.partition("\n")[0]
    words = first.split("--set")[1:] if first.startswith("# --set") else []
    return {name.strip(): value.strip() for name, _, value in (w.partition("=") for w in words)}


def complete(file: Path) -> None:
    """What the command does with the file, by the same functions."""
    text = file.read_text(encoding="utf-8")
    sketch = load_sketch(Source(file.name, text), settings(text), importer(Path()))
    chosen_table(sketch, None)
    outcome = solve(sketch, Switches(), Watch())
    if not outcome.fragments:
        raise none_found(outcome)


@pytest.mark.parametrize("file", sorted(HERE.glob("*.sf")), ids=lambda file: file.stem)
def test_message(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    with pytest.raises(HbcError) as raised:
        complete(file)
    shown = "\n".join(d.render() for d in raised.value.diagnostics)
    said = f"exit code {raised.value.exit_code}\n{shown}\n"
    golden = file.with_suffix(".stderr")
    if UPDATE:
        golden.write_text(said, encoding="utf-8")
    assert golden.is_file(), "run once with HBC_UPDATE_GOLDEN=1"
    assert said == golden.read_text(encoding="utf-8")

"""The plots of the synthesis benchmarks: what is drawn of a record, and that it is drawn."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "samples" / "bench"


def row(sketch: str, factor: str, seconds: float, **settings: str) -> dict[str, Any]:
    phases = {"read": 0.1, "sets": 0.2, "search": seconds}
    return {
        "sketch": sketch, "settings": settings, "ineffectiveness": factor, "processor": seconds,
        "phases": phases,
    }  # fmt: skip


ROWS = [
    row("crc", "2.0", 1.5, s="5", wrap="outer"),
    row("crc", "1,000.5", 0.5, s="3", wrap="outer"),
    row("crc", "1.0", 0.7, s="4"),
    row("conv1d", "1.0", 0.6, k="3", wrap="outer"),
    row("hvx_gaussian", "-", 0.3),
]


@pytest.fixture
def plots() -> ModuleType:
    spec = spec_from_file_location("synth_plots", BENCH / "synth_plots.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_series_are_by_size(plots: ModuleType) -> None:
    found = {
        name: [(number, r["processor"]) for number, r in points]
        for name, points in plots.series(ROWS).items()
    }
    assert found == {"transpose, CRC": [(3, 0.5), (5, 1.5)], "1D convolution": [(3, 0.6)]}
    assert [plots.label(r) for r in ROWS] == [
        "crc 5", "crc 3", "crc 4 inner", "conv1d 3", "hvx_gaussian",
    ]  # fmt: skip


def test_figures_are_drawn(tmp_path: Path) -> None:
    if find_spec("matplotlib") is None:
        pytest.skip("no matplotlib: pip install 'hbc[plots]'")
    record = tmp_path / "synth.jsonl"
    record.write_text("".join(json.dumps(r) + "\n" for r in ROWS), encoding="utf-8")
    command = [sys.executable, str(BENCH / "synth_plots.py"), str(record), str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    for name in ("seconds", "states", "phases"):
        assert "<svg" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")

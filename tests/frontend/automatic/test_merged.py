"""Few channels and the taps along a row as one loop of tile products."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.cli.automatic import automatic
from hbc.cli.main import exit_code_of
from hbc.cli.pipeline import load_pipeline
from hbc.codegen.build.processor import can_run
from hbc.ir.lang.target import TARGETS

CONV = Path(__file__).parents[3] / "samples" / "conv2d_u8s8.hb"
STEM = "R=7 S=7 stride=2 H=230 W=230 C=4 K=64"


def schedule(settings: str) -> str:
    given = dict(word.split("=") for word in settings.split())
    found = automatic(load_pipeline(CONV, given), TARGETS["amx"], given, False)
    assert found is not None and found.refused == ()
    return found.text


def test_taps_and_few_channels_are_one_loop() -> None:
    text = schedule(STEM)
    assert "specialize(C == 4).fuse(s, c, cf).split(cf, co, ci, 28)" in text
    assert "padded.in(acc).compute_root()" in text


@pytest.mark.parametrize(
    "settings",
    ["R=3 S=3 H=16 W=16 C=64 K=64", "R=1 S=1 H=16 W=16 C=4 K=64", "H=16 W=16 C=128 K=64"],
)
def test_where_that_saves_no_products_there_is_no_copy(settings: str) -> None:
    text = schedule(settings)
    assert "fuse" not in text and ".in(acc)" not in text


@pytest.mark.parametrize("settings", ["H=37 W=39 C=4 K=20", "H=37 W=37 C=5 K=16"])
def test_it_is_right_at_other_sizes_too(settings: str, tmp_path: Path) -> None:
    if not can_run(TARGETS["amx"]):
        pytest.skip("this processor does not execute tiles")
    kernel = tmp_path / CONV.name
    kernel.write_text(f"{CONV.read_text(encoding='utf-8')}\n{schedule(STEM)}", encoding="utf-8")
    given = [part for word in settings.split() for part in ("--set", word)]
    params = ["--set", "R=7", "--set", "S=7", "--set", "stride=2"]
    command = ["verify", str(kernel), "--schedule", "auto_amx", "--trials", "1"]
    assert exit_code_of([*command, *params, *given]) == 0

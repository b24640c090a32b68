"""Pixels of all rows as one loop, where rows are short beside blocks or tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.cli.automatic import automatic
from hbc.cli.instruction_set import instructions_of
from hbc.cli.main import exit_code_of
from hbc.cli.pipeline import load_pipeline
from hbc.codegen.build.processor import can_run
from hbc.frontend.automatic.flat import flat_program
from hbc.frontend.automatic.points import FLAT, space_of
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

SAMPLES = Path(__file__).parents[3] / "samples"
CONV = SAMPLES / "conv2d_u8s8.hb"


def given(settings: str) -> dict[str, str]:
    return dict(word.split("=") for word in settings.split())


def schedule(settings: str, target: str) -> str:
    found = automatic(load_pipeline(CONV, given(settings)), TARGETS[target], given(settings), False)
    assert found is not None and found.refused == () and found.kernel.instructions
    return found.text


@pytest.mark.parametrize(
    ("settings", "target", "wanted"),
    [
        ("R=1 S=1 H=7 W=7 C=512 K=1024", "amx", True),
        ("R=1 S=1 H=8 W=8 C=1280 K=192", "amx", True),
        ("R=1 S=1 H=14 W=14 C=576 K=128", "amx", False),  # full tiles as it is
        ("R=1 S=1 H=17 W=17 C=768 K=160", "avx512vnni", True),
        ("R=7 S=1 H=23 W=17 C=160 K=160", "avx512vnni", True),  # several rows, one column
        ("R=1 S=1 H=14 W=14 C=576 K=128", "avx512vnni", False),
        (
            "R=3 S=3 H=9 W=9 C=128 K=128",
            "amx",
            False,
        ),  # rows of the image are longer than those of sums
        ("R=1 S=1 stride=2 H=14 W=14 C=128 K=128", "amx", False),
        ("R=1 S=1 pad=1 H=7 W=7 C=128 K=128", "amx", False),
    ],
)
def test_it_is_chosen_where_rows_are_short(settings: str, target: str, wanted: bool) -> None:
    assert ("O.flatten(y, x, p)" in schedule(settings, target)) == wanted


def test_all_dimensions_of_pixels_become_one() -> None:
    settings = {"Q": "1", "R": "1", "S": "1"}
    found = flat_program(load_pipeline(SAMPLES / "conv3d_u8s8.hb", settings))
    assert found is not None
    directives = [d for line in found.lines for d in line.directives]
    assert directives == ["flatten(y, x, p)", "flatten(z, p, p_)"]
    assert [i.dims for i in found.pipeline.inputs] == [(2, 3), ()]


def test_not_where_rows_are_asked_for() -> None:
    text = """
    size   H, W, K
    input  B: f32[H]
    input  I: f32[H, W, K]
    output O: f32[H, W, K]
    reduce c in K
    acc[y, x, k] = 0
    acc[y, x, k] += I[y, x, c]
    O[y, x, k] = acc[y, x, k] + B[y]
    """
    assert flat_program(load_pipeline(Source("rows.hb", text), {})) is None
    same = text.replace("B[y]", "B[0]")
    assert flat_program(load_pipeline(Source("same.hb", same), {})) is not None


def test_not_for_several_stages() -> None:
    """Of which formulas would be long, or without sums, where a copy of arrays with gaps takes as long."""
    assert flat_program(load_pipeline(SAMPLES / "apps" / "bgu.hb", {})) is None
    text = "size H, W, K\ninput I: f32[H, W, K]\noutput O: f32[H, W, K]\nO[y, x, k] = I[y, x, k]"
    assert flat_program(load_pipeline(Source("plain.hb", text), {})) is None


def test_tuning_may_choose_otherwise() -> None:
    settings = given("R=1 S=1 H=7 W=7 C=512 K=1024")
    target = TARGETS["amx"]
    p = load_pipeline(CONV, settings)
    space = space_of(p, target, settings, "tuned", instructions_of(target))
    usual = space.made({})
    assert usual.asked[FLAT] == (True, False) and "flatten" in usual.text
    other = space.made({FLAT: False})
    assert other.point == {FLAT: False} and "flatten" not in other.text


@pytest.mark.skipif(not can_run(TARGETS["avx512vnni"]), reason="runs AVX512-VNNI code")
@pytest.mark.parametrize(
    "settings", ["R=1 S=1 H=17 W=17 C=70 K=160", "R=7 S=1 H=23 W=17 C=36 K=160"]
)
def test_it_is_right(settings: str) -> None:
    arguments = [part for word in settings.split() for part in ("--set", word)]
    command = ["verify", str(CONV), "--target", "avx512vnni", "--schedule", "auto", "--trials", "2"]
    assert exit_code_of([*command, *arguments]) == 0

"""Blocks of tiles: which fit into the registers, which are taken at known sizes, that their code is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.cli.automatic import automatic
from hbc.cli.instruction_set import instructions_of
from hbc.cli.main import exit_code_of
from hbc.cli.pipeline import load_pipeline
from hbc.codegen.build.processor import can_run
from hbc.frontend.automatic.candidates import rate_of
from hbc.frontend.costs.machine import machine_of
from hbc.frontend.costs.tile_blocks import TileSides, ranked_tile_blocks
from hbc.ir.lang.target import TARGETS

CONV = Path(__file__).parents[3] / "samples" / "conv2d_u8s8.hb"


def sides(out: int, channels: int, columns: int, taps: int = 3) -> TileSides:
    """Those of a layer with as many rows as pixels in a row, bytes, whole steps of 64 or one of fewer."""
    depth = min(channels, 64)
    wide = (out + taps - 1) * channels
    return TileSides(
        out, out, columns, 16, 16, depth, depth, -(-channels // 64) * taps * taps,
        channels * taps * taps * columns, taps * wide, wide, False, out * out * columns * 4,
    )  # fmt: skip


@pytest.mark.parametrize("out", [1, 2, 7, 14, 27, 71, 1000])
@pytest.mark.parametrize("columns", [8, 16, 96, 512])
def test_blocks_leave_registers_for_their_operands(out: int, columns: int) -> None:
    ranked = ranked_tile_blocks(sides(out, 128, columns))
    assert ranked and [c.cycles for c in ranked] == sorted(c.cycles for c in ranked)
    for b in (c.block for c in ranked):
        rows = b.down * b.beside
        held = rows * b.across + 1 + (rows if b.across > 1 else 1)
        assert held <= 8
        assert 1 <= b.high <= 16 and b.beside <= out
        assert b.down == 1 or b.rows <= out
        assert b.across == 1 or (b.across - 1) * 16 < columns


@pytest.mark.parametrize(
    ("out", "high"), [(14, 14), (7, 7), (28, 14), (17, 9), (27, 14), (16, 16), (64, 16)]
)
def test_rows_of_tiles_divide_a_row_of_pixels(out: int, high: int) -> None:
    """Sixteen of fourteen pixels would read beyond them."""
    assert ranked_tile_blocks(sides(out, 128, 128))[0].block.high == high


def test_a_block_is_as_many_products_as_hide_what_they_load() -> None:
    """Of what comes from the second cache each tile meets two others at least."""
    for out in (7, 14, 28):
        block = ranked_tile_blocks(sides(out, 512, 512))[0].block
        assert block.down * block.beside >= 2


@pytest.mark.parametrize(
    ("out", "channels", "columns", "taps", "across"),
    [(56, 64, 128, 1, 2), (56, 64, 256, 1, 2), (112, 32, 64, 1, 2), (56, 128, 128, 1, 2),
     (28, 128, 256, 1, 2), (27, 64, 96, 3, 1), (28, 128, 128, 3, 1)],
)  # fmt: skip
def test_sums_beyond_the_second_cache_are_written_in_pairs_of_lines(
    out: int, channels: int, columns: int, taps: int, across: int
) -> None:
    """As layers 72, 73, 82, 75, 55, 121 and 123 of 148 were measured on a Xeon with AMX."""
    assert ranked_tile_blocks(sides(out, channels, columns, taps))[0].block.across == across


def schedule(settings: str) -> str:
    given = dict(word.split("=") for word in settings.split())
    found = automatic(load_pipeline(CONV, given), TARGETS["amx"], given, False)
    assert found is not None and found.refused == ()
    return found.text


def test_steps_in_a_product_leave_nothing_over_where_that_takes_no_more() -> None:
    assert "split(c, co, ci, 48)" in schedule("H=16 W=16 C=96 K=128")
    assert "split(c, co, ci, 40)" in schedule("H=16 W=16 C=80 K=128")
    text = schedule("H=14 W=14 C=608 K=192 R=1 S=1")
    assert "specialize(C % 64 == 32)" in text and "split(c, co, ci, 64)" in text
    assert "specialize(C % 64 == 0)" in schedule("H=16 W=16 C=128 K=128")
    odd = schedule("H=16 W=16 C=70 K=128")  # in no groups of four
    assert "split(c, co, ci, 64)" in odd and "specialize(C" not in odd


@pytest.mark.parametrize(
    ("settings", "emulate"),
    [
        ("H=9 W=9 C=160 K=48", True),
        ("R=1 S=1 H=7 W=7 C=96 K=40", False),
        ("stride=2 H=12 W=19 C=32 K=33", False),
        ("pad=1 H=6 W=17 C=68 K=16", False),
    ],
)
def test_layers_in_tiles_are_right(settings: str, emulate: bool) -> None:
    """At the sizes that the schedule was made for, where its own loops are taken."""
    if not emulate and not can_run(TARGETS["amx"]):
        pytest.skip("this processor does not execute tiles")
    given = [part for word in settings.split() for part in ("--set", word)]
    command = ["verify", str(CONV), "--target", "amx", "--schedule", "auto", "--trials", "1"]
    assert exit_code_of([*command, *given, *(["--emulate"] if emulate else [])]) == 0


def test_tiles_of_one_row_are_worth_one_row() -> None:
    """A layer of one pixel is for dot products of vectors, where the processor has both."""

    def rate(target: str, pixels: int) -> float:
        given = {"R": "1", "S": "1", "H": "1", "W": str(pixels), "C": "1280", "K": "1008"}
        known, machine = instructions_of(TARGETS[target]), machine_of(TARGETS[target])
        return rate_of(load_pipeline(CONV, given), given, known, machine)

    assert rate("amx", 1) <= rate("avx512vnni", 1)
    assert rate("amx", 14) > rate("avx512vnni", 14)

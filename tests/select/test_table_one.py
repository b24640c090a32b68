"""The schedules of Intel's manual in both layouts, on tiles and in vector registers, for all types."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled

FOLDER = Path(__file__).resolve().parents[2] / "samples" / "amx"
SCHEDULES = ("reference", "reorder", "preload_a", "preload_b", "pipelined")
LAYOUTS = ("vnni", "rowmajor")
TYPES = {
    "bf16 x bf16": {},
    "i8 x i8": {"TA": "i8", "TB": "i8", "T": "i32"},
    "i8 x u8": {"TA": "i8", "TB": "u8", "T": "i32"},
    "u8 x i8": {"TA": "u8", "TB": "i8", "T": "i32"},
    "u8 x u8": {"TA": "u8", "TB": "u8", "T": "i32"},
}
BLOCKS = ((1, 2), (1, 4), (2, 2), (4, 1))  # tiles in a block, rows and columns


def text(schedule: str, layout: str) -> str:
    return (FOLDER / f"{schedule}_{layout}.hb").read_text(encoding="utf-8")


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_tiles(schedule: str, layout: str, types: str) -> None:
    p, kernels = compiled(text(schedule, layout), "amx", settings=TYPES[types])
    assert_selected(kernels["select"])
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"M": 64, "N": 32, "K": 128})


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_lanes(schedule: str, layout: str, types: str) -> None:
    target = "avx512bf16" if types.startswith("bf16") else "avx512vnni"
    p, kernels = compiled(text(schedule, layout), target, settings=TYPES[types])
    assert_selected(kernels["select"])
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"M": 13, "N": 70, "K": 12})


@pytest.mark.parametrize(("rows", "columns"), BLOCKS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_blocks_of_tiles(layout: str, rows: int, columns: int) -> None:
    settings = {"rows": str(rows), "columns": str(columns)}
    p, kernels = compiled(text("reorder", layout), "amx", settings=settings)
    assert_selected(kernels["select"])
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"M": 64, "N": 64, "K": 32})


@pytest.mark.parametrize("tail", ["mask", "guard"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_tails(schedule: str, layout: str, tail: str) -> None:
    program = text(schedule, layout).replace("tail = exact", f"tail = {tail}")
    p, kernels = compiled(program, "amx")
    assert kernels["select"].instructions
    for sizes in ((67, 69, 70), (5, 16, 34), (32, 3, 2), (1, 1, 2)):
        for stage in CHECKED:
            assert_agrees(p, kernels[stage], dict(zip("MNK", sizes, strict=True)))

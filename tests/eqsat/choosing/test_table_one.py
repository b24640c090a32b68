"""The schedules of Intel's manual in both layouts, on tiles and in vector registers, for all types."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled

from hbc.cli.main import exit_code_of
from hbc.codegen.build.processor import runs_here
from hbc.ir.lang.target import TARGETS

FOLDER = Path(__file__).resolve().parents[3] / "samples" / "amx"
SCHEDULES = ("reference", "reorder", "preload_a", "preload_b", "pipelined")
LAYOUTS = ("vnni", "rowmajor")
TYPES = {
    "bf16 x bf16": {},
    "i8 x i8": {"TA": "i8", "TB": "i8", "T": "i32"},
    "i8 x u8": {"TA": "i8", "TB": "u8", "T": "i32"},
    "u8 x i8": {"TA": "u8", "TB": "i8", "T": "i32"},
    "u8 x u8": {"TA": "u8", "TB": "u8", "T": "i32"},
}
LANE_TARGETS = ("avx512vnni", "avx512bf16")  # for bytes, for bf16
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
    target = LANE_TARGETS[types.startswith("bf16")]
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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_tails(schedule: str, layout: str) -> None:
    # Scalar code cannot touch tiles: around them a guard is a mask.
    tail = "guard" if schedule == "preload_a" else "mask"
    program = text(schedule, layout).replace("tail = exact", f"tail = {tail}")
    p, kernels = compiled(program, "amx")
    assert_selected(kernels["select"])
    for sizes in ((67, 37, 70), (5, 16, 34), (32, 3, 2), (1, 1, 2)):
        assert_agrees(p, kernels["hoist"], dict(zip("MNK", sizes, strict=True)))


@pytest.mark.parametrize("number", range(len(SCHEDULES) * len(LAYOUTS)))
@pytest.mark.parametrize("place", ["tiles", "lanes"])
def test_native(place: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Each cell with one of the combinations of types, compiled: under the emulator, or here."""
    schedule, layout = SCHEDULES[number // 2], LAYOUTS[number % 2]
    types = list(TYPES)[(number + (place == "lanes")) % len(TYPES)]
    target = "amx" if place == "tiles" else LANE_TARGETS[types.startswith("bf16")]
    if place == "lanes" and not runs_here(TARGETS[target]):
        pytest.skip(f"this processor cannot run {target}")
    if place == "tiles" and platform.machine() != "x86_64":
        pytest.skip("the AMX emulator is for x86-64")
    settings = [a for name, t in TYPES[types].items() for a in ("--set", f"{name}={t}")]
    file = FOLDER / f"{schedule}_{layout}.hb"
    emulate = ["--emulate"] if place == "tiles" else []
    arguments = ["run", str(file), "--target", target, "--verify", *emulate, *settings]
    assert exit_code_of(arguments) == 0, capsys.readouterr().err

"""The samples with a schedule for AMX, compiled and run under the emulator, at whole and odd sizes."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of

FOLDER = Path(__file__).resolve().parents[3] / "samples"
BYTES = {"TI": "u8", "TK": "i8", "TO": "i32"}
GEMM = ({"M": 32, "N": 64, "K": 64}, {"M": 37, "N": 67, "K": 45})
CONV1D = ({"H": 2, "W": 300, "T": 64}, {"H": 3, "W": 67, "T": 17}, {"H": 2, "W": 5, "T": 3})
CONV2D = ({"H": 2, "W": 261, "T": 16}, {"H": 3, "W": 37, "T": 5})
SAMPLES: dict[str, tuple[dict[str, int], ...]] = {
    "gemm_bf16": GEMM,
    "gemm_u8s8": GEMM,
    "gemm_requant": GEMM,
    "conv1d_bf16": CONV1D,
    "conv1d_u8s8": CONV1D,
    "amx/conv2d": CONV2D,
    "amx/downsample": CONV2D,
    # Whole blocks of 32 x 32 outputs; an odd number of taps.
    "amx/upsample": ({"H": 32, "W": 64, "T": 8}, {"H": 32, "W": 32, "T": 5}),
    "amx/conv_layer": (
        {"N": 1, "H": 2, "W": 32, "C": 32, "K": 32},
        {"N": 1, "H": 3, "W": 33, "C": 33, "K": 35},
    ),
    "conv_layer_u8s8": (
        {"N": 1, "H": 2, "W": 32, "C": 64, "K": 32},
        {"N": 1, "H": 3, "W": 33, "C": 65, "K": 35},
    ),
    "denoise_bf16": ({"H": 64, "W": 64}, {"H": 17, "W": 7}),
    "recursive_bf16": ({"N": 272}, {"N": 301}),
}
CASES: list[tuple[str, dict[str, int], dict[str, str]]] = [
    (name, sizes, {}) for name, found in SAMPLES.items() for sizes in found
]
CASES += [(f"amx/{n}", s, BYTES) for n in ("conv2d", "downsample") for s in CONV2D]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the AMX emulator is for x86-64")
@pytest.mark.parametrize(("name", "sizes", "types"), CASES)
def test_native(
    name: str, sizes: dict[str, int], types: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [a for key, v in (sizes | types).items() for a in ("--set", f"{key}={v}")]
    file = str(FOLDER / f"{name}.hb")
    arguments = ["run", file, "--target", "amx", "--verify", "--emulate", *settings]
    assert exit_code_of(arguments) == 0, capsys.readouterr().err


@pytest.mark.parametrize("name", SAMPLES)
def test_sums_on_tiles(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(["explain", str(FOLDER / f"{name}.hb"), "--target", "amx", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["statements"]
    lines = {statement["line"] for statement in found}
    # Of schedules with conditions, one.
    on_tiles = {s["line"] for s in found if s["chosen"].startswith("tdp")}
    assert on_tiles == lines != set(), found

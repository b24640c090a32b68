"""Enlarging by S: the phases are convolutions by instructions, for S other than 2 and odd sizes too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of
from hbc.codegen.build.processor import runs_here
from hbc.ir.lang.target import TARGETS

UPSAMPLE = Path(__file__).resolve().parents[3] / "samples" / "upsample.hb"
TYPES = {
    "avx512bf16": {"TI": "bf16", "TK": "bf16"},
    "avx512vnni": {"TI": "u8", "TK": "i8", "TO": "i32"},
}
INSTRUCTIONS = {"avx512bf16": "vdpbf16ps_zmm", "avx512vnni": "vpdpbusd_zmm"}


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("phases", [1, 3])
def test_phases_are_dot_products(
    phases: int, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = TYPES[target] | {"S": str(phases)}
    set_all = [word for key, v in settings.items() for word in ("--set", f"{key}={v}")]
    assert exit_code_of(["explain", str(UPSAMPLE), "--target", target, "--json", *set_all]) == 0
    found = json.loads(capsys.readouterr().out)["statements"]
    assert {s["chosen"] for s in found} == {INSTRUCTIONS[target]}
    if not runs_here(TARGETS[target]):
        pytest.skip(f"this processor cannot run {target}")
    set_all += ["--set", "H=35", "--set", "W=67", "--set", "T=11"]
    arguments = ["run", str(UPSAMPLE), "--target", target, "--verify", *set_all]
    assert exit_code_of(arguments) == 0, capsys.readouterr().err

"""Pins what is said of programs that cannot be done in tiles: each `.hb` in `refused` has a `.stderr`
with exit code and text. HBC_UPDATE_GOLDEN=1 writes them anew; read the difference. What the hint says is done
in its `.fixed.hb`, which is right, and in tiles if it still asks for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tensor_checks import assert_agrees, assert_selected, compiled

from hbc.ir.ground.diag import HbcError

FOLDER = Path(__file__).parent / "refused"
FIXED = ".fixed.hb"
REFUSED = sorted(file for file in FOLDER.glob("*.hb") if not file.name.endswith(FIXED))
SIZES = {"M": 32, "N": 64, "K": 64}
UPDATE = os.environ.get("HBC_UPDATE_GOLDEN") == "1"


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_refused(file: Path) -> None:
    with pytest.raises(HbcError) as raised:
        compiled(file.read_text(encoding="utf-8"), "amx", name=file.name)
    shown = "\n".join(d.render() for d in raised.value.diagnostics)
    said = f"exit code {raised.value.exit_code}\n{shown}\n"
    golden = file.with_suffix(".stderr")
    if UPDATE:
        golden.write_text(said, encoding="utf-8")
    assert golden.is_file(), f"run once with HBC_UPDATE_GOLDEN=1; it says now:\n{said}"
    assert said == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_the_hint_is_true(file: Path) -> None:
    text = file.with_suffix(FIXED).read_text(encoding="utf-8")
    p, kernels = compiled(text, "amx")
    if "amx_tile" in text:
        assert_selected(kernels["select"])
    assert_agrees(p, kernels["hoist"], {size.name: SIZES[size.name] for size in p.sizes})

"""Pins what is said of programs that cannot be done in tiles: each `.hb` in `refused` has a `.stderr`
with exit code and text. What the hint says is done
in its `.fixed.hb`, which is right, and in tiles if it still asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_goldens import FIXED, Golden, cases
from tensor_checks import assert_agrees, assert_selected, compiled

FOLDER = Path(__file__).parent / "refused"
REFUSED = cases(FOLDER)
SIZES = {"M": 32, "N": 64, "K": 64}


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_refused(file: Path, golden: Golden) -> None:
    text = file.read_text(encoding="utf-8")
    golden.refuses(file, lambda: compiled(text, "amx", name=file.name))


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_the_hint_is_true(file: Path) -> None:
    text = file.with_suffix(FIXED).read_text(encoding="utf-8")
    p, kernels = compiled(text, "amx")
    if "amx_tile" in text:
        assert_selected(kernels["select"])
    assert_agrees(p, kernels["hoist"], {size.name: SIZES[size.name] for size in p.sizes})

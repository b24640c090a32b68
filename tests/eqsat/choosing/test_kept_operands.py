"""Operands loaded into tiles outside of the sums: they stay there while several blocks pass by."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled
from tensor_programs import changed

from hbc.cli.main import exit_code_of
from hbc.ir.ground.diag import HbcError

PRODUCT = """
size   M, N
param  K: i32 = 96
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
"""

ROWS = (
    PRODUCT
    + """
schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, ki, 32, tail = exact).reorder(ko, i, j, ki).unroll(ko)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
    A.in(acc).compute_at(C, io).store_in(amx_tile)
    A.in(acc).split(k, kt, kx, 32).reorder(kt, i, kx).unroll(kt).vectorize(i).vectorize(kx)
}
"""
)

COLUMNS = (
    PRODUCT
    + """
schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).reorder(jo, io, ii, ji)
    C.vectorize(ii).vectorize(ji)
    acc.compute_at(C, io).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, ki, 32, tail = exact).reorder(ko, i, j, ki).unroll(ko)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
    B.in(acc).compute_at(C, jo).store_in(amx_tile)
    B.in(acc).split(k, kt, kx, 32).reorder(kt, kx, j).unroll(kt).vectorize(kx).vectorize(j)
}
"""
)

BLOCK = (
    PRODUCT
    + """
schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 48, 32).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.vectorize(i, 16).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 32).reorder(ko, i, j, ki).atomic().vectorize(ki)
    acc.update.vectorize(i, 16).vectorize(j, 16).unroll(i).unroll(j)
}
"""
)

PARTS = (("ii, ji, 16, 16, tail = exact", "ii, ji, 16, 16"),)
BYTES = (("bf16[M", "u8[M"), ("bf16[K", "i8[K"), ("f32[M", "i32[M"), ("f32(", "i32("))
LONGER = ((" 32, tail", " 64, tail"), ("kx, 32", "kx, 64"), ("= 96", "= 192"))
RELU = (("C[i, j]    = acc[i, j]", "C[i, j]    = max(acc[i, j], 0)"),)

PROGRAMS = {
    "rows": ROWS,
    "columns": COLUMNS,
    "rows of bytes": changed(ROWS, *BYTES, *LONGER),
    "columns of bytes": changed(COLUMNS, *BYTES, *LONGER),
    "rows, and what follows the sums": changed(ROWS, *RELU),
    "columns, and partial tiles": changed(COLUMNS, *PARTS),
    "rows, and partial tiles": changed(ROWS, *PARTS),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_kept(what: str) -> None:
    text = PROGRAMS[what]
    p, kernels = compiled(text, "amx")
    assert_selected(kernels["select"])
    sizes = {"M": 39, "N": 21} if "partial" in what else {"M": 32, "N": 48}
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], sizes)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the AMX emulator is for x86-64")
@pytest.mark.parametrize(
    ("text", "n", "m", "loads"),
    [
        pytest.param(ROWS, 48, 32, 2 * 3 + 6 * 3, id="rows"),
        pytest.param(COLUMNS, 48, 32, 3 * 3 + 6 * 3, id="columns"),
        # Six of eight registers have sums: three tiles are loaded once in each of three steps, those of
        # the shorter side for each product, as `codegen/plan/tile_reloads.py` decides.
        pytest.param(BLOCK, 32, 48, 3 * (3 + 6), id="3 x 2, again"),
        pytest.param(changed(BLOCK, ("48, 32)", "32, 48)")), 48, 32, 3 * (3 + 6), id="2 x 3, again"),
        pytest.param(
            changed(BLOCK, *BYTES, (" 32).reorder", " 64).reorder"), ("= 96", "= 192")),
            32, 48, 3 * (3 + 6), id="3 x 2 of bytes, again",
        ),
    ],
)  # fmt: skip
def test_loads(
    text: str, n: int, m: int, loads: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kept.hb"
    file.write_text(text, encoding="utf-8")
    sizes = ["--set", f"M={m}", "--set", f"N={n}"]
    arguments = ["run", str(file), "--target", "amx", "--verify", "--emulate", *sizes]
    assert exit_code_of(arguments) == 0
    assert f"emulated  {loads} tileloadd" in capsys.readouterr().out


def test_more_than_there_are() -> None:
    with pytest.raises(HbcError) as raised:
        compiled(changed(ROWS, ("= 96", "= 256")), "amx")
    message = raised.value.diagnostics[0].message
    assert message.startswith("10 tile registers are needed at once, and there are 8: ")
    assert "8 for `A_in_acc`" in message and "1 for `acc`" in message


def test_in_a_loop_that_is_not_unrolled() -> None:
    with pytest.raises(HbcError) as raised:
        compiled(changed(ROWS, (".unroll(ko)", "")), "amx")
    first = raised.value.diagnostics[0]
    assert "which of its tiles is meant here depends on `ko`" in first.message
    assert first.hint == "unroll, or vectorize, what runs over its tiles: `.unroll(ko)`"

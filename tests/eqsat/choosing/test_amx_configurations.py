"""AMX by types, layouts of both factors, blocks of tiles, and what is kept in tiles: all of them."""

from __future__ import annotations

import platform
from itertools import product
from pathlib import Path

import pytest
from suite_tables import share
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled

from hbc.cli.main import exit_code_of

TYPES = {
    "bf16": ("bf16", "bf16", "f32"), "f16": ("f16", "f16", "f32"), "u8 x i8": ("u8", "i8", "i32"),
    "i8 x u8": ("i8", "u8", "i32"), "i8 x i8": ("i8", "i8", "i32"), "u8 x u8": ("u8", "u8", "i32"),
}  # fmt: skip
ROWS = {"rows": ("M, K", "i, k"), "columns": ("K, M", "k, i")}
"""Of A: its extents and its indices."""
COLUMNS = {
    "rows": ("K, N", "k, j"), "columns": ("N, K", "j, k"), "groups": ("K / g, N, g", "k / g, j, k % g"),
}  # fmt: skip
"""Of B; in groups of rows that lie interleaved, as tiles want them."""
BLOCKS = ((1, 1), (2, 2), (1, 3), (3, 1))  # of tiles of 16 x 16
KEPT = ("", "A", "B")  # what is loaded ahead of the products
Case = tuple[str, str, str, tuple[int, int], str]
CASES: list[Case] = list(product(TYPES, ROWS, COLUMNS, BLOCKS, KEPT))
THIRD: list[Case] = share(3, list(TYPES), list(ROWS), list(COLUMNS), BLOCKS, KEPT)
"""All 432 take three minutes, and agreed once."""
PARTIAL = ({"M": 37, "N": 41, "K": 36}, {"M": 3, "N": 1, "K": 68})


def text(kind: str, rows: str, columns: str, block: tuple[int, int], kept: str, tail: str) -> str:
    a, b, total = TYPES[kind]
    (a_shape, a_at), (b_shape, b_at) = ROWS[rows], COLUMNS[columns]
    down, across = 16 * block[0], 16 * block[1]
    group = 2 if total == "f32" else 4
    ahead = {
        "": "",
        "A": """A.in(acc).compute_at(acc.update, ko).store_in(amx_tile)
        A.in(acc).split(i, it, ii, 16).unroll(it).vectorize(ii).vectorize(k)""",
        "B": """B.in(acc).compute_at(acc.update, ko).store_in(amx_tile)
        B.in(acc).split(j, jt, ji, 16).reorder(jt, k, ji).unroll(jt).vectorize(k).vectorize(ji)""",
    }[kept]
    whole = '    require K % g == 0, "whole groups"' if columns == "groups" else ""
    return f"""
    param g: i32 = {group}
    size M, N, K
    input A: {a}[{a_shape}]
    input B: {b}[{b_shape}]
    output C: {total}[M, N]
{whole}
    reduce k in K
    acc[i, j] = 0
    acc[i, j] += {total}(A[{a_at}]) * {total}(B[{b_at}])
    C[i, j] = acc[i, j]
    schedule tiles for amx {{
        C.tile(i, j, io, jo, ib, jb, {down}, {across}, tail = {tail})
        C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
        acc.compute_at(C, jo).store_in(amx_tile)
        acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
        acc.update.split(k, ko, ki, 16 * g, tail = {tail})
        acc.update.tile(i, j, it, jt, ii, ji, 16, 16).reorder(ko, it, jt, ii, ji, ki)
        acc.update.unroll(it).unroll(jt).atomic().vectorize(ii).vectorize(ji).vectorize(ki)
        {ahead}
    }}
    """


def named(cases: list[Case]) -> list[str]:
    return [f"{t}-{a}-{b}-{d[0]}x{d[1]}-{k or 'none'}" for t, a, b, d, k in cases]


@pytest.mark.parametrize(("kind", "rows", "columns", "block", "kept"), THIRD, ids=named(THIRD))
def test_whole_blocks(
    kind: str, rows: str, columns: str, block: tuple[int, int], kept: str
) -> None:
    p, kernels = compiled(text(kind, rows, columns, block, kept, "exact"), "amx")
    down, across = block
    group = 2 if kind in ("bf16", "f16") else 4
    for stage in CHECKED:
        assert_selected(kernels[stage])
        assert_agrees(p, kernels[stage], {"M": 16 * down, "N": 32 * across, "K": 32 * group})


LOADED: list[Case] = share(2, list(TYPES), list(ROWS), list(COLUMNS), BLOCKS[:2], KEPT[:1])


@pytest.mark.parametrize(("kind", "rows", "columns", "block", "kept"), LOADED, ids=named(LOADED))
def test_partial_blocks(
    kind: str, rows: str, columns: str, block: tuple[int, int], kept: str
) -> None:
    p, kernels = compiled(text(kind, rows, columns, block, kept, "mask"), "amx")
    for stage, sizes in zip(CHECKED, PARTIAL, strict=True):
        assert_selected(kernels[stage])
        assert_agrees(p, kernels[stage], sizes)


AS_CODE = [case for case in CASES if case[1] == "rows" and case[3] == (2, 2) and not case[-1]]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="needs x86")
@pytest.mark.parametrize(("kind", "rows", "columns", "block", "kept"), AS_CODE, ids=named(AS_CODE))
def test_as_machine_code(
    kind: str, rows: str, columns: str, block: tuple[int, int], kept: str, tmp_path: Path
) -> None:
    """With tiles emulated: `run` compares with the oracle."""
    file = tmp_path / "k.hb"
    file.write_text(text(kind, rows, columns, block, kept, "exact"), encoding="utf-8")
    sizes = {"M": 64, "N": 32, "K": 128 if kind in ("bf16", "f16") else 256}
    words = [f"--set={name}={value}" for name, value in sizes.items()]
    assert exit_code_of(["run", str(file), "--target", "amx", "--emulate", *words]) == 0

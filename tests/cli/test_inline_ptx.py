"""A user's own instruction of a GPU, in inline PTX, from the text of the page alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import describe, read_source
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

Command = Callable[..., Any]

PAGE = Path(__file__).parents[2] / "docs" / "instructions.md"
KERNEL = """
kernel ours
size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule mma for cuda {
    C.tile(i, j, io, jo, ii, ji, 16, 8).gpu_blocks(io, jo).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(mma_accumulator).vectorize(i).vectorize(j)
    acc.update.split(k, ko, kv, 8).reorder(ko, i, j, kv).atomic()
    acc.update.vectorize(i).vectorize(j).vectorize(kv)
}
"""


@pytest.fixture
def mine() -> str:
    """The description that the page has."""
    after = PAGE.read_text(encoding="utf-8").partition("## Inline PTX")[2]
    return after.partition("```isa\n")[2].partition("```")[0]


@pytest.fixture
def options(mine: str, tmp_path: Path) -> list[object]:
    (tmp_path / "mine.hb").write_text(mine, encoding="utf-8")
    (tmp_path / "ours.hb").write_text(KERNEL, encoding="utf-8")
    return [
        "compile", tmp_path / "ours.hb", "--target", "cuda", "--isa", tmp_path / "mine.hb",
        "-o", tmp_path,
    ]  # fmt: skip


def test_quotes_and_braces_are_printed(hbc: Command, options: list[object], tmp_path: Path) -> None:
    assert hbc(*options, "--emit", "cu").code == 0
    text = (tmp_path / "ours.cu").read_text(encoding="utf-8")
    (line, *_) = (line for line in text.splitlines() if "m16n8k8" in line)
    assert '"mma.sync' in line
    assert '{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(' in line
    assert "\\" not in line


@pytest.mark.usefixtures("nvcc")
def test_nvcc_takes_it(hbc: Command, options: list[object], tmp_path: Path) -> None:
    assert hbc(*options, "--emit", "ptx", "--arch", "sm_80").code == 0
    ptx = (tmp_path / "ours.ptx").read_text(encoding="utf-8")
    assert "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f" in ptx


@pytest.mark.usefixtures("nvcc")
def test_what_nvcc_refuses(hbc: Command, options: list[object], mine: str, tmp_path: Path) -> None:
    before, _, after = mine.partition("emit ")
    text = f'{before}emit "frob({{c}}, {{a}}, {{b}});"\n{after.partition(chr(10))[2]}'
    (tmp_path / "mine.hb").write_text(text, encoding="utf-8")
    done = hbc(*options, "--emit", "cubin", "--arch", "sm_80")
    assert done.code == 1
    assert 'identifier "frob" is undefined' in done.err
    assert done.err.rstrip().endswith(
        "hint: mend the template: it is a statement for what has mma; `hbc compile --emit cu` writes "
        "the whole text"
    )


def test_places_after_quotes(mine: str) -> None:
    """An unknown placeholder is shown where it stands, behind escaped quotes."""
    builtin = [Source(path.name, read_source(path).text) for path in builtin_descriptions()]
    with pytest.raises(HbcError) as raised:
        describe([*builtin, Source("mine.hb", mine.replace("{b})[0]", "{d})[0]"))])
    shown = [d for d in raised.value.diagnostics if "`{d}`" in d.message]
    assert [d.span.source.text[d.span.start : d.span.end] for d in shown if d.span] == ["{d}"]

"""Kernels that copy factors before the program's own are named, by `compile` and `explain`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from hbc.cli.commands.compile import command as compile_command
from hbc.cli.commands.explain import command as explain

BYTES = """
size M, N, K
input A: u8[M, K]
input B: u8[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j] = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 16, 16)
    C.gpu_blocks(io, jo).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(wmma_accumulator)
    acc.vectorize(i, 16).vectorize(j, 16)
    acc.update.split(k, ko, ki, 16).reorder(ko, i, j, ki).atomic()
    acc.update.vectorize(i, 16).vectorize(j, 16).vectorize(ki)
    STAGED
}
"""
STAGED = (
    "A.in(acc).compute_at(acc.update, ko).store_in(shared); B.in(acc).compute_at(acc.update, ko)"
)


def launches(text: str) -> list[str]:
    """The functions that the host launches, each once."""
    return list(dict.fromkeys(re.findall(r"(bytes_\w+?)(?:_64)?<<<grid", text)))


@pytest.mark.parametrize(("staged", "before"), [("", 4), (STAGED, 0)])
def test_the_note_agrees_with_the_text(staged: str, before: int, tmp_path: Path) -> None:
    kernel = tmp_path / "bytes.hb"
    kernel.write_text(BYTES.replace("STAGED", staged), encoding="utf-8")
    run = [str(kernel), "--target", "cuda", "-o", str(tmp_path)]
    made = CliRunner().invoke(compile_command, run)
    assert made.exit_code == 0
    names = launches((tmp_path / "bytes.cu").read_text(encoding="utf-8"))
    assert len(names) == before + 1
    explained = CliRunner().invoke(explain, [str(kernel), "--target", "cuda"])
    for said in (made.stderr, explained.stderr):
        assert (f"{before} kernels run before" in said) == (before > 0)
        for name in names[:-1]:
            assert f"`{name.removeprefix('bytes_')}` (256 * " in said
    shown = CliRunner().invoke(compile_command, [*run, "--json"])
    notes = [w for w in json.loads(shown.stdout)["warnings"] if w["severity"] == "note"]
    assert len(notes) == (before > 0)


def test_sizes_that_are_fixed_are_numbers(tmp_path: Path) -> None:
    kernel = tmp_path / "bytes.hb"
    kernel.write_text(BYTES.replace("STAGED", ""), encoding="utf-8")
    fixed = [x for name in "MNK" for x in ("--set", f"{name}=64")]
    run = [str(kernel), "--target", "cuda", "-o", str(tmp_path), *fixed]
    assert "`A_packed` (4,096 bytes)" in CliRunner().invoke(compile_command, run).stderr

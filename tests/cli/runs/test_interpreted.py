"""Which passes `verify` interprets: all, but those that take too long only to find who is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hbc.cli.compiled import Chosen
from hbc.cli.prepare import choose, compile_chosen
from hbc.cli.runs import stages
from hbc.cli.runs.interpreted import statements_run
from hbc.cli.runs.stages import Stage, verify_passes
from hbc.cli.show.report import Progress, progress
from hbc.frontend.program.funcs import Example
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Block
from hbc.ir.lang.read import read_stmt

PROGRAM = """size M, N
input A: f32[M, N]
output C: f32[M, N]
C[i, j] = A[i, j] + 1
schedule s for cuda { C.tile(i, j, io, jo, ii, ji, 4, 8).gpu_blocks(io, jo).gpu_threads(ii, ji) }
"""


def _passes(folder: Path) -> tuple[Chosen, list[tuple[str, Kernel]]]:
    path = folder / "plus.hb"
    path.write_text(PROGRAM, encoding="utf-8")
    chosen = choose(path, {}, "cuda", "s")
    found: list[tuple[str, Kernel]] = []
    compile_chosen(chosen, lambda name, kernel: found.append((name, kernel)))
    return chosen, found


def _verified(chosen: Chosen, kernels: list[tuple[str, Kernel]], shown: Progress) -> list[Stage]:
    return verify_passes(chosen, {}, Example("", (), ()), kernels, 2, shown)


def test_statements() -> None:
    body = read_stmt(
        """for i from 0 count N / 2 {
            if i < M { { a[i] = 1  a[i] = 2 } } else { a[i] = 3 }
            for j from i count b.i64[i] { a[j] = 1 }
        }""".replace("{\n", "{ {\n", 1)
        + "}"
    )
    kernel = Kernel("k", (), (), (), (), body)
    assert statements_run(kernel, {"N": 10, "M": 5}) == 5 * 3
    assert statements_run(kernel, {"N": 10, "M": 0}) == 5 * 2
    assert statements_run(kernel, {"N": 10}) == 5 * 3
    assert statements_run(kernel, {"N": 0}) == 0


def test_long_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, kernels = _passes(tmp_path)
    with progress() as shown:
        assert all(s.trials == 2 and s.ok for s in _verified(chosen, kernels, shown))
        monkeypatch.setattr(stages, "LONG_RUN", 0)
        found = _verified(chosen, kernels, shown)
        assert [s.trials for s in found] == [0] * (len(found) - 1) + [2]
        name, last = kernels[-1]
        wrong = [*kernels[:-1], (name, replace(last, body=Block(())))]
        found = _verified(chosen, wrong, shown)
    assert found[-1].mistakes
    assert all(s.ok and s.trials for s in found[:-1])

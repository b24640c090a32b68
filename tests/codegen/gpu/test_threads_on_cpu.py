"""The CUDA code of every schedule gives what the oracle gives, in whatever order its threads run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from agreement import prepare
from gpu_kernels import CUDA, SIZES, lowered, pipeline_of, schedules
from library_runs import run_all

from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE, build
from hbc.codegen.cuda.file import emit_cuda

ORDERS = ("forward", "backward", "1")


@pytest.mark.parametrize(("name", "schedule"), schedules())
def test_any_order(
    name: str, schedule: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, kernel = pipeline_of(name), lowered(name, schedule)
    source = emit_cuda(kernel, CUDA)
    (tmp_path / f"{source.name}.h").write_text(source.header, encoding="utf-8")
    out = tmp_path / f"{source.name}.so"
    build(source.text, out, "so", name=source.name, extra=(f"-I{tmp_path}", "-Werror"))
    case = SimpleNamespace(sizes=SIZES[name], seed=1)
    runs = [r for n in range(len(case.sizes)) if (r := prepare(p, kernel, case, n))]
    for order in ORDERS:
        monkeypatch.setenv(ORDER_VARIABLE, order)
        run_all(out, p, runs)

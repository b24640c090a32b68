"""The CUDA code of every schedule gives what the oracle gives, in whatever order its threads run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from agreement import compare_all, prepare
from gpu_kernels import CUDA, SIZES, lowered, pipeline_of, schedules

from hbc.cli.runs.native import Native, output_shapes
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
        with Native(out, threads=1, timeout=60.0) as loaded:
            for run in runs:
                called = loaded.call(
                    p.name,
                    [run.sizes[s.name] for s in p.sizes],
                    {image.name: run.inputs[image.name] for image in p.inputs},
                    output_shapes(p, run.sizes),
                )
                compare_all(called.outputs, run)

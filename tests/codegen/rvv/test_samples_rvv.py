"""Samples in RVV code, with schedules for AVX2 whose vectors are cut up, at odd sizes against the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_table import cases, load

from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.lang.target import TARGETS

LIMIT = 60.0  # seconds a call may take
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1")


@pytest.mark.parametrize(
    ("name", "target"),
    [("gemm_f32", "rvv"), ("downsample_bf16", "rvv"), ("resize", "rvv"), ("attention", "rvv"),
     ("recursive", "rvv"), ("gemm_f32", "rvv256")],
)  # fmt: skip
def test_sample(riscv: None, name: str, target: str, tmp_path: Path) -> None:
    p, machine = load(name), TARGETS[target]
    source = emit_c(lower_to_kernel(p, choose_schedule(p, "avx2", None), machine), machine)
    with Native(build_callable(source, machine, tmp_path, extra=STRICT), 2, LIMIT) as native:
        for case in cases(name):
            shapes = {o.name: (extents(o, case.sizes), o.element) for o in p.outputs}
            sizes = [case.sizes[size.name] for size in p.sizes]
            called = native.call(source.name, sizes, case.inputs, shapes, guarded=True)
            found = check_outputs(called.outputs, case.references)
            assert found.ok, (dict(case.sizes), found.mistakes)

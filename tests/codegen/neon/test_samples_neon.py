"""Samples in NEON code, with their schedules for it or else for AVX2, at odd sizes against the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_table import SAMPLES, cases, load

from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.instruction_error import with_instructions
from hbc.cli.runs.native import Native
from hbc.cli.runs.work import count_work
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.lang.target import Target

LIMIT = 60.0  # seconds a call may take
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1")


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(arm: Target, name: str, tmp_path: Path) -> None:
    p = load(name)
    own = next((s for s in p.schedules if arm.name in s.targets), None)
    kernel = lower_to_kernel(p, own or choose_schedule(p, "avx2", None), arm)
    source = emit_c(kernel, arm)
    program = build_callable(source, arm, tmp_path, extra=STRICT)
    with Native(program, 2, LIMIT) as native:
        for case in cases(name):
            shapes = {o.name: (extents(o, case.sizes), o.element) for o in p.outputs}
            sizes = [case.sizes[size.name] for size in p.sizes]
            called = native.call(source.name, sizes, case.inputs, shapes, guarded=True)
            operations = count_work(p, case.sizes).total
            expected = with_instructions(case.references, kernel.instructions, operations)
            found = check_outputs(called.outputs, expected)
            assert found.ok, (dict(case.sizes), found.mistakes)

"""Pins every message about schedules for a GPU: `.hb` files in `refused`, each with its `.stderr`."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu_kernels import CUDA
from suite_goldens import Golden, cases

from hbc.cli.pipeline import lower_to_kernel
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.limits import check_shared
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

FILES = cases(Path(__file__).parent / "refused")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_message(file: Path, golden: Golden) -> None:
    pipeline = check(parse(Source(file.name, file.read_text(encoding="utf-8"))), {})

    def emit() -> None:
        kernel = lower_to_kernel(pipeline, pipeline.schedules[0], CUDA)
        check_shared(emit_cuda(kernel, CUDA).shared, ("sm_80", "sm_86"))

    found = golden.refuses(file, emit)
    assert all(d.span is not None and d.hint for d in found)

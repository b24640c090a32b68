"""Pins every message about schedules for a GPU: `.hb` files in `refused`, each with its `.stderr`. What
the message says is done in its `.fixed.hb`, which becomes CUDA."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from gpu_kernels import CUDA
from suite_goldens import Golden, assert_fixed_or_listed, cases, fixed

from hbc.cli.pipeline import lower_to_kernel
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.limits import check_shared
from hbc.frontend.checks.check import check
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

FOLDER = Path(__file__).parent / "refused"
FILES = cases(FOLDER)
ARCHITECTURES = ("sm_80", "sm_86")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_message(file: Path, golden: Golden) -> None:
    pipeline = check(parse(Source(file.name, file.read_text(encoding="utf-8"))), {})
    found = golden.refuses(file, lambda: emit(pipeline, ARCHITECTURES))
    assert all(d.span is not None and d.hint for d in found)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_the_hint_is_true(file: Path) -> None:
    repaired = fixed(file)
    text = repaired.read_text(encoding="utf-8")
    groups = "wgmma" in text  # instructions of sm_90a
    emit(check(parse(Source(repaired.name, text)), {}), ("sm_90",) if groups else ARCHITECTURES)


def test_every_case_has_a_fixed_version() -> None:
    assert_fixed_or_listed(FOLDER, {})


def emit(pipeline: Pipeline, architectures: Sequence[str]) -> None:
    """HbcError where the only schedule cannot be compiled for them."""
    kernel = lower_to_kernel(pipeline, pipeline.schedules[0], CUDA)
    check_shared(emit_cuda(kernel, CUDA).shared, architectures)

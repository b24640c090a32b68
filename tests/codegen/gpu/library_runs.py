"""Libraries of kernels that are called at several sizes, their outputs compared with the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agreement import Disagreement, Run, compare_all

from hbc.cli.runs.native import Native, output_shapes
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import InternalError


def run_all(out: Path, p: Pipeline, runs: Iterable[Run]) -> None:
    """Raises Disagreement for an output that differs, InternalError where the library ends or reports."""
    with Native(out, threads=1, timeout=60.0) as loaded:
        for run in runs:
            called = loaded.call(
                p.name,
                [run.sizes[s.name] for s in p.sizes],
                {image.name: run.inputs[image.name] for image in p.inputs},
                output_shapes(p, run.sizes),
            )
            compare_all(called.outputs, run)


def all_right(out: Path, p: Pipeline, runs: Iterable[Run]) -> bool:
    """Whether nothing is reported and all results are right."""
    try:
        run_all(out, p, runs)
    except (InternalError, Disagreement):
        return False
    return True

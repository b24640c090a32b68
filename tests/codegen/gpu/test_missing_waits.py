"""The CPU finds what is missing in pipelined CUDA code: every wait, every barrier, every group taken away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from agreement import Run, prepare
from gpu_kernels import CUDA, lowered, pipeline_of
from library_runs import all_right

from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE, build
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.source import CudaSource
from hbc.frontend.program.funcs import Pipeline

SIZES = ({"M": 9, "N": 33, "K": 23}, {"M": 9, "N": 36, "K": 28})
NEEDED = re.compile(r"__syncthreads\(\);|__pipeline_commit\(\);|__pipeline_wait_prior\([01]\);")


def without_one(text: str) -> Iterator[tuple[str, str]]:
    """The text without each of these in the loop over k, and what is missing."""
    for loop in re.finditer(r"\n( *)for \([^\n]* ko = 0;.*?\n\1\}", text, re.DOTALL):
        for m in NEEDED.finditer(text, loop.start(), loop.end()):
            yield text[: m.start()] + text[m.end() :], m[0]


def is_right(source: CudaSource, text: str, p: Pipeline, runs: list[Run], folder: Path) -> bool:
    """Whether nothing is reported and all results are right."""
    out = folder / f"{source.name}.so"
    build(text, out, "so", name=source.name, extra=(f"-I{folder}",))
    return all_right(out, p, runs)


@pytest.mark.parametrize("schedule", ["two", "three"])
def test_is_found(schedule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p, kernel = pipeline_of("pipelined"), lowered("pipelined", schedule)
    source = emit_cuda(kernel, CUDA)
    (tmp_path / f"{source.name}.h").write_text(source.header, encoding="utf-8")
    case = SimpleNamespace(sizes=SIZES, seed=1)
    runs = [r for n in range(len(SIZES)) if (r := prepare(p, kernel, case, n))]
    assert is_right(source, source.text, p, runs, tmp_path)
    missing = list(without_one(source.text))
    assert len(missing) >= 3
    for text, what in missing:
        for order in ("forward", "backward"):
            monkeypatch.setenv(ORDER_VARIABLE, order)
            if not is_right(source, text, p, runs, tmp_path):
                break
        else:
            raise AssertionError(f"nobody misses {what}")

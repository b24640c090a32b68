"""Kernels of products by groups of four warps, compiled for the CPU and compared with the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from agreement import prepare
from library_runs import all_right

from hbc.cli.pipeline import lower_to_kernel
from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE, build
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.source import CudaSource
from hbc.frontend.checks.check import check
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS

CUDA = TARGETS["cuda"]


@cache  # several tests of a file ask for one
def compiled(text: str) -> tuple[Pipeline, Kernel, CudaSource]:
    p = check(parse(Source("k.hb", text)), {})
    kernel = lower_to_kernel(p, p.schedules[0], CUDA)
    return p, kernel, emit_cuda(kernel, CUDA)


def is_right(
    p: Pipeline, kernel: Kernel, source: CudaSource, sizes: list[dict[str, int]], folder: Path
) -> bool:
    """Whether nothing is reported and all results are right."""
    (folder / f"{source.name}.h").write_text(source.header, encoding="utf-8")
    out = folder / f"{source.name}.so"
    build(source.text, out, "so", name=source.name, extra=(f"-I{folder}",))
    case = SimpleNamespace(sizes=sizes, seed=1)
    runs = [r for n in range(len(sizes)) if (r := prepare(p, kernel, case, n))]
    return all_right(out, p, runs)


def each_is_missed(
    p: Pipeline, kernel: Kernel, source: CudaSource, wrong: Iterable[tuple[str, str]],
    sizes: list[dict[str, int]], folder: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each wrong text, with what is wrong in it, is seen in one order of threads at least."""
    for text, what in wrong:
        for order in ("forward", "backward"):
            monkeypatch.setenv(ORDER_VARIABLE, order)
            if not is_right(p, kernel, replace(source, text=text), sizes, folder):
                break
        else:
            raise AssertionError(f"nobody misses {what}")

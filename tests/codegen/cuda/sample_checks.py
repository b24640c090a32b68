"""Samples for GPUs, compiled for the processor and compared with the oracle at sizes of gpu_cases.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from cuda_library import CudaLibrary, architectures, poisoned

from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.cli.runs.trials import accepted
from hbc.codegen.build.nvcc import Resources, build_cuda
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.limits import own_arch
from hbc.codegen.cuda.source import CudaSource
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.meaning.numpy_types import numpy_dtype

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
CASES = tomllib.loads((SAMPLES / "bench" / "gpu_cases.toml").read_text(encoding="utf-8"))
TARGET = TARGETS["cuda"]


def kernel_of(name: str, schedule: str, settings: Mapping[str, str] | None = None) -> Kernel:
    return _kernel_of(name, schedule, tuple((settings or {}).items()))


@cache
def _kernel_of(name: str, schedule: str, settings: tuple[tuple[str, str], ...]) -> Kernel:
    p = load_pipeline(SAMPLES / "cuda" / f"{name}.hb", dict(settings))
    return lower_to_kernel(p, choose_schedule(p, "cuda", schedule), TARGET)


def cuda_of(name: str, schedule: str, settings: Mapping[str, str] | None = None) -> CudaSource:
    return _cuda_of(name, schedule, tuple((settings or {}).items()))


@cache  # a test asks what it does, another one for its registers
def _cuda_of(name: str, schedule: str, settings: tuple[tuple[str, str], ...]) -> CudaSource:
    return emit_cuda(_kernel_of(name, schedule, settings), TARGET)


def count_agreeing(
    name: str, schedule: str, folder: Path, settings: Mapping[str, str] | None = None,
    tried: Sequence[Mapping[str, int]] | None = None,
) -> int:  # fmt: skip
    """How many of the sizes to check, or of those that are `tried`, the schedule takes; the results are right
    at each of them."""
    p = load_pipeline(SAMPLES / "cuda" / f"{name}.hb", settings or {})
    kernel = kernel_of(name, schedule, settings)
    # gcc does not see that what one loop over threads leaves out, under a condition, no other one reads.
    source = cuda_of(name, schedule, settings)
    library = CudaLibrary(source, folder, "-Wno-maybe-uninitialized")
    cases = [c for c in tried or CASES[name]["check"] if accepted(p, kernel.checks, c)]
    random = np.random.default_rng(7)
    for sizes in cases:
        arrays = {
            a.name: random.uniform(-1, 1, extents(a, sizes)).astype(numpy_dtype(a.element))
            for a in p.inputs
        }
        out = poisoned(extents(p.outputs[0], sizes))
        assert library.call("", *(sizes[s.name] for s in p.sizes), *arrays.values(), out) == 0
        reference = evaluate(p, sizes, arrays)[p.outputs[0].name]
        assert compare(out, reference).mismatches == 0, sizes
    return len(cases)


def resources(
    name: str, schedule: str, folder: Path, settings: Mapping[str, str] | None = None
) -> list[Resources]:
    """What the kernels use, as nvcc says."""
    source = cuda_of(name, schedule, settings)
    own = own_arch(source.instructions)
    archs = architectures(name, schedule, *(settings or {}).values()) if own is None else (own,)
    used = build_cuda(source, folder / "k.fatbin", "fatbin", archs)
    assert used
    return used


def spills(
    name: str, schedule: str, folder: Path, settings: Mapping[str, str] | None = None
) -> int:
    """Bytes that the kernels keep in memory for want of registers."""
    return sum(r.spills for r in resources(name, schedule, folder, settings))

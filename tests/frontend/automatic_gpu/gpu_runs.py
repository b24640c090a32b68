"""Automatic schedules for GPUs, run on the processor thread by thread and compared with the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from cuda_library import CudaLibrary

from hbc.cli.automatic import Automatic, automatic
from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import load_pipeline
from hbc.cli.runs.instruction_error import fused_sums, with_instructions
from hbc.cli.runs.work import count_work
from hbc.codegen.cuda.file import emit_cuda
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.lang.target import TARGETS
from hbc.ir.meaning.numpy_types import numpy_dtype

KERNELS = Path(__file__).parent / "kernels"
SAMPLES = Path(__file__).parents[3] / "samples"
CUDA = TARGETS["cuda"]
USUAL, GROUPS = "sm_80,sm_90", "sm_90"  # without groups of warps, and with them


def made(name: str, archs: str = USUAL, **sizes: int) -> Automatic:
    """The schedule for a kernel of the folder at such typical sizes."""
    return of_file(KERNELS / f"{name}.hb", archs, **sizes)


def of_file(kernel: Path, archs: str = USUAL, **sizes: int) -> Automatic:
    """The same for any file; once for each, as several tests look at it."""
    return _made(kernel, archs, tuple(sizes.items()))


@cache
def _made(kernel: Path, archs: str, sizes: tuple[tuple[str, int], ...]) -> Automatic:
    p = load_pipeline(kernel, {})
    found = automatic(p, CUDA, {n: str(v) for n, v in sizes}, False, archs)
    assert found is not None
    return found


def drawn(
    p: Pipeline, sizes: Mapping[str, int], random: np.random.Generator
) -> dict[str, np.ndarray]:
    """Inputs: integers of their whole range, floats of several magnitudes."""
    arrays = {}
    for a in p.inputs:
        dtype, shape = np.dtype(numpy_dtype(a.element)), extents(a, sizes)
        if a.element.is_int:
            limits = np.iinfo(dtype)
            arrays[a.name] = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        else:
            scale = np.exp2(random.integers(-4, 3, shape))
            arrays[a.name] = (random.standard_normal(shape) * scale).astype(dtype)
    return arrays


def mistakes(
    name: str, folder: Path, *tried: Mapping[str, int], archs: str = USUAL, **typical: int
) -> int:
    """Elements that are wrong, at all of these sizes; outputs are poisoned before each call."""
    p = load_pipeline(KERNELS / f"{name}.hb", {})
    kernel = made(name, archs, **typical).kernel
    used = kernel.instructions
    library = CudaLibrary(emit_cuda(kernel, CUDA), folder, "-Wno-maybe-uninitialized")
    random = np.random.default_rng(17)
    wrong = 0
    for sizes in tried:
        arrays = drawn(p, sizes, random)
        outputs = {o.name: np.empty(extents(o, sizes), numpy_dtype(o.element)) for o in p.outputs}
        for out in outputs.values():
            out.view(np.uint8)[...] = 0xA5
        numbers = (sizes[s.name] for s in p.sizes)
        assert library.call("", *numbers, *arrays.values(), *outputs.values()) == 0
        plain = evaluate(p, dict(sizes), dict(arrays), fused_sums(used))
        operations = count_work(p, dict(sizes)).total
        expected = with_instructions(plain, used, operations) if used else plain
        wrong += sum(compare(outputs[o], expected[o]).mismatches for o in outputs)
    return wrong

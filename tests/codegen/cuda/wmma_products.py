"""Products of matrices on tensor cores by WMMA: types, shapes, layouts, where operands come from, warps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from cuda_library import CudaLibrary

from hbc.cli.pipeline import lower_to_kernel
from hbc.cli.runs.instruction_error import expected_outputs
from hbc.codegen.cuda.file import emit_cuda
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.meaning.interp import prepare
from hbc.ir.meaning.numpy_types import numpy_dtype, poison

Sizes = dict[str, int]
Arrays = dict[str, np.ndarray]
Call = Callable[[Sizes, Arrays, np.ndarray], None]
"""Runs a product: sizes, operands, and C to write to."""

TYPES = {"f16": "f32", "bf16": "f32", "u8": "i32", "i8": "i32", "f16 sums": "f16"}
"""What is multiplied, and the type of the sums."""
SHAPES = ((16, 16), (32, 8), (8, 32))
LAYOUTS = (("i, k", "k, j"), ("i, k", "j, k"), ("k, i", "k, j"), ("k, i", "j, k"))
STAGING = ("global", "block", "warp")
"""Where fragments are loaded from: the device's memory, shared memory that the block fills, or that each
warp fills for itself."""
WARPS = {1: (1, 1), 2: (2, 1), 4: (2, 2)}
"""How many warps stand below and beside each other in a block."""
DEPTH = 16  # of an instruction


def text(
    kind: str, shape: tuple[int, int], layout: tuple[str, str], staging: str = "global", warps: int = 1
) -> str:  # fmt: skip
    """C = A * B, a fragment of sums a warp."""
    element, total = kind.split(" ")[0], TYPES[kind]
    a, b = layout
    factors = f"A[{a}]", f"B[{b}]"
    if element != total:
        factors = f"{total}({factors[0]})", f"{total}({factors[1]})"
    rows, columns = shape
    height, width = block_of(shape, warps)
    steps = [
        f"C.tile(i, j, io, jo, ii, ji, {height}, {width}).tile(ii, ji, iw, jw, iv, jv, {rows}, {columns})",
        "C.gpu_blocks(io, jo).gpu_threads(iw, jw).vectorize(iv).vectorize(jv)",
        *(_sums_of_blocks(shape) if staging == "block" else _sums_of_warps(shape)),
    ]
    if staging != "global":
        steps += [f"{x}.in(acc).compute_at(acc.update, ko).store_in(shared)" for x in "AB"]
    lines = "\n        ".join(steps)
    return f"""
    size M, N, K
    input A: {element}[{a.upper().replace("I", "M")}]
    input B: {element}[{b.upper().replace("J", "N")}]
    output C: {total}[M, N]
    reduce k in K
    acc[i, j] = 0
    acc[i, j] += {" * ".join(factors)}
    C[i, j] = acc[i, j]
    schedule s for cuda {{
        {lines}
    }}
    """


def block_of(shape: tuple[int, int], warps: int) -> tuple[int, int]:
    """Rows and columns of C that a block makes."""
    down, across = WARPS[warps]
    return shape[0] * down, shape[1] * across


def _sums_of_warps(shape: tuple[int, int]) -> list[str]:
    """Each warp goes through k alone."""
    rows, columns = shape
    return [
        "acc.compute_at(C, jw).store_in(wmma_accumulator)",
        f"acc.vectorize(i, {rows}).vectorize(j, {columns})",
        f"acc.update.split(k, ko, ki, {DEPTH}).reorder(ko, i, j, ki).atomic()",
        f"acc.update.vectorize(i, {rows}).vectorize(j, {columns}).vectorize(ki)",
    ]


def _sums_of_blocks(shape: tuple[int, int]) -> list[str]:
    """All warps go through k together."""
    tiles = f"tile(i, j, iw, jw, iv, jv, {shape[0]}, {shape[1]})"
    return [
        "acc.compute_at(C, jo).store_in(wmma_accumulator)",
        f"acc.{tiles}.gpu_threads(iw, jw).vectorize(iv).vectorize(jv)",
        f"acc.update.split(k, ko, kv, {DEPTH}).{tiles}.reorder(ko, iw, jw, iv, jv, kv)",
        "acc.update.gpu_threads(iw, jw).atomic().vectorize(iv).vectorize(jv).vectorize(kv)",
    ]


def checked(source: str) -> Pipeline:
    return check(parse(Source("k.hb", source)), {})


def lowered(p: Pipeline) -> Kernel:
    return lower_to_kernel(p, p.schedules[0], TARGETS["cuda"])


def inputs(p: Pipeline, sizes: Sizes) -> Arrays:
    """Random operands; integers of the full range."""
    rng = np.random.default_rng(3)
    found = {}
    for image in p.inputs:
        shape = [sizes[getattr(e, "name", "")] for e in image.extents]
        t = image.element
        values = (
            rng.uniform(-30, 30, shape)
            if t.is_float
            else rng.integers(*t.limits, shape, endpoint=True)
        )
        found[image.name] = values.astype(numpy_dtype(t))
    return found


def interpreted(kernel: Kernel) -> Call:
    run = prepare(kernel)
    return lambda sizes, given, out: run(sizes, {**given, "C": out})


def on_cpu(kernel: Kernel, folder: Path) -> Call:
    """Its CUDA, compiled for the processor and run there."""
    library = CudaLibrary(emit_cuda(kernel, TARGETS["cuda"]), folder)

    def call(sizes: Sizes, given: Arrays, out: np.ndarray) -> None:
        assert library.call("", *sizes.values(), *given.values(), out) == 0

    return call


def agrees(p: Pipeline, kernel: Kernel, sizes: Sizes, call: Call) -> bool:
    """Whether a call leaves in C, poisoned before, what the oracle says."""
    given = inputs(p, sizes)
    count = sizes["M"] * sizes["N"]
    out = np.array(poison(p.outputs[0].element, count)).reshape(sizes["M"], sizes["N"])
    expected = expected_outputs(p, sizes, given, kernel.instructions)["C"]
    with np.errstate(all="ignore"):
        call(sizes, given, out)
    return compare(out, expected).ok

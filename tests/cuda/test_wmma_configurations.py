"""Every shape of tensor cores by type and layout: fragments lie as the hardware asks, sums are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hbc.cli.pipeline import lower_to_kernel
from hbc.cli.runs.instruction_error import expected_outputs
from hbc.eqsat.operands.fragment_checks import BEGIN, ROW
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.algebra.layout import layout
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.source import Source
from hbc.ir.lang.build import const_value
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Allocate, Load, Store
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES, Memory
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import prepare
from hbc.ir.meaning.numpy_types import numpy_dtype, poison

from .cuda_library import CudaLibrary, cuda_of

TYPES = {"f16": "f32", "bf16": "f32", "u8": "i32", "i8": "i32", "f16 sums": "f16"}
SHAPES = ((16, 16), (32, 8), (8, 32))
SIZES = ({"M": 37, "N": 41, "K": 35}, {"M": 3, "N": 17, "K": 2}, {"M": 64, "N": 64, "K": 32})


def text(kind: str, shape: tuple[int, int], a: str, b: str) -> str:
    element, total = kind.split(" ")[0], TYPES[kind]
    rows, columns = shape
    factors = f"A[{a}]", f"B[{b}]"
    if element != total:
        factors = f"{total}({factors[0]})", f"{total}({factors[1]})"
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
        C.tile(i, j, io, jo, ii, ji, {rows}, {columns})
        C.gpu_blocks(io, jo).vectorize(ii).vectorize(ji)
        acc.compute_at(C, jo).store_in(wmma_accumulator)
        acc.vectorize(i, {rows}).vectorize(j, {columns})
        acc.update.split(k, ko, ki, 16).reorder(ko, i, j, ki).atomic()
        acc.update.vectorize(i, {rows}).vectorize(j, {columns}).vectorize(ki)
    }}
    """


def lowered(p: Pipeline) -> Kernel:
    return lower_to_kernel(p, p.schedules[0], TARGETS["cuda"])


def inputs(p: Pipeline, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    found = {}
    for image in p.inputs:
        shape = [sizes[getattr(e, "name", "")] for e in image.extents]
        t = image.element
        values = rng.uniform(-30, 30, shape) if t.is_float else rng.integers(*t.limits, shape)
        found[image.name] = values.astype(numpy_dtype(t))
    return found


def aligned(kernel: Kernel) -> int:
    """Checks all fragments that are loaded from temporaries; how many there are."""
    made = {n.buffer: n for n in nodes(kernel.body) if isinstance(n, Allocate)}
    tiles = {n for n, a in made.items() if a.memory is Memory.WMMA}
    count = 0
    for s in nodes(kernel.body):
        if not isinstance(s, Store) or s.buffer not in tiles or not isinstance(s.value, Load):
            continue
        if s.value.buffer in tiles or s.value.buffer not in made:
            continue
        at, size = layout(s.value.index), s.value.type.element.bytes
        assert at is not None
        form = linear(at.base)
        assert all(n * size % BEGIN == 0 for n in (form.constant, *(c for _, c in form.terms)))
        if at.dims[-1][0] < s.value.type.lanes:  # else rows follow each other: see the table below
            assert all(
                int(const_value(stride) or 0) * size % ROW == 0 for _, stride in at.dims[:-1]
            )
        count += 1
    return count


@pytest.mark.parametrize("b", ["k, j", "j, k"])
@pytest.mark.parametrize("a", ["i, k", "k, i"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s[0]}x{s[1]}x16")
@pytest.mark.parametrize("kind", TYPES)
def test_sums_and_fragments(kind: str, shape: tuple[int, int], a: str, b: str) -> None:
    p = check(parse(Source("k.hb", text(kind, shape, a, b))), {})
    kernel = lowered(p)
    assert kernel.instructions and aligned(kernel)
    columns = {i.name: tuple(o.extents[-1] for o in i.operands) for i in kernel.instructions}
    for i in kernel.instructions:
        for n in i.factors:
            packed = f"{'AB'[n - 1]}_packed"
            if any(packed in getattr(s, "buffer", "") for s in nodes(kernel.body)):
                extent = const_value(columns[i.name][n])
                assert int(extent or 0) * i.operands[n].element.bytes % ROW == 0
    run = prepare(kernel)
    for sizes in SIZES:
        given = inputs(p, sizes)
        out = poison(p.outputs[0].element, sizes["M"] * sizes["N"]).reshape(sizes["M"], sizes["N"])
        expected = expected_outputs(p, sizes, given, kernel.instructions)["C"]
        with np.errstate(all="ignore"):
            run(sizes, {**given, "C": out})
        assert compare(out, expected).ok


@pytest.mark.parametrize(("shape", "a"), [((32, 8), "i, k"), ((8, 32), "k, i")])
def test_bytes_as_they_run(shape: tuple[int, int], a: str, tmp_path: Path) -> None:
    """Where rows of a factor have 8 bytes, the other order is packed: the shim ends a program that loads
    rows which are no multiples of 16 bytes apart."""
    source = text("u8", shape, a, "k, j")
    p = check(parse(Source("k.hb", source)), {})
    sizes = SIZES[0]
    given = inputs(p, sizes)
    out = poison(DTYPES["i32"], sizes["M"] * sizes["N"]).reshape(sizes["M"], sizes["N"])
    library = CudaLibrary(cuda_of(source), tmp_path)
    assert library.call("", *sizes.values(), *given.values(), out) == 0
    assert compare(out, expected_outputs(p, sizes, given, lowered(p).instructions)["C"]).ok

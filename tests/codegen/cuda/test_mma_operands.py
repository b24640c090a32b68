"""Operands of `mma.sync` in shared memory come by `ldmatrix`, in whichever order they lie there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, cuda_of

from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.meaning.numpy_types import numpy_dtype

KERNEL = """
size M, N, K
input A: T[SHAPE_A]
input B: U[SHAPE_B]
output C: SUM[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += SUM(A[AT_A]) * SUM(B[AT_B])
C[i, j] = acc[i, j]
schedule s for cuda {
  C.tile(i, j, io, jo, ii, ji, 32, 16).split(ii, iw, iv, 16).gpu_blocks(io, jo)
  C.gpu_threads(iw).vectorize(iv).vectorize(ji)
  acc.compute_at(C, jo).store_in(mma_accumulator).split(i, iw, iv, 16).gpu_threads(iw)
  acc.vectorize(iv).vectorize(j)
  acc.update.split(k, ko, ki, DEPTH).split(i, iw, iv, 16).reorder(ko, iw, iv, j, ki)
  acc.update.gpu_threads(iw).atomic().vectorize(iv).vectorize(j).vectorize(ki)
  A.in(acc).compute_at(acc.update, ko).store_in(shared)
  B.in(acc).compute_at(acc.update, ko).store_in(shared)
}
"""
SIZES = {"M": 40, "N": 23, "K": 41}


@pytest.mark.parametrize(
    ("types", "by_rows", "loads"),
    [
        (("f16", "f16", "f32"), (True, True), ("ldmatrix_x4", "ldmatrix_trans_x4")),
        (("bf16", "bf16", "f32"), (True, False), ("ldmatrix_x4",)),
        (("f16", "f16", "f32"), (False, True), ("ldmatrix_trans_x4",)),
        (("f16", "f16", "f32"), (False, False), ("ldmatrix_trans_x4", "ldmatrix_x4")),
        (("u8", "i8", "i32"), (True, False), ("ldmatrix_x4",)),
        (("i8", "u8", "i32"), (True, True), ("ldmatrix_x4",)),  # bytes of B one by one
    ],
)
def test_orders(
    types: tuple[str, str, str], by_rows: tuple[bool, bool], loads: tuple[str, ...], tmp_path: Path
) -> None:
    """Of sizes that divide nothing: shared memory holds zeros beyond the edges."""
    words = {
        "SHAPE_A": "M, K" if by_rows[0] else "K, M", "SHAPE_B": "K, N" if by_rows[1] else "N, K",
        "AT_A": "i, k" if by_rows[0] else "k, i", "AT_B": "k, j" if by_rows[1] else "j, k",
        "SUM": types[2], "A: T": f"A: {types[0]}", "B: U": f"B: {types[1]}",
        "DEPTH": "16" if types[2] == "f32" else "32",
    }  # fmt: skip
    text = KERNEL
    for word, value in words.items():
        text = text.replace(word, value)
    source = cuda_of(text)
    for load in ("ldmatrix_x4", "ldmatrix_trans_x4"):
        assert (f"ptx_{load}(ptx_words(" in source.text) == (load in loads)
    p = check(parse(Source("k.hb", text)), {})
    random = np.random.default_rng(3)
    values = {}
    for a in p.inputs:
        rows = by_rows["AB".index(a.name)]
        shape = {"A": (40, 41), "B": (41, 23)}[a.name]
        dtype = np.dtype(numpy_dtype(a.element))
        if a.element.is_int:
            limits = np.iinfo(dtype)
            drawn = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        else:
            drawn = random.uniform(-1, 1, shape).astype(dtype)
        values[a.name] = drawn if rows else np.ascontiguousarray(drawn.T)
    reference = evaluate(p, SIZES, dict(values))["C"]
    c = np.full((40, 23), 77, np.float32 if types[2] == "f32" else np.int32)
    assert CudaLibrary(source, tmp_path).call("", *SIZES.values(), *values.values(), c) == 0
    assert compare(c, reference).mismatches == 0

"""Rows of fragments are reduced by the lanes that have them: no element goes through shared memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, cuda_of

from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

KERNEL = """
size M, K
input A: IN[M, K]
input B: IN[K, 48]
output R: OUT[M]
reduce k in K, u in 48
acc[i, j] = 0
acc[i, j] += OUT(A[i, k]) * OUT(B[k, j])
row[i] = FIRST
row[i] OP= VALUE
R[i] = row[i]
schedule s for cuda {
  R.split(i, io, ii, 32, tail = TAIL).split(ii, iw, il, 16).gpu_blocks(io).gpu_threads(iw).gpu_lanes(il)
  acc.compute_at(R, io).store_in(mma_accumulator)
  acc.split(i, iw, iv, 16).split(j, jt, jv, N).reorder(iw, jt, iv, jv).gpu_threads(iw).unroll(jt)
  acc.vectorize(iv).vectorize(jv)
  acc.update.split(k, ko, kv, DEPTH).split(i, iw, iv, 16).split(j, jt, jv, N).reorder(ko, iw, jt, iv, jv, kv)
  acc.update.gpu_threads(iw).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
  A.in(acc).compute_at(acc.update, ko).store_in(shared)
  B.in(acc).compute_at(acc.update, ko).store_in(shared).reorder_storage(j, k)
  row.compute_at(R, io).store_in(MEMORY).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
  row.update.split(i, iw, iv, 16).split(u, ut, uv, N).reorder(iw, ut, iv, uv).gpu_threads(iw).unroll(ut)
  row.update.atomic().vectorize(iv).vectorize(uv)
}
"""
HALVES = {"IN": "f16", "OUT": "f32", "DEPTH": "16"}
BYTES = {"IN": "i8", "OUT": "i32", "DEPTH": "32"}
ROWS = {
    "largest": {**HALVES, "FIRST": "-inf", "OP": " max", "VALUE": "acc[i, u]", "N": "16"},
    "least of what is computed": {
        **HALVES, "FIRST": "inf", "OP": " min", "VALUE": "abs(acc[i, u]) - f32(u)", "N": "8",
    },
    "sum of squares": {**HALVES, "FIRST": "1", "OP": " +", "VALUE": "acc[i, u] * acc[i, u]", "N": "16"},
    "sum of integers": {**BYTES, "FIRST": "0", "OP": " +", "VALUE": "acc[i, u] / 8", "N": "16"},
    "largest of integers": {**BYTES, "FIRST": "-9", "OP": " max", "VALUE": "-acc[i, u]", "N": "8"},
}  # fmt: skip


def text_of(name: str, tail: str, memory: str = "shared") -> str:
    text = KERNEL.replace("TAIL", tail).replace("MEMORY", memory)
    for word, value in ROWS[name].items():
        text = text.replace(word, value)
    return text


@pytest.mark.parametrize("name", ROWS)
def test_lanes_shuffle(name: str) -> None:
    """Two shuffles for each of a lane's two rows, however many fragments lie side by side."""
    source = cuda_of(text_of(name, "exact")).text
    assert "_copy" not in source
    assert "<4>(" in source


def test_lanes_keep_rows() -> None:
    """In registers, where that is asked for: each lane has its two rows, and no lane waits for another."""
    source = cuda_of(text_of("largest", "exact", "registers")).text
    assert "float row[2];" in source
    assert "__syncwarp" not in source
    assert "__syncwarp" in cuda_of(text_of("largest", "exact")).text


@pytest.mark.parametrize("memory", ["shared", "registers"])
@pytest.mark.parametrize(("name", "m"), [*((name, 45) for name in ROWS), ("largest", 1)])
def test_rows_are_as_the_oracle_has_them(name: str, m: int, memory: str, tmp_path: Path) -> None:
    """In whole blocks, and in those of which some rows are not there."""
    text = text_of(name, "mask", memory)
    p = check(parse(Source("k.hb", text)), {})
    random, k = np.random.default_rng(7), 37
    if ROWS[name]["IN"] == "i8":
        shapes = ((m, k), (k, 48))
        a, b = (random.integers(-128, 128, s, dtype=np.int8) for s in shapes)
    else:
        a, b = (random.uniform(-2, 2, s).astype(np.float16) for s in ((m, k), (k, 48)))
    reference = evaluate(p, {"M": m, "K": k}, {"A": a, "B": b})["R"]
    r = np.full(reference.value.shape, 0x5A, np.uint8).astype(reference.value.dtype)
    assert CudaLibrary(cuda_of(text), tmp_path).call("", m, k, a, b, r) == 0
    assert compare(r, reference).mismatches == 0

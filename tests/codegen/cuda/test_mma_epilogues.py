"""What is done to sums in `mma_accumulator` is done in registers, wherever their elements go.

Of these fragments every lane knows which elements it has: epilogues may say where an element is, store
under a condition, convert, and read any array.
"""

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
size M, N, K
input A: f16[M, K]
input B: f16[K, N]
input E: f16[M, K]
input bias: f16[N]
input scale: f32[M, N]
output C: TYPE[SHAPE]
reduce k in K
acc[i, j] = BEGIN
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
other[i, j] = 0
other[i, j] += f32(E[i, k]) * f32(B[k, j])
C[AT] = END
schedule s for cuda {
  C.tile(i, j, io, jo, ii, ji, 32, 16, tail = TAIL).tile(ii, ji, iw, jt, iv, jv, 16, 8)
  C.gpu_blocks(io, jo).gpu_threads(iw).unroll(jt).vectorize(iv).vectorize(jv)
  acc.compute_at(C, iw).store_in(mma_accumulator)
  acc.split(j, jt, jv, 8).reorder(jt, i, jv).unroll(jt).vectorize(i, 16).vectorize(jv)
  acc.update.split(k, ko, ki, 16, tail = exact).split(j, jt, jv, 8).reorder(ko, jt, i, jv, ki)
  acc.update.unroll(jt).atomic().vectorize(i, 16).vectorize(jv).vectorize(ki)
  other.compute_at(C, iw).store_in(mma_accumulator)
  other.split(j, jt, jv, 8).reorder(jt, i, jv).unroll(jt).vectorize(i, 16).vectorize(jv)
  other.update.split(k, ko, ki, 16, tail = exact).split(j, jt, jv, 8).reorder(ko, jt, i, jv, ki)
  other.update.unroll(jt).atomic().vectorize(i, 16).vectorize(jv).vectorize(ki)
}
"""
EPILOGUES = {
    "scale": ("f32", "0", "acc[i, j] * 0.5 + other[i, j]"),
    "bias of another type": ("f32", "0", "max(acc[i, j] + f32(bias[j]), 0.0) - other[i, j]"),
    "begins with it": ("f32", "f32(bias[j]) * 2.0", "acc[i, j] + other[i, j]"),
    "an array": ("f32", "scale[i, j]", "acc[i, j] * scale[i, j] + other[i, j]"),
    "to halves": ("f16", "0", "f16(acc[i, j] + other[i, j])"),
    "to bytes": ("i8", "0", "i8(clamp(acc[i, j] * 20.0 + other[i, j], -128.0, 127.0))"),
    "where it is": ("f32", "0", "select(j <= i, acc[i, j] * f32(i) + other[i, j], -1.0)"),
    "another column": ("f32", "0", "acc[i, j] * f32(bias[15 - j % 16]) + other[i, j]"),
}


def text_of(epilogue: tuple[str, str, str], tail: str, transposed: bool = False) -> str:
    t, begin, end = epilogue
    shape, at = ("N, M", "j, i") if transposed else ("M, N", "i, j")
    values = {"TYPE": t, "BEGIN": begin, "END": end, "TAIL": tail, "SHAPE": shape, "AT": at}
    text = KERNEL
    for word, value in values.items():
        text = text.replace(word, value)
    return text


def agrees(text: str, sizes: dict[str, int], folder: Path) -> None:
    """Compiles for the processor, runs, and compares with the oracle."""
    p = check(parse(Source("k.hb", text)), {})
    random = np.random.default_rng(5)
    m, n, k = sizes.values()
    values = {
        name: random.uniform(-1, 1, shape).astype(np.float32 if name == "scale" else np.float16)
        for name, shape in {
            "A": (m, k), "B": (k, n), "E": (m, k), "bias": (n,), "scale": (m, n),
        }.items()
    }  # fmt: skip
    reference = evaluate(p, sizes, dict(values))["C"]
    c = np.full(reference.value.shape, 0x5A, np.uint8).astype(reference.value.dtype)
    assert CudaLibrary(cuda_of(text), folder).call("", *sizes.values(), *values.values(), c) == 0
    assert compare(c, reference).mismatches == 0


@pytest.mark.parametrize("name", EPILOGUES)
def test_stays_in_registers(name: str, tmp_path: Path) -> None:
    text = text_of(EPILOGUES[name], "exact")
    source = cuda_of(text).text
    assert "ptx_mma_m16n8k16_f32_f16(acc" in source
    assert "__shared__" not in source
    agrees(text, {"M": 32, "N": 32, "K": 48}, tmp_path)


@pytest.mark.parametrize("name", ["to halves", "where it is"])
@pytest.mark.parametrize(("m", "n"), [(45, 37), (3, 1)])
def test_pieces_that_do_not_divide(name: str, m: int, n: int, tmp_path: Path) -> None:
    """Each element is stored under its own condition."""
    text = text_of(EPILOGUES[name], "mask")
    assert "__shared__" not in cuda_of(text).text
    agrees(text, {"M": m, "N": n, "K": 32}, tmp_path)


def test_transposed_results(tmp_path: Path) -> None:
    text = text_of(EPILOGUES["scale"], "exact", transposed=True)
    assert "__shared__" not in cuda_of(text).text
    agrees(text, {"M": 32, "N": 48, "K": 16}, tmp_path)

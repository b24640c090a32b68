"""Long statements as loops over rows: the same results, and which ones stay as they are."""

import numpy as np
import pytest

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import For, Store
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import numpy_dtype
from hbc.ir.meaning.verify import verify
from hbc.ir.passes.roll import roll

HEAD = """
kernel k
size N
input A: f32[40, 40]
input B: bf16[40, 40]
output C: f32[64, 64]
"""
CELLS = "ramp(ramp(N, 1, 16), x16(C_stride0), 16)"
ROWS = {
    "copy": f"C[{CELLS}] = A.f32x256[ramp(ramp(3, 1, 16), x16(A_stride0), 16)]",
    "transposition": f"C[{CELLS}] = A.f32x256[ramp(ramp(N, A_stride0, 16), x16(1), 16)]",
    "contiguous": "C[ramp(0, 1, 256)] = A.f32x256[ramp(5, 1, 256)]",
    "gathered rows": "C[ramp(0, 1, 256)] = A.f32x256[ramp(ramp(ramp(0, 40, 2), x2(1), 8), x16(80), 16)]",
    "arithmetic": f"C[{CELLS}] = f32x256(B.bf16x256[ramp(ramp(0, 1, 16), x16(B_stride0), 16)])"
    f" * x256(2.0:f32) + x16(A.f32x16[ramp(0, 1, 16)])",
    "masked": f"C[{CELLS} if ramp(ramp(0, 1, 16), x16(3), 16) < x256(N + 20)] = x256(1.5:f32)",
    "masked load": f"C[{CELLS}] = A.f32x256[ramp(ramp(0, 1, 16), x16(40), 16) if "
    "x16(ramp(0, 1, 16)) < x256(N)]",
    "sums": f"C[{CELLS}] = reduce<+>(A.f32x512[ramp(ramp(0, 1, 32), x32(40), 16)], 256)",
}


def kernel(statement: str) -> Kernel:
    made = read_kernel(f"{HEAD}{{\n{statement}\n}}")
    verify(made, "written by hand")
    return made


def result(k: Kernel, size: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    arrays = {"A": rng.standard_normal((40, 40), dtype=np.float32)}
    arrays["B"] = rng.standard_normal((40, 40)).astype(numpy_dtype(k.arguments[1].element))
    arrays["C"] = np.full((64, 64), -7, np.float32)
    run(k, {"N": size}, arrays)
    return arrays["C"]


@pytest.mark.parametrize("statement", ROWS.values(), ids=ROWS.keys())
def test_the_same_as_a_loop(statement: str) -> None:
    before = kernel(statement)
    after = roll(before)
    assert isinstance(after.body, For)
    assert isinstance(after.body.body, Store)
    verify(after, "roll")
    for size in (0, 1, 7):
        assert np.array_equal(result(before, size), result(after, size))


@pytest.mark.parametrize(
    "statement",
    [
        "C[ramp(0, 1, 128)] = A.f32x128[ramp(0, 1, 128)]",  # short
        "C[ramp(0, 1, 256)] = C.f32x256[ramp(1, 1, 256)]",  # all is read before any is written
        "allocate t: f32[256] in stack { t[ramp(0, 1, 256)] = x256(0.0:f32)\n"
        "C[ramp(0, 1, 256)] = t.f32x256[ramp(0, 1, 256)] }",  # may live in registers
        "C[ramp(ramp(0, 1, 2), x2(40), 256)] = x512(0.0:f32)",  # rows are no vectors
    ],
)
def test_what_stays(statement: str) -> None:
    made = kernel(statement)
    assert roll(made) is made


def test_what_fills_all_registers_is_memory() -> None:
    text = "allocate t: f32[512] in stack { t[ramp(0, 1, 512)] = x512(0.0:f32)\n"
    after = roll(kernel(text + "C[ramp(0, 1, 512)] = t.f32x512[ramp(0, 1, 512)] }"))
    assert len([n for n in nodes(after.body) if isinstance(n, For)]) == 2


def test_a_size_of_the_same_name() -> None:
    text = HEAD.replace("size N", "size N\nsize row") + "{\n" + ROWS["copy"] + "\n}"
    after = roll(read_kernel(text))
    verify(after, "roll")
    assert isinstance(after.body, For)
    assert after.body.var == "row_1"

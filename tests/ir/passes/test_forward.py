"""Copies that are read once go away: the same results, and which copies stay."""

import numpy as np
import pytest

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Allocate
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.verify import verify
from hbc.ir.passes.forward import forward

HEAD = """
kernel k
size N
input A: i32[40, 40]
output C: i32[16, 32]
"""
LEFT = "t[ramp(ramp(0, 1, 8), x8(16), 8)] = A.i32x64[ramp(ramp(N, 1, 8), x8(A_stride0), 8)]"
RIGHT = "t[ramp(ramp(8, 1, 8), x8(16), 8)] = A.i32x64[ramp(ramp(N + 8, 1, 8), x8(A_stride0), 8)]"
ALL = "C[ramp(0, 1, 128)] = t.i32x128"
GONE = {
    "as it is": (f"{LEFT}\n{RIGHT}", f"{ALL}[ramp(0, 1, 128)]"),
    "rows in pairs": (
        f"{LEFT}\n{RIGHT}",
        f"{ALL}[ramp(ramp(ramp(0, 16, 2), x2(1), 16), x32(32), 4)]",
    ),
    "transposed": (f"{LEFT}\n{RIGHT}", f"{ALL}[ramp(ramp(0, 16, 8), x8(1), 16)]"),
    "a part": (LEFT, "C[ramp(0, 1, 16)] = t.i32x16[ramp(ramp(17, 1, 4), x4(32), 4)]"),
    "two readers": (
        f"{LEFT}\n{RIGHT}",
        "C[ramp(0, 1, 64)] = t.i32x64[ramp(0, 1, 64)]\n"
        "C[ramp(64, 1, 64)] = t.i32x64[ramp(64, 1, 64)] + x64(1:i32)",
    ),
    "columns": (
        "t[ramp(0, 1, 64)] = A.i32x64[ramp(ramp(0, A_stride0, 8), x8(1), 8)]",
        "C[ramp(0, 1, 64)] = t.i32x64[ramp(ramp(0, 8, 8), x8(1), 8)]",
    ),
}
KEPT = {
    "another source": (
        f"{LEFT}\n{RIGHT.replace('N + 8', 'N + 9')}", f"{ALL}[ramp(0, 1, 128)]",
    ),
    "over the end of a row": (LEFT, "C[ramp(0, 1, 4)] = t.i32x4[ramp(4, 16, 4)]\n"
                              "C[ramp(8, 1, 8)] = t.i32x8[ramp(7, 15, 8)]"),
    "read twice": (LEFT, "C[ramp(0, 1, 64)] = x8(t.i32x8[ramp(0, 1, 8)])\n"
                   "C[ramp(64, 1, 64)] = t.i32x64[ramp(ramp(0, 1, 8), x8(16), 8)]"),
    "read in a loop": (LEFT, "for i from 0 count 2 { C[ramp(i, 1, 8)] = t.i32x8[ramp(0, 1, 8)] }"),
    "written again": (f"{LEFT}\n{RIGHT}", f"t[N] = 7:i32\n{ALL}[ramp(0, 1, 128)]"),
    "read at a variable": (LEFT, "C[0] = t.i32[N]"),
    "more than a copy": (LEFT + " + x64(1:i32)", "C[0] = t.i32[3]"),
    "masked": (
        LEFT.replace("x8(16), 8)]", "x8(16), 8) if ramp(0, 1, 64) < x64(60)]"), "C[0] = t.i32[3]",
    ),
    "a copy of an output": ("C[ramp(0, 1, 64)] = x64(1:i32)\nt[ramp(0, 1, 64)] = C.i32x64[ramp(0, 1, 64)]",
                            "C[ramp(0, 1, 64)] = t.i32x64[ramp(0, 1, 64)] + x64(1:i32)"),
}  # fmt: skip


def kernel(stores: str, reads: str) -> Kernel:
    text = f"{HEAD}{{\nallocate t: i32[128] in stack {{\n{stores}\n{reads}\n}}\n}}"
    made = read_kernel(text)
    verify(made, "written by hand")
    return made


def result(k: Kernel, size: int) -> np.ndarray:
    a = np.random.default_rng(1).integers(-(2**31), 2**31, (40, 40)).astype(np.int32)
    c = np.full((16, 32), -7, np.int32)
    run(k, {"N": size}, {"A": a, "C": c})
    return c


def copies(k: Kernel) -> int:
    return sum(isinstance(n, Allocate) for n in nodes(k.body))


@pytest.mark.parametrize(("stores", "reads"), GONE.values(), ids=GONE.keys())
def test_gone(stores: str, reads: str) -> None:
    before = kernel(stores, reads)
    after = forward(before)
    verify(after, "forward")
    assert copies(after) == 0
    for size in (0, 3):
        assert np.array_equal(result(before, size), result(after, size))


@pytest.mark.parametrize(("stores", "reads"), KEPT.values(), ids=KEPT.keys())
def test_kept(stores: str, reads: str) -> None:
    before = kernel(stores, reads)
    assert forward(before) is before


def test_one_that_fills_tiles_is_kept() -> None:
    """A tile wants its rows in one piece, as the copy has them."""
    text = f"""{HEAD}{{
allocate t: i32[128] in stack {{
    {LEFT}
    allocate x: i32[64] in amx_tile {{
        x[ramp(0, 1, 64)] = t.i32x64[ramp(ramp(0, 16, 8), x8(1), 8)]
        C[ramp(0, 1, 64)] = x.i32x64[ramp(0, 1, 64)]
    }}
}}
}}"""
    made = read_kernel(text)
    assert forward(made) is made

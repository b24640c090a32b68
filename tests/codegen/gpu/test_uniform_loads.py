"""Places from data inside of a masked copy's index: one load for all lanes, the same elements copied."""

from __future__ import annotations

import numpy as np
import pytest

from hbc.codegen.gpu.uniform_loads import uniform_loads
from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import Load, const_index
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.types import F32, I32
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run

ARGUMENTS = (
    Argument("p", I32, (const_index(4),), False),
    Argument("A", F32, (const_index(40),), False),
    Argument("C", F32, (const_index(8),), True),
)


def copy(mask: str, inner: str | None = None, place: str = "x8(i)") -> str:
    where = f"i64x8(p.i32x8[{place} if {mask if inner is None else inner}]) * x8(4) + ramp(0, 1, 8)"
    return f"C[ramp(0, 1, 8)] = A.f32x8[{where} if {mask}]"


def kernel(text: str) -> Kernel:
    return Kernel("k", (Size("i"), Size("n")), ARGUMENTS, (), (), read_stmt(text))


def outcome(k: Kernel, i: int, n: int) -> np.ndarray:
    arrays = {"p": np.array([3, 0, 7, 2], np.int32), "A": np.arange(1, 41, dtype=np.float32)}
    arrays["C"] = np.full(8, -1, np.float32)
    run(k, {"i": i, "n": n}, arrays)
    return arrays["C"]


@pytest.mark.parametrize(
    "mask",
    [
        "ramp(0, 1, 8) < x8(n)",
        "ramp(3, 1, 8) <= x8(n + 2)",
        "x8(n) > ramp(0, 2, 8)",
        "ramp(0, 1, 8) < x8(n) & x8(i < 2)",
    ],
)
def test_one_load(mask: str) -> None:
    before = kernel(copy(mask))
    after = uniform_loads(before)
    places = [x for x in nodes(after.body) if isinstance(x, Load) and x.buffer == "p"]
    assert [x.type.lanes for x in places] == [1]
    for i in range(5):  # there is no p[4], which is not asked for where no lane is live
        for n in range(10 if i < 4 else 1):
            assert np.array_equal(outcome(before, i, n), outcome(after, i, n)), (i, n)


@pytest.mark.parametrize(
    "text",
    [
        copy("ramp(0, 1, 8) > x8(n)"),  # the last lanes are live
        copy("ramp(0, 1, 8) < x8(n)", inner="ramp(0, 1, 8) < x8(n + 1)"),
        copy("ramp(0, 1, 8) < x8(n)", place="ramp(0, 1, 8) / x8(4)"),
    ],
)
def test_others_stay(text: str) -> None:
    before = kernel(text)
    assert uniform_loads(before).body == before.body

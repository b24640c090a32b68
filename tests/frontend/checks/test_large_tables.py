"""Tables of many cells: the values by NumPy are those one by one, and what is compiled reads them."""

from itertools import product

import numpy as np
import pytest

import hbc
from hbc.frontend.checks.check import check
from hbc.frontend.program import every_cell
from hbc.frontend.program.cells import cells_of
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

FORMULAS = [
    "u8(i * i / 255 - j)",
    "i16(i - 300 * j) * i16(7) / i16(j - 20)",
    "f32(i * j) / f32(i - 9) + sin(f32(i))",
    "f16(i) * f16(0.37) - sqrt(f16(j))",
    "bf16(i) / bf16(3) + bf16(j)",
    "select(i > j, exp2(f64(j) - f64(i)), log(f64(1 + i)))",
    "max(i32(w[i % 5]), i32(j) >> (i % 4)) ^ i32(i << j)",
    "u64(i - j) % u64(1 + j)",
    "i < 3 or w[j % 5] == u8(4)",
    "tf32(tanh(f32(i - j) / 4)) + round(f32(i) / 2)",
    "select(i == 0, 0.5, 1 / f32(i))",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_by_numpy_as_one_by_one(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def values(few: int) -> list[object]:
        monkeypatch.setattr(every_cell, "FEW", few)
        text = (
            "table w: u8[5] = [4, 0, 255, 9, 1]\ntable t: T[37, 41] [i, j] = FORMULA\n"
            "output y: T[37]\ny[x] = t[x, 3]"
        )
        text = text.replace("T[", f"{kind(formula)}[").replace("FORMULA", formula)
        return list(check(parse(Source("t.hb", text)), {}).func("t").cells)

    slow, quick = values(1 << 20), values(0)
    assert list(map(repr, quick)) == list(map(repr, slow))


def kind(formula: str) -> str:
    if " or " in formula:
        return "bool"
    if formula.startswith("max("):
        return "i32"
    if formula.startswith(("select(i ==", "tf32")):
        return "f32"
    return "f64" if formula.startswith("select") else formula.partition("(")[0]


def test_a_place_is_found() -> None:
    shape = (3, 4, 5)
    made = cells_of(shape, range(60))
    for n, point in enumerate(product(*map(range, shape))):
        assert made.get(point) == n
    assert made.get((0, 4, 0)) is None and made.get((-1, 0, 0)) is None
    assert made.ends == (0, 59)


@pytest.mark.parametrize("target", ["c", "avx2", "avx512"])
def test_compiled(target: str) -> None:
    kernel = hbc.compile(
        """
        size N
        input X: i32[N]
        output Y: f32[N]
        output Z: i16[N]
        bound X in 0 .. 300
        table t: f32[300, 300] [i, j] = f32(i * 7 % 13) / 8 - f32(j)
        table u: i16[70_000] [i] = i16(i * i)
        Y[n] = t[X[n], 299 - X[n]]
        Z[n] = u[X[n] * 233]
        """,
        target=target,
    )
    x = np.arange(300, dtype=np.int32)
    found = kernel(x)
    assert (found["Y"] == (x * 7 % 13 / 8 - (299 - x)).astype(np.float32)).all()
    wide = x.astype(np.int64) * 233
    assert (found["Z"] == (wide * wide).astype(np.int16)).all()

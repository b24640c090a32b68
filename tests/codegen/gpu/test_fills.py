"""Nests that follow each other and become one, which all threads share."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest

from hbc.codegen.gpu.fills import joined
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.nodes import For, Stmt, const_index
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.show import show
from hbc.ir.lang.types import DTYPES
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run

NEST = "for {v} from 0 count {n} {{\nt[32 * i + {v} + {at}] = {value}\n}}"
ROWS = (
    "for {v} from 0 count 4 {{\nfor {w} from 0 count 4 {{\n"
    "t[32 * i + 4 * {v} + {w} + {at}] = {value}\n}}\n}}"
)


def nest(v: str, at: int, n: int = 16, value: str = "x.f32[i]") -> str:
    return NEST.format(v=v, n=n, at=at, value=value)


def rows(v: str, w: str, at: int, value: str = "x.f32[i]") -> str:
    return ROWS.format(v=v, w=w, at=at, value=value)


def around(parts: list[str]) -> Stmt:
    text = "\n".join(parts)
    return read_stmt(f"for i from 0 count 8 {{\n{text}\n}}")


def made(parts: list[str]) -> Stmt:
    names = count()
    return joined(around(parts), lambda word: f"{word}{next(names)}")


def loops(s: Stmt) -> Iterator[str]:
    """The extents of the loops inside the outer one."""
    return (show(n.extent) for n in nodes(s) if isinstance(n, For) and n.var != "i")


def stored(s: Stmt) -> np.ndarray:
    """All of `t`, which is poisoned, after the statement."""
    f32 = DTYPES["f32"]
    generator = np.random.default_rng(1)
    data = {name: generator.standard_normal(8).astype(np.float32) for name in "xy"}
    arguments = [Argument(name, f32, (const_index(8),), output=False) for name in "xy"]
    t = Argument("t", f32, (const_index(256),), output=True)
    out = np.full(256, np.nan, np.float32)
    run(Kernel("k", (), (*arguments, t), (), (), s), {}, {**data, "t": out})
    return out


@pytest.mark.parametrize(
    ("parts", "extents"),
    [
        ([nest("a", 0), nest("b", 16)], ["16"]),
        ([rows("a", "b", 0), rows("c", "d", 16, "y.f32[d]")], ["16"]),
        ([rows("a", "b", 0), nest("c", 16, 9)], ["16"]),  # the shorter one under a condition
        ([nest("a", 16), nest("b", 0), nest("c", 12, 4, "y.f32[c]")], ["16", "16", "4"]),
        ([nest("a", 0), nest("b", 15, value="y.f32[i]")], ["16", "16"]),  # both store one element
        (["t[32 * i] = x.f32[i]", "t[32 * i + 1] = x.f32[i]"], []),
    ],
)
def test_which_are_joined(parts: list[str], extents: list[str]) -> None:
    after = made(parts)
    assert list(loops(after)) == extents
    np.testing.assert_array_equal(stored(after), stored(around(parts)))


@pytest.mark.parametrize(
    "second",
    [
        nest("b", 16, value="t.f32[32 * i + 3]"),
        nest("b", 16, value="t.f32[32 * i + b]"),
        "for b from 0 count m {\nt[32 * i + b + 16] = x.f32[i]\n}",
        "for a from 0 count 16 {\nt[32 * i + a + 16] = x.f32[i]\n}",
    ],
)
def test_what_is_read_or_not_known_stays(second: str) -> None:
    assert made([nest("a", 0), second]) == around([nest("a", 0), second])

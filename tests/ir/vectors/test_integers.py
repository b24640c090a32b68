"""Pins quotients and remainders of vectors as arithmetic: the value of `/` and `%`, all types and signs."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import clamp, const
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.show import show
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import I8, I16, I32, U8, U16, U32, DType
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import evaluate
from hbc.ir.meaning.numpy_types import Array, numpy_dtype
from hbc.ir.vectors.integers import integers
from hbc.ir.vectors.stored_ranges import lane_range, stored_ranges

DIVISIONS = (ir.Op.DIV, ir.Op.MOD)
TYPES = (U8, I8, U16, I16, U32, I32)


def vector(name: str, t: DType, count: int) -> ir.Load:
    return ir.Load(name, ir.Ramp(ir.const_index(0), ir.const_index(1), count), t(count))


def as_arithmetic(e: ir.Expr) -> ir.Expr:
    """`e` after the pass."""
    store = ir.Store("out", ir.Ramp(ir.const_index(0), ir.const_index(1), e.type.lanes), e)
    made = integers(Kernel("k", (), (), (), (), store), TARGETS["avx2"]).body
    assert isinstance(made, ir.Store)
    left = [n for n in vector_operations(made.value) if n.op in DIVISIONS and n.type.element.is_int]
    assert left == [], show(made.value)
    return made.value


def vector_operations(e: ir.Expr) -> list[ir.Binary]:
    return [n for n in nodes(e) if isinstance(n, ir.Binary) and n.type.lanes > 1]


def dividends(t: DType) -> Array:
    """All of 8 and 16 bits; else the edges and random ones of all sizes."""
    low, high = t.limits
    if t.bits <= 16:
        return np.arange(low, high + 1).astype(numpy_dtype(t))
    r = np.random.default_rng(t.bits)
    edges = [range(low, low + 99), range(high - 99, high + 1), range(max(low, -99), 99)]
    anything = r.integers(low, high + 1, 2000) >> r.integers(0, 31, 2000)
    return np.concatenate([*map(np.array, edges), anything]).astype(numpy_dtype(t))


def divisors(t: DType) -> list[int]:
    """All of 8 bits; else small ones, powers of two and their neighbours, the edges, random ones."""
    low, high = t.limits
    if t.bits == 8:
        return list(range(low, high + 1))
    r = Random(t.name)
    near = [(1 << k) + more for k in range(t.bits) for more in (-1, 0, 1)]
    some = [r.randint(low, high) >> r.randint(0, t.bits - 1) for _ in range(40)]
    every = [*range(-12, 26), *near, *(-d for d in near), *some, low, low + 1, high, high - 1, 641]
    return sorted({d for d in every if low <= d <= high})


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_by_constants(t: DType) -> None:
    x = dividends(t)
    for d in divisors(t):
        for op in DIVISIONS:
            plain = ir.Binary(op, vector("x", t, len(x)), const(d, t(len(x))))
            agree(plain, {"x": x})


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_by_constants_of_values_in_a_range(t: DType) -> None:
    """Shorter forms hold where the program clamps."""
    r = Random(t.bits)
    low, high = t.limits
    for _ in range(150):
        a, b = sorted(r.randint(low, high) >> r.randint(0, t.bits - 1) for _ in range(2))
        b = min(b + 1, high)
        d = r.choice([r.randint(low, high) >> r.randint(0, t.bits - 1), r.randint(2, 50)])
        ends = [np.arange(a, min(b, a + 500) + 1), np.arange(max(a, b - 500), b + 1)]
        x = np.concatenate(ends).astype(numpy_dtype(t))
        within = clamp(vector("x", t, len(x)), a, b)
        for op in DIVISIONS:
            agree(ir.Binary(op, within, const(d, within.type)), {"x": x})


@pytest.mark.parametrize("t", TYPES, ids=str)
@pytest.mark.parametrize("op", DIVISIONS, ids=str)
def test_by_lanes(t: DType, op: ir.Op) -> None:
    """Every pair of 8 bits, zero among the divisors."""
    x, y = pairs(t)
    agree(ir.Binary(op, vector("x", t, len(x)), vector("y", t, len(x))), {"x": x, "y": y})


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_by_one_number_for_all_lanes(t: DType) -> None:
    x = dividends(t)
    for d in divisors(t)[:: 1 if t.bits == 8 else 3]:
        shared = ir.Broadcast(ir.Load("y", ir.const_index(0), t(1)), len(x))
        for op in DIVISIONS:
            agree(ir.Binary(op, vector("x", t, len(x)), shared),
                  {"x": x, "y": np.array([d], numpy_dtype(t))})  # fmt: skip


def pairs(t: DType) -> tuple[Array, Array]:
    if t.bits == 8:
        every = dividends(t)
        return np.repeat(every, 256), np.tile(every, 256)
    some = np.array(divisors(t), numpy_dtype(t))
    x = np.concatenate([dividends(t)[:: 97 if t.bits == 16 else 7], some])
    return np.repeat(x, len(some)), np.tile(some, len(x))


def agree(plain: ir.Expr, given: dict[str, Array]) -> None:
    made = as_arithmetic(plain)
    before, after = evaluate(plain, {}, given), evaluate(made, {}, given)
    wrong = np.flatnonzero(before != after)
    assert not len(wrong), (
        f"{show(made)}\n{[(n, v[i % len(v)]) for i in wrong[:3] for n, v in given.items()]}: "
        f"{after[wrong[:3]]}, not {before[wrong[:3]]}"
    )


BLUR = """\
kernel blur
size N
input I: u8[N]
output O: u8[N]
{
    allocate rows: u16[N] in heap {
        for x from 0 count N / 32 {
            rows[ramp(32 * x, 1, 32)] = u16x32(I.u8x32[ramp(32 * x, 1, 32)]) * x32(9:u16)
        }
        for x from 0 count N / 32 {
            O[ramp(32 * x, 1, 32)] = u8x32((rows.u16x32[ramp(32 * x, 1, 32)] + x32(4:u16)) / x32(9:u16))
        }
    }
}
"""


def test_what_is_stored_says_how_short_the_quotient_may_be() -> None:
    k = read_kernel(BLUR)
    assert lane_range(vector("rows", U16, 4), stored_ranges(k)) == (0, 2295)
    assert "mulhi(" in show(integers(k, TARGETS["avx2"]).body)
    assert ">>" not in show(integers(k, TARGETS["avx2"]).body)
    assert integers(k, TARGETS["c"]) is k


def test_sums_in_memory_may_be_anything() -> None:
    own = "rows[ramp(32 * x, 1, 32)] = rows.u16x32[ramp(32 * x, 1, 32)] +"
    k = read_kernel(BLUR.replace("rows[ramp(32 * x, 1, 32)] =", own))
    assert lane_range(vector("rows", U16, 4), stored_ranges(k)) == (0, 65535)

"""Vectors that an index made 64 bits wide, narrowed: the same values, at every type and of every operator."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import cast, const, ramp
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.show import show
from hbc.ir.lang.types import F32, F64, I8, I16, I32, I64, U8, U16, U32, DType
from hbc.ir.lang.walk import nodes, rewrite
from hbc.ir.meaning.interp import evaluate
from hbc.ir.meaning.numpy_types import numpy_dtype
from hbc.ir.vectors.narrowed import narrowed

LANES = 8
SMALL = (I8, U8, I16, U16, I32, U32)
OPERATORS = (
    ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.AND, ir.Op.OR, ir.Op.XOR, ir.Op.SHL, ir.Op.SHR,
    ir.Op.DIV, ir.Op.MOD, ir.Op.MIN, ir.Op.MAX,
)  # fmt: skip


def narrow(e: ir.Expr) -> ir.Expr:
    return narrowed(e, {})


def is_wide(e: ir.Expr) -> bool:
    """Whether a vector of 64 bits is computed, places in memory apart."""
    values = rewrite(e, lambda n: const(0, n.type) if isinstance(n, ir.Load) else n)
    return any(n.type.element == I64 and n.type.lanes > 1 for n in nodes(values))


def loaded(name: str, t: DType) -> ir.Load:
    return ir.Load(name, ramp(ir.const_index(0), 1, LANES), t(LANES))


def random_value(r: Random, depth: int) -> ir.Expr:
    """Of i64: inputs of fewer bits, constants of the lanes, and what is made of them."""
    match r.randrange(4) if depth else r.randrange(2):
        case 0:
            t = r.choice(SMALL)
            return cast(I64, loaded(f"a_{t}", t))
        case 1:
            return ramp(const(r.randint(-9, 9), I64(1)), r.choice((0, 0, 1, 4, -3)), LANES)
        case 2:
            return cast(I64, cast(r.choice(SMALL), random_value(r, depth - 1)))
        case _:
            a, b = random_value(r, depth - 1), random_value(r, depth - 1)
            return ir.Binary(r.choice(OPERATORS), a, b)


@pytest.mark.parametrize("to", [*SMALL, F32, F64], ids=str)
def test_values_stay(to: DType) -> None:
    r = Random(to.name)
    rng = np.random.default_rng(to.bits)
    arrays = {}
    for t in SMALL:
        low, high = t.limits
        some = [*rng.integers(low, high + 1, LANES - 4), low, high, 0, 1]
        arrays[f"a_{t}"] = np.array(some).astype(numpy_dtype(t))
    changed = 0
    for _ in range(500):
        e = cast(to, random_value(r, r.randint(1, 3)))
        new = narrow(e)
        changed += new is not e
        want, got = evaluate(e, {}, arrays), evaluate(new, {}, arrays)
        assert np.array_equal(want, got), f"{show(e)}\n{show(new)}"
    assert changed > 70


@pytest.mark.parametrize(
    "text",
    [
        "u8x8(i64x8(a.u8x8[ramp(0, 1, 8)]) >> x4(ramp(0, 4, 2)) & x8(15))",
        "i32x8(i64x8(a.u8x8[ramp(0, 1, 8)]) >> x4(ramp(0, 4, 2)))",
        "f32x8(i64x8(a.u8x8[ramp(0, 1, 8)]) >> x4(ramp(0, 4, 2)) & x8(15))",
        "f64x8(i64x8(a.i16x8[ramp(0, 1, 8)]) * ramp(0, 1, 8))",
        "i16x8(i64x8(a.i8x8[ramp(0, 1, 8)]) / x8(3))",
        "f32x8(i8x8((i64x8(a.u8x8[ramp(0, 1, 8)]) >> x4(ramp(0, 4, 2))) + x8(8) & x8(15)) - x8(8:i8))",
        "i8x8(((i64x8(a.u8x8[ramp(0, 1, 8)]) >> x4(ramp(0, 4, 2))) + x8(8) & x8(15)) - x8(8))",
    ],
)  # fmt: skip
def test_is_narrow(text: str) -> None:
    assert not is_wide(narrow(read_expr(text)))


@pytest.mark.parametrize(
    "text",
    [
        "u8x8(i64x8(a.i16x8[ramp(0, 1, 8)]) >> x4(ramp(0, 4, 2)))",  # high bits come down
        "i32x8(i64x8(a.u32x8[ramp(0, 1, 8)]) / x8(3))",
        "f32x8(i64x8(a.i32x8[ramp(0, 1, 8)]) + x8(1))",
        "i32x8(a.i64x8[ramp(0, 1, 8)] + x8(1))",
    ],
)
def test_stays_wide(text: str) -> None:
    e = read_expr(text)
    assert narrow(e) is e

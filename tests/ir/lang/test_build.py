"""Pins the smart constructors and literal arithmetic against the interpreter."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
import trees
from hypothesis import given, settings

from hbc.ir.lang import build, fold
from hbc.ir.lang.nodes import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    MathOp,
    Op,
    Unary,
    UnaryOp,
    Var,
)
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.show import show
from hbc.ir.lang.types import BF16, BOOL, DTYPES, F16, F32, F64, I8, I32, U8, Type
from hbc.ir.meaning.numpy_types import numpy_dtype

NUMBERS = [t for t in DTYPES.values() if t != BOOL]


def literal(r: Random, t: Type) -> Const:
    made = build.const(trees.scalar(r, t.element), t)
    assert isinstance(made, Const)
    return made


@settings(max_examples=500)
@given(trees.randoms)
def test_literals_fold_as_the_interpreter_computes(r: Random) -> None:
    t = Type(r.choice([*NUMBERS, BOOL]))
    a, b = literal(r, t), literal(r, t)
    if t.element == BOOL:
        ops = [Op.AND, Op.OR, Op.XOR, *sorted(COMPARISONS)]
    elif t.element.is_float:
        ops = [Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MIN, Op.MAX, *sorted(COMPARISONS)]
    else:
        ops = list(Op)
    e: Expr = Binary(r.choice(ops), a, b)
    assert isinstance(e, Binary)
    check(e, fold.binary(e.op, a.value, b.value, t.element))
    target = Type(r.choice(list(DTYPES.values())))
    check(Cast(target, a), fold.convert(a.value, t.element, target.element))
    if t.element != BOOL:
        uop = r.choice([UnaryOp.NEG, UnaryOp.ABS])
        check(Unary(uop, a), fold.unary(uop, a.value, t.element))
    if t.element.is_float:
        name = r.choice([MathOp.SQRT, MathOp.FLOOR, MathOp.CEIL, MathOp.ROUND])
        check(Call(name, (a,), t), fold.call(name, a.value, t.element))


def check(e: Expr, folded: int | float | bool | None) -> None:
    if folded is None:
        return
    wanted = trees.value_of(e, {})
    found = np.array([folded]).astype(numpy_dtype(e.type.element))
    assert trees.agree(wanted, found), f"{show(e)} is {wanted}, not {folded}"


@settings(max_examples=200)
@given(trees.randoms)
def test_rounding_is_that_of_numpy(r: Random) -> None:
    value = r.uniform(-1, 1) * 2.0 ** r.randint(-160, 130)
    for t in (F16, BF16, F32, F64):
        with np.errstate(all="ignore"):
            assert fold.round_to(value, t) == float(np.float64(value).astype(numpy_dtype(t)))


x, y, b = Var("x"), Var("y"), Var("b", BOOL(1))
f, v = Var("f", F32(1)), Var("v", I32(4))


@pytest.mark.parametrize(
    ("e", "wanted"),
    [
        (build.add(x, 0), "x"),
        (build.add(1, x), "x + 1"),
        (build.add(build.add(x, 1), 2), "x + 3"),
        (build.sub(x, x), "0"),
        (build.mul(x, 0), "0"),
        (build.mul(1, x), "x"),
        (build.mul(f, 0), "f:f32 * 0.0:f32"),
        (build.mul(f, 1), "f:f32"),
        (build.add(f, 0), "f:f32 + 0.0:f32"),
        (build.add(v, 1), "v:i32x4 + x4(1:i32)"),
        (build.floordiv(7, -2), "-4"),
        (build.mod(-7, 4), "1"),
        (build.floordiv(x, 0), "0"),
        (build.minimum(x, x), "x"),
        (build.maximum(f, f), "f:f32"),
        (build.clamp(x, 0, 9), "max(min(x, 9), 0)"),
        (build.lt(x, x), "false"),
        (build.eq(f, f), "f:f32 == f:f32"),
        (build.and_(), "true"),
        (build.and_(b, build.const(True, BOOL)), "b:bool"),
        (build.or_(b, build.const(True, BOOL)), "true"),
        (build.not_(build.lt(x, y)), "x >= y"),
        (build.not_(build.lt(f, f)), "~(f:f32 < f:f32)"),
        (build.not_(build.not_(b)), "b:bool"),
        (build.select(b, x, x), "x"),
        (build.select(build.const(False, BOOL), x, 4), "4"),
        (build.select(b, v, 0), "select(x4(b:bool), v:i32x4, x4(0:i32))"),
        (build.cast(F32, build.const(3)), "3.0:f32"),
        (build.cast(U8, build.const(300, I32)), "44:u8"),
        (build.cast(U8, build.const(300.5, F32)), "255:u8"),
        (build.cast(I8, build.const(math.nan, F32)), "0:i8"),
        (build.cast(I32, v), "v:i32x4"),
        (build.const(200, I8), "-56:i8"),
        (build.const(2, F32(4)), "x4(2.0:f32)"),
        (build.broadcast(build.broadcast(x, 2), 3), "x6(x)"),
        (build.ramp(x, 0, 4), "x4(x)"),
        (build.ramp(x, 1, 1), "x"),
        (build.ramp(build.broadcast(x, 2), 3, 4), "ramp(x2(x), x2(3), 4)"),
        (build.neg(build.neg(f)), "f:f32"),
    ],
)
def test_constructors(e: Expr, wanted: str) -> None:
    assert show(e) == wanted


def test_equal_but_for_the_sign_of_zero() -> None:
    plus, minus = build.const(0.0, F32), build.const(-0.0, F32)
    assert plus == minus
    assert not build.same(plus, minus)
    assert show(build.select(b, plus, minus)) == "select(b:bool, 0.0:f32, -0.0:f32)"
    assert build.same(read_expr("x + y"), read_expr("x + y"))

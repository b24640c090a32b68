"""Random well-typed expressions, values for their variables, and exact comparison of results."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hbc.ir.lang.build import const
from hbc.ir.lang.nodes import (
    COMPARISONS,
    Binary,
    Broadcast,
    Call,
    Cast,
    Expr,
    Gather,
    Let,
    Load,
    MathOp,
    Op,
    Ramp,
    Select,
    Unary,
    UnaryOp,
    Var,
    VectorReduce,
    const_index,
)
from hbc.ir.lang.types import (
    BF16,
    BOOL,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    U8,
    U16,
    U32,
    DType,
    Type,
)  # fmt: skip
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import evaluate
from hbc.ir.meaning.numpy_types import numpy_dtype

INDEX_NAMES = ("i", "j", "k", "N", "W")
SMALL = (I8, U8, I16, U16, I32, U32)
FLOATS = (F8E4M3, F8E5M2, F16, BF16, F32, F64)
BUFFER_SIZE = 16
ARITHMETIC = (Op.ADD, Op.ADD, Op.SUB, Op.MUL, Op.MIN, Op.MAX)
INTEGER = (*ARITHMETIC, Op.DIV, Op.MOD, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.SHR)

randoms = st.integers(0, 2**32).map(Random)


def buffer_of(element: DType) -> str:
    return f"data_{element}"


def index(r: Random, depth: int) -> Expr:
    """A scalar i64 expression."""
    if depth <= 0 or r.random() < 0.15:
        if r.random() < 0.7:
            return Var(r.choice(INDEX_NAMES))
        return const_index(r.choice([-3, -1, 0, 1, 2, 3, 4, 7, 8, 16, 31]))
    kind = r.random()
    if kind < 0.05:
        return Select(boolean(r, depth - 1, 1), index(r, depth - 1), index(r, depth - 1))
    if kind < 0.1:
        return Cast(INDEX, expr(r, Type(r.choice([I8, U8, I16, BOOL])), depth - 1))
    if kind < 0.13:
        return Load(buffer_of(I64), place(r, depth - 1, 1), INDEX)
    if kind < 0.16:
        return Unary(UnaryOp.NEG, index(r, depth - 1))
    if kind < 0.19:
        return Let("t", index(r, depth - 1), Binary(Op.ADD, Var("t"), index(r, depth - 1)))
    op = r.choice([Op.ADD] * 4 + [Op.SUB] * 3 + [Op.MUL] * 2 + [Op.DIV, Op.MOD, Op.MIN, Op.MAX])
    a = index(r, depth - 1)
    if op in (Op.DIV, Op.MOD, Op.MUL) and r.random() < 0.8:
        return Binary(op, a, const_index(r.choice([1, 2, 3, 4, 6, 8, -2, 0])))
    return Binary(op, a, index(r, depth - 1))


def strided(r: Random, depth: int, lanes: int) -> Expr:
    """An i64 vector of Ramps and Broadcasts, sums and multiples of them."""
    if lanes == 1:
        return index(r, min(depth, 2))
    kind = r.random()
    if depth > 0 and kind < 0.5:
        op = r.choice([Op.ADD, Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MOD])
        a = strided(r, depth - 1, lanes)
        if op in (Op.ADD, Op.SUB):
            return Binary(op, a, strided(r, depth - 1, lanes))
        return Binary(op, a, Broadcast(const_index(r.choice([1, 2, 3, 4, 8])), lanes))
    inner = r.choice([d for d in range(1, lanes) if lanes % d == 0])
    if r.random() < 0.4:
        return Broadcast(strided(r, depth - 1, inner), lanes // inner)
    value = Var("W") if r.random() < 0.2 else const_index(r.choice([-1, 0, 1, 1, 1, 2, 4, 8]))
    stride = Broadcast(value, inner) if inner > 1 else value
    return Ramp(strided(r, depth - 1, inner), stride, lanes // inner)


def place(r: Random, depth: int, lanes: int) -> Expr:
    """An index that is inside every buffer."""
    e = strided(r, depth, lanes)
    return Binary(Op.MOD, e, const(BUFFER_SIZE, e.type))


def boolean(r: Random, depth: int, lanes: int) -> Expr:
    t = Type(BOOL, lanes)
    if depth <= 0:
        return const(r.random() < 0.5, t) if r.random() < 0.3 else Var(f"b{lanes}", t)
    if r.random() < 0.6:
        element = r.choice([I64, I64, I64, I32, U8, F32])
        operands = Type(element, lanes)
        op = r.choice(sorted(COMPARISONS))
        return Binary(op, expr(r, operands, depth - 1), expr(r, operands, depth - 1))
    if r.random() < 0.25:
        return Unary(UnaryOp.NOT, boolean(r, depth - 1, lanes))
    op = r.choice([Op.AND, Op.OR, Op.XOR, Op.EQ])
    return Binary(op, boolean(r, depth - 1, lanes), boolean(r, depth - 1, lanes))


def expr(r: Random, t: Type, depth: int) -> Expr:
    """An expression of any type."""
    if t == INDEX:
        return index(r, depth)
    if t.element == BOOL:
        return boolean(r, depth, t.lanes)
    if depth <= 0:
        return leaf(r, t)
    if t.element == I64 and r.random() < 0.5:
        return strided(r, depth, t.lanes)
    if t.lanes > 1 and r.random() < 0.35:
        return vector(r, t, depth)
    return elementwise(r, t, depth)


def leaf(r: Random, t: Type) -> Expr:
    if t.element == I64:
        return strided(r, 0, t.lanes)
    if r.random() < 0.4:
        if t.element.is_float:
            return const(r.choice([0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 3.0, float("inf")]), t)
        return const(r.choice([0, 1, 2, 3, 7, 127, 128, 255]), t)
    return Var(f"v_{t}", t)


def elementwise(r: Random, t: Type, depth: int) -> Expr:
    kind = r.random()
    element = t.element
    if kind < 0.12:
        return Select(boolean(r, depth - 1, t.lanes), expr(r, t, depth - 1), expr(r, t, depth - 1))
    if kind < 0.3 and element != I64:
        source = Type(r.choice([*SMALL, *FLOATS, BOOL]), t.lanes)
        return Cast(t, expr(r, source, depth - 1))
    if kind < 0.4:
        mask = boolean(r, depth - 1, t.lanes) if r.random() < 0.3 else None
        return Load(buffer_of(element), place(r, 1, t.lanes), t, mask)
    if kind < 0.5:
        ops = [UnaryOp.NEG, UnaryOp.ABS] + ([UnaryOp.NOT] if element.is_int else [])
        return Unary(r.choice(ops), expr(r, t, depth - 1))
    if element.is_float and kind < 0.56:
        name = r.choice([MathOp.SQRT, MathOp.FLOOR, MathOp.CEIL, MathOp.ROUND])
        return Call(name, (expr(r, t, depth - 1),), t)
    if element == I64:
        op = r.choice(ARITHMETIC)
    else:
        op = r.choice([*ARITHMETIC, Op.DIV] if element.is_float else INTEGER)
    return Binary(op, expr(r, t, depth - 1), expr(r, t, depth - 1))


def vector(r: Random, t: Type, depth: int) -> Expr:
    inner = r.choice([d for d in range(1, t.lanes) if t.lanes % d == 0])
    kind = r.random()
    if kind < 0.5:
        return Broadcast(expr(r, t.with_lanes(inner), depth - 1), t.lanes // inner)
    if kind < 0.75 or t.element.is_float:
        source = expr(r, t.with_lanes(r.choice([1, 2, 4])), depth - 1)
        low = 0 if r.random() < 0.7 else -1
        picks = tuple(r.randrange(low, source.type.lanes) for _ in range(t.lanes))
        return Gather(source, picks)
    op = r.choice([Op.ADD, Op.MIN, Op.MAX])
    return VectorReduce(op, expr(r, t.with_lanes(t.lanes * 2), depth - 1), t.lanes)


def any_expr(r: Random, depth: int = 4) -> Expr:
    element = r.choice([I64, I64, BOOL, r.choice(SMALL), r.choice(FLOATS)])
    return expr(r, Type(element, r.choice([1, 1, 2, 4, 6, 8, 12])), r.randint(1, depth))


def values(r: Random, e: Expr) -> dict[str, Any]:
    """A value for each variable of `e`."""
    env: dict[str, Any] = {name: r.randint(-20, 20) for name in (*INDEX_NAMES, "t")}
    for n in nodes(e):
        if isinstance(n, Var) and n.name not in env:
            drawn = [scalar(r, n.type.element) for _ in range(n.type.lanes)]
            env[n.name] = drawn if n.type.lanes > 1 else drawn[0]
    return env


def scalar(r: Random, element: DType) -> int | float | bool:
    if element == BOOL:
        return r.random() < 0.5
    if element.is_float:
        special = [0.0, -0.0, 1.0, float("inf"), -float("inf"), float("nan"), 1e-3]
        return r.choice(special) if r.random() < 0.3 else r.uniform(-100, 100)
    low, high = element.limits
    return r.choice([low, high, 0, 1, r.randint(low, high), r.randint(0, 9)])


def buffers() -> dict[str, Any]:
    r = Random(7)
    made = {}
    for element in (*SMALL, *FLOATS, BOOL):
        data = [scalar(r, element) for _ in range(BUFFER_SIZE)]
        made[buffer_of(element)] = np.array(data).astype(numpy_dtype(element))
    made[buffer_of(I64)] = np.array([r.randint(-20, 20) for _ in range(BUFFER_SIZE)])
    return made


def wide_data() -> list[int]:
    r = Random(3)
    low, high = I64.limits
    return [r.choice([low, high, 0, 1, -1, r.randint(low, high)]) for _ in range(BUFFER_SIZE)]


BUFFERS = buffers()
# The same with i64 data of all sizes; positions are taken to be small.
WIDE_BUFFERS = BUFFERS | {buffer_of(I64): np.array(wide_data())}


def value_of(e: Expr, env: dict[str, Any], data: dict[str, Any] = BUFFERS) -> Any:
    return evaluate(e, env, data)


def agree(a: Any, b: Any, signs: bool = True) -> bool:
    """Equal bit by bit, NaN with NaN; `signs` tells -0.0 from 0.0."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "biu":
        return bool((a == b).all())
    x, y = a.astype(np.float64), b.astype(np.float64)
    nan = np.isnan(x) & np.isnan(y)
    equal = (x == y) & ((np.signbit(x) == np.signbit(y)) | (not signs))
    return bool((equal | nan).all())


def picks_zero(e: Expr) -> bool:
    """May e depend on which of -0.0 and 0.0 min and max return?"""
    return any(
        isinstance(n, Binary | VectorReduce)
        and n.op in (Op.MIN, Op.MAX)
        and n.type.element.is_float
        for n in nodes(e)
    )

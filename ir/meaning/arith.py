"""The NumPy meaning of every operator and math function on arrays of one element type.

`nodes` states it in words. All functions work on arrays of any shape (NumPy scalars included) and
give arrays of the type's dtype, bool for comparisons. Callers hold `np.errstate(all="ignore")`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.operators import FIXED_POINT
from hbc.ir.lang.types import BOOL, F64, DType, Kind
from hbc.ir.meaning.arith_cast import round_to
from hbc.ir.meaning.numpy_types import Array, numpy_dtype
from hbc.ir.meaning.tf32 import to_tf32

BinaryMeaning = Callable[[Array, Array], Array]
UnaryMeaning = Callable[[Array], Array]

_COMMON: dict[ir.Op, BinaryMeaning] = {
    ir.Op.ADD: np.add,
    ir.Op.SUB: np.subtract,
    ir.Op.MUL: np.multiply,
    ir.Op.MIN: np.minimum,
    ir.Op.MAX: np.maximum,
    ir.Op.AND: np.bitwise_and,
    ir.Op.OR: np.bitwise_or,
    ir.Op.XOR: np.bitwise_xor,
    ir.Op.LT: np.less,
    ir.Op.LE: np.less_equal,
    ir.Op.GT: np.greater,
    ir.Op.GE: np.greater_equal,
    ir.Op.EQ: np.equal,
    ir.Op.NE: np.not_equal,
}


def binary(op: ir.Op, element: DType) -> BinaryMeaning:
    """What `a op b` is for two arrays of `element`."""
    if element.is_float:
        return _OF_FLOATS.get(op) or _COMMON[op]
    if op in FIXED_POINT:
        return _fixed_point(op, element)
    integer: dict[ir.Op, BinaryMeaning] = {ir.Op.DIV: _divide, ir.Op.MOD: _modulo, ir.Op.SHL: _left}
    return integer.get(op) or (_right if op is ir.Op.SHR else _COMMON[op])


@cache
def unary(op: ir.UnaryOp, element: DType) -> UnaryMeaning:
    """What `op a` is for an array of `element`."""
    match op:
        case ir.UnaryOp.NEG:
            return np.negative
        case ir.UnaryOp.ABS:
            return np.absolute
        case ir.UnaryOp.NOT:
            return np.logical_not if element == BOOL else np.bitwise_not


@cache
def call(name: ir.MathOp, source: DType, target: DType) -> UnaryMeaning:
    """What the math function is for an array of `source`; `target` differs for REINTERPRET only."""
    if name is ir.MathOp.REINTERPRET:
        return lambda x: np.asarray(x).view(numpy_dtype(target))
    exact = _EXACT.get(name)
    if exact is not None and source == F64:
        return exact
    wide = exact or MATH[name]
    # f64 has more than twice the bits of f32, so rounding its result is rounding once.
    return lambda x: round_to(wide(np.asarray(x).astype(np.float64)), target)


def reduce(op: ir.Op, element: DType, x: Array, lanes: int) -> Array:
    """Each run of `len(x) / lanes` adjacent elements of the vector `x` folded, halves first."""
    fold = binary(op, element)
    rows = x.reshape(lanes, -1)
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        paired = fold(rows[:, :half], rows[:, half : 2 * half])
        rows = np.concatenate([paired, rows[:, 2 * half :]], axis=1)
    return np.ascontiguousarray(rows[:, 0])


def _divide(a: Array, b: Array) -> Array:
    """Floor; 0 for a zero divisor; the least integer / -1 wraps to itself."""
    zero = np.equal(b, 0)
    one = np.ones((), np.asarray(b).dtype)
    if np.asarray(b).dtype.kind == "u":
        return _keep(np.where(zero, 0, np.floor_divide(a, np.where(zero, one, b))), a)
    minus = np.equal(b, -1)
    quotient = np.floor_divide(a, np.where(zero | minus, one, b))
    return _keep(np.where(zero, 0, np.where(minus, np.negative(a), quotient)), a)


def _modulo(a: Array, b: Array) -> Array:
    """a - floor(a / b) * b, with the sign of the divisor; 0 for a zero divisor."""
    one = np.ones((), np.asarray(b).dtype)
    trivial = np.equal(b, 0) if one.dtype.kind == "u" else np.equal(b, 0) | np.equal(b, -1)
    return _keep(np.where(trivial, 0, np.mod(a, np.where(trivial, one, b))), a)


def _fixed_point(op: ir.Op, t: DType) -> BinaryMeaning:
    """In 64 bits, of which at most half are an operand's."""
    wide = np.int64 if t.kind is Kind.INT else np.uint64
    low, high = (wide(limit) for limit in t.limits)
    one, bits = wide(1), wide(t.bits)
    exact: dict[ir.Op, BinaryMeaning] = {
        ir.Op.MULHI: lambda a, b: a * b >> bits,
        ir.Op.MULROUND: lambda a, b: (a * b + (one << bits - wide(2))) >> bits - one,
        ir.Op.AVG: lambda a, b: (a + b) >> one,
        ir.Op.AVGUP: lambda a, b: (a + b + one) >> one,
        ir.Op.ABSD: lambda a, b: np.maximum(a, b) - np.minimum(a, b),
        ir.Op.ADDSAT: lambda a, b: np.minimum(np.maximum(a + b, low), high),
        ir.Op.SUBSAT: lambda a, b: np.minimum(np.maximum(a, b + low) - b, high),
    }
    return lambda a, b: _keep(exact[op](np.asarray(a).astype(wide), np.asarray(b).astype(wide)), a)


def _scaled(a: Array, b: Array) -> Array:
    """a * 2^b, rounded once."""
    steps = np.clip(np.nan_to_num(b), -MOST_STEPS, MOST_STEPS).astype(np.int32)
    return np.where(np.isnan(b), b, np.ldexp(a, steps))


MOST_STEPS: Final = 4096
"""More than there are exponents."""
_OF_FLOATS: dict[ir.Op, BinaryMeaning] = {
    ir.Op.DIV: np.divide,
    ir.Op.MOD: np.mod,
    ir.Op.SHL: _scaled,
}


def _left(a: Array, b: Array) -> Array:
    return np.left_shift(a, _amount(b))


def _right(a: Array, b: Array) -> Array:
    return np.right_shift(a, _amount(b))


def _amount(b: Array) -> Array:
    bits = np.asarray(b).dtype.itemsize * 8
    return np.asarray(np.bitwise_and(b, np.asarray(bits - 1, np.asarray(b).dtype)))


def _keep(x: Array, like: Array) -> Array:
    return x.astype(np.asarray(like).dtype)


def _rsqrt(x: Array) -> Array:
    root: Array = np.sqrt(x)
    return np.asarray(1.0 / root)


_EXACT: dict[ir.MathOp, UnaryMeaning] = {
    ir.MathOp.SQRT: np.sqrt,
    ir.MathOp.FLOOR: np.floor,
    ir.MathOp.CEIL: np.ceil,
    ir.MathOp.ROUND: np.rint,
    ir.MathOp.TF32: to_tf32,
}

MATH: dict[ir.MathOp, UnaryMeaning] = {
    ir.MathOp.EXP: np.exp,
    ir.MathOp.EXP2: np.exp2,
    ir.MathOp.LOG: np.log,
    ir.MathOp.RSQRT: _rsqrt,
    ir.MathOp.SIN: np.sin,
    ir.MathOp.COS: np.cos,
    ir.MathOp.TANH: np.tanh,
    **_EXACT,
}
"""On f64, or wider for the oracle."""

"""The meaning of operators on single Python integers and NumPy float scalars, for the interpreter.

The same meaning as `arith` and `arith_cast` (a test compares them), without the cost of arrays:
integers and bools are Python's, floats are NumPy scalars of their type, so that they round. Equal
arguments give the same function object.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.operators import FIXED_POINT
from hbc.ir.lang.types import BOOL, DType, Kind
from hbc.ir.meaning import arith, arith_cast
from hbc.ir.meaning.numpy_types import numpy_dtype

Scalar = Any
"""int, bool or a NumPy float scalar."""

INLINE_COMPARISON = {
    ir.Op.LT: "<",
    ir.Op.LE: "<=",
    ir.Op.GT: ">",
    ir.Op.GE: ">=",
    ir.Op.EQ: "==",
    ir.Op.NE: "!=",
}
"""Operators whose Python spelling means the same for every type."""


@cache
def wrapping(element: DType) -> Callable[[int], int]:
    """Any integer reduced to the range of an integer type, modulo its width."""
    lo, hi = element.limits
    size = hi - lo + 1
    return lambda x: (x - lo) % size + lo


@cache
def binary(op: ir.Op, element: DType) -> Callable[[Scalar, Scalar], Scalar]:
    """What `a op b` is for two scalars of `element`."""
    if element.is_float:
        meaning = arith.binary(op, element)
        return lambda a, b: meaning(a, b)[()]
    wrap = wrapping(element)
    mask = element.bits - 1
    table: dict[ir.Op, Callable[[Scalar, Scalar], Scalar]] = {
        ir.Op.ADD: lambda a, b: wrap(a + b),
        ir.Op.SUB: lambda a, b: wrap(a - b),
        ir.Op.MUL: lambda a, b: wrap(a * b),
        ir.Op.DIV: lambda a, b: wrap(a // b) if b else 0,
        ir.Op.MOD: lambda a, b: a % b if b else 0,
        ir.Op.MIN: min,
        ir.Op.MAX: max,
        ir.Op.AND: lambda a, b: a & b,
        ir.Op.OR: lambda a, b: a | b,
        ir.Op.XOR: lambda a, b: a ^ b,
        ir.Op.SHL: lambda a, b: wrap(a << (b & mask)),
        ir.Op.SHR: lambda a, b: a >> (b & mask),
    }
    exact = FIXED_POINT.get(op)
    return table[op] if exact is None else lambda a, b: wrap(exact(a, b, element))


@cache
def unary(op: ir.UnaryOp, element: DType) -> Callable[[Scalar], Scalar]:
    """What `op a` is for a scalar of `element`."""
    if element.is_float:
        meaning = arith.unary(op, element)
        return lambda a: meaning(a)
    if element == BOOL:
        return lambda a: not a
    wrap = wrapping(element)
    match op:
        case ir.UnaryOp.NEG:
            return lambda a: wrap(-a)
        case ir.UnaryOp.ABS:
            return lambda a: wrap(abs(a))
        case ir.UnaryOp.NOT:
            return lambda a: wrap(~a)


@cache
def cast(source: DType, target: DType) -> Callable[[Scalar], Scalar]:
    """How a scalar of `source` becomes one of `target`."""
    if target == BOOL:
        return bool
    if target.is_float:
        direct = _directly(source, target)
        if direct is not None:
            return direct
        held = numpy_dtype(source)
        return lambda a: arith_cast.cast(np.asarray(a, held), source, target)[()]
    if source.is_float:
        return lambda a: _truncate(float(a), target)
    wrap = wrapping(target)
    return lambda a: wrap(int(a))


def _directly(source: DType, target: DType) -> Callable[[Scalar], Scalar] | None:
    """The constructor of a NumPy float where that rounds once; None where it may not."""
    if target.kind is not Kind.FLOAT or (not source.is_float and source.bits > 32):
        return None
    kind: Callable[[Scalar], Scalar] = numpy_dtype(target).type
    return (lambda a: kind(float(a))) if source.kind in (Kind.BFLOAT, Kind.FLOAT8) else kind


@cache
def call(name: ir.MathOp, source: DType, target: DType) -> Callable[[Scalar], Scalar]:
    """What the math function is for a scalar of `source`."""
    meaning, held = arith.call(name, source, target), numpy_dtype(source)
    return lambda a: python_scalar(meaning(np.asarray(a, held))[()], target)


def python_scalar(x: Scalar, element: DType) -> Scalar:
    """A NumPy scalar in the form that the interpreter keeps it in."""
    if element.is_float:
        return x
    return bool(x) if element == BOOL else int(x)


def _truncate(a: float, target: DType) -> int:
    lo, hi = target.limits
    if math.isnan(a):
        return 0
    if a >= hi:
        return hi
    return lo if a <= lo else int(a)

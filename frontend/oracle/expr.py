"""Expressions of the checked program as functions from points to values with error bounds."""

from __future__ import annotations

import numpy as np

from hbc.frontend.oracle import floats as oracle_float
from hbc.frontend.oracle import integers as oracle_integer
from hbc.frontend.oracle.access import Meaning, access
from hbc.frontend.oracle.points import Buffers, Points
from hbc.frontend.oracle.value import Value, compare, declared, exact, select
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DType
from hbc.ir.meaning import arith
from hbc.ir.meaning.numpy_types import numpy_dtype


def meaning(e: ir.Expr, buffers: Buffers) -> Meaning:
    """`e` as a function of the points; it reads Funcs and inputs through `buffers`."""
    match e:
        case ir.Const(value=value, type=t):
            constant = _constant(value, t.element)
            return lambda points: constant
        case ir.Var(name=name):
            return lambda points: _variable(name, points)
        case ir.Cast(type=t, value=value):
            return _cast(meaning(value, buffers), value.type.element, t.element)
        case ir.Binary(op=op, a=a, b=b):
            x, y, element = meaning(a, buffers), meaning(b, buffers), a.type.element
            return lambda points: binary(op, element, x(points), y(points))
        case ir.Unary(op=uop, a=a):
            x, element = meaning(a, buffers), a.type.element
            return lambda points: _unary(uop, element, x(points))
        case ir.Select(condition=c, a=a, b=b):
            z, x, y = (meaning(one, buffers) for one in (c, a, b))
            element = a.type.element
            return lambda points: select(z(points), x(points), y(points), element)
        case ir.Access(indices=indices):
            return access(e, tuple(meaning(i, buffers) for i in indices), buffers)
        case ir.Call(name=function, args=args, type=t):
            x, source = meaning(args[0], buffers), args[0].type.element
            return lambda points: _call(function, source, t.element, x(points))
        case ir.Let(name=name, value=value, body=body):
            return _let(name, meaning(value, buffers), meaning(body, buffers))
        case _:
            raise InternalError(
                f"the oracle met a {type(e).__name__}, which is no value of a point"
            )


def binary(op: ir.Op, element: DType, a: Value, b: Value) -> Value:
    """`a op b` for operands of `element`."""
    if op in ir.COMPARISONS:
        if element == BOOL:
            x = np.asarray(arith.binary(op, element)(a.x, b.x))
            return Value(x, oracle_integer.binary(ir.Op.XOR, BOOL, a, b).e)
        return compare(arith.binary(op, element), a, b)
    if element.is_float:
        return oracle_float.binary(op, element, a, b)
    return oracle_integer.binary(op, element, a, b)


def _constant(value: int | float | bool, element: DType) -> Value:
    if element.is_float:
        return oracle_float.constant(float(value), element)
    return Value(np.asarray(value, numpy_dtype(element)))


def _variable(name: str, points: Points) -> Value:
    bound = points.lets.get(name)
    return Value(points.variable(name)) if bound is None else bound


def _let(name: str, value: Meaning, body: Meaning) -> Meaning:
    def evaluate(points: Points) -> Value:
        hidden = points.lets.get(name)
        points.lets[name] = value(points)
        result = body(points)
        if hidden is None:
            del points.lets[name]
        else:
            points.lets[name] = hidden
        return result

    return evaluate


def _cast(value: Meaning, source: DType, target: DType) -> Meaning:
    if source == target:
        return value
    match source.is_float, target.is_float:
        case True, True:
            return lambda points: oracle_float.convert(value(points), source, target)
        case True, False:
            return lambda points: oracle_integer.from_float(value(points), target)
        case False, True:
            return lambda points: oracle_integer.to_float(value(points), source, target)
        case _:
            return lambda points: oracle_integer.convert(value(points), source, target)


def _unary(op: ir.UnaryOp, element: DType, v: Value) -> Value:
    x = np.asarray(arith.unary(op, element)(v.x))
    if element.is_float or element == BOOL:
        return Value(x, v.e)
    return oracle_integer.unary_range(v, element, x)


def _call(name: ir.MathOp, source: DType, target: DType, v: Value) -> Value:
    if name is not ir.MathOp.REINTERPRET:
        return oracle_float.call(name, source, v)
    bits = np.ascontiguousarray(declared(v, source)).view(numpy_dtype(target))
    result = exact(bits.reshape(np.shape(v.x)), target)
    if v.e is not None:
        result.e = np.where(v.e > 0, np.inf, 0.0)
    return result

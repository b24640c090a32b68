"""Integers and bools that may depend on uncertain floats: intervals, wrapped when they must be."""

from __future__ import annotations

import numpy as np

from hbc.frontend.oracle.value import Value, tidy, uncertainty, work_dtype
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DType
from hbc.ir.meaning import arith, arith_cast
from hbc.ir.meaning.numpy_types import Array


def binary(op: ir.Op, element: DType, a: Value, b: Value) -> Value:
    """`a op b` for integers or bools, not a comparison of integers."""
    if element == BOOL:
        return _logical(op, a, b)
    x = np.asarray(arith.binary(op, element)(a.x, b.x))
    if a.e is None and b.e is None:
        return Value(x)
    ea, eb = uncertainty(a, element), uncertainty(b, element)
    fa, fb = a.x.astype(np.float64), b.x.astype(np.float64)
    match op:
        case ir.Op.ADD | ir.Op.SUB:
            whole = fa + fb if op is ir.Op.ADD else fa - fb
            return _wrapped(x, whole, ea + eb, element)
        case ir.Op.MUL:
            return _wrapped(x, fa * fb, np.abs(fa) * eb + np.abs(fb) * ea + ea * eb, element)
        case ir.Op.MIN | ir.Op.MAX:
            end = np.minimum if op is ir.Op.MIN else np.maximum
            middle = end(fa, fb)
            return tidy(
                x, np.maximum(end(fa + ea, fb + eb) - middle, middle - end(fa - ea, fb - eb))
            )
        case ir.Op.MOD:
            return tidy(x, _remainder(fa, fb, ea, eb, element))
        case ir.Op.DIV | ir.Op.SHR:
            spread = _monotone(op, element, a, b, ea, x)
            return tidy(x, np.where(eb > 0, _width(element), spread))
        case _:
            return tidy(x, np.where((ea > 0) | (eb > 0), _width(element), 0.0))


def _monotone(op: ir.Op, element: DType, a: Value, b: Value, ea: Array, x: Array) -> Array:
    """How far a quotient moves when its dividend moves by `ea`."""
    lo, hi = element.limits
    meaning = arith.binary(op, element)
    ends = []
    for moved in (a.x.astype(np.float64) - ea, a.x.astype(np.float64) + ea):
        inside = arith_cast.saturate(moved, element)
        ends.append(np.abs(np.asarray(meaning(inside, b.x)).astype(np.float64) - x))
    spread = np.where(ea > 0, np.maximum(*ends), 0.0)
    return np.asarray(np.where(ea >= float(hi) - float(lo), _width(element), spread))


def _remainder(a: Array, b: Array, ea: Array, eb: Array, element: DType) -> Array:
    """How far a remainder moves: as far as the dividend, or between 0 and the divisor."""
    known = (eb == 0) & (b > 0) & (np.abs(a) + ea < 2.0**52)
    by = np.where(known, b, 1.0)
    rest = np.mod(a, by)
    within = (rest - ea >= 0) & (rest + ea < by)
    spread = np.where(within, ea, np.maximum(rest, by - 1 - rest))
    return np.where((ea > 0) | (eb > 0), np.where(known, spread, _width(element)), 0.0)


def _logical(op: ir.Op, a: Value, b: Value) -> Value:
    op = {ir.Op.MIN: ir.Op.AND, ir.Op.MUL: ir.Op.AND, ir.Op.MAX: ir.Op.OR, ir.Op.ADD: ir.Op.OR}.get(
        op, op
    )
    x = np.asarray(arith.binary(op, BOOL)(a.x, b.x))
    if a.e is None and b.e is None:
        return Value(x)
    ua, ub = uncertainty(a, BOOL), uncertainty(b, BOOL)
    either = ua | ub
    if op is ir.Op.AND:
        either = either & (a.x | ua) & (b.x | ub)
    elif op is ir.Op.OR:
        either = either & (~a.x | ua) & (~b.x | ub)
    return tidy(x, either)


def _width(element: DType) -> float:
    lo, hi = element.limits
    return float(hi) - float(lo)


def _wrapped(x: Array, whole: Array, e: Array, element: DType) -> Value:
    """Uncertain values that leave the type's range may be any value of the type."""
    lo, hi = element.limits
    leaves = (e > 0) & ~((whole - e >= lo) & (whole + e <= hi))
    return tidy(x, np.where(leaves, _width(element), e))


def convert(v: Value, source: DType, target: DType) -> Value:
    """A cast from an integer or bool to an integer or bool."""
    x = arith_cast.cast(v.x, source, target)
    if v.e is None or source == target:
        return Value(x, v.e)
    if target == BOOL:
        return tidy(x, (v.e > 0) & (np.abs(v.x.astype(np.float64)) <= v.e))
    if source == BOOL:
        return tidy(x, v.e.astype(np.float64))
    return _wrapped(x, v.x.astype(np.float64), v.e, target)


def from_float(v: Value, target: DType) -> Value:
    """A cast from a float: truncates, saturates, NaN gives 0 (as bool: whether it is not 0)."""
    if target == BOOL:
        x = np.asarray(v.x != 0)
        return Value(x) if v.e is None else tidy(x, (v.e > 0) & ~(np.abs(v.x) > v.e))
    x = arith_cast.saturate(v.x, target)
    if v.e is None:
        return Value(x)
    ends = [arith_cast.saturate(v.x + s * v.e, target).astype(np.float64) for s in (-1, 1)]
    spread = np.maximum(ends[1] - x, x - ends[0])
    return tidy(x, np.where(np.isinf(v.e), _width(target), np.where(v.e > 0, spread, 0.0)))


def to_float(v: Value, source: DType, target: DType) -> Value:
    """A cast to a float type, rounded once."""
    held = arith_cast.cast(v.x, source, target)
    x = held.astype(work_dtype(target))
    if v.e is None:
        return Value(x)
    e = v.e.astype(np.float64)
    slack = np.where(e > 0, np.abs(x) * 2.0**-target.precision * 2, 0.0)
    return tidy(x, e + slack.astype(np.float64))


def unary_range(v: Value, element: DType, x: Array) -> Value:
    """Negation, complement and absolute value move as far as their operand, or wrap."""
    if v.e is None:
        return Value(x)
    lo = element.limits[0]
    wraps = (v.e > 0) & (v.x.astype(np.float64) - v.e <= lo)
    return tidy(x, np.where(wraps, _width(element), v.e))

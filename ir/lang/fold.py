"""Arithmetic on literals: what one lane of each operator gives, to the last bit.

Results are None where the answer is better left to run time: inexact functions, and the sign of
`min(-0.0, 0.0)`.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Final

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.operators import FIXED_POINT
from hbc.ir.lang.types import BF16, F8E4M3, F8E5M2, F16, F32, F64, DType, Kind

Value = int | float | bool

EXACT_IN_F64: Final = 1 << 53  # every integer up to here is a float64

_COMPARE: dict[ir.Op, Callable[[Value, Value], bool]] = {
    ir.Op.LT: operator.lt,
    ir.Op.LE: operator.le,
    ir.Op.GT: operator.gt,
    ir.Op.GE: operator.ge,
    ir.Op.EQ: operator.eq,
    ir.Op.NE: operator.ne,
}
_BITS: dict[ir.Op, Callable[[int, int], int]] = {
    ir.Op.AND: operator.and_,
    ir.Op.OR: operator.or_,
    ir.Op.XOR: operator.xor,
}
_INTEGER: dict[ir.Op, Callable[[int, int], int]] = {
    ir.Op.ADD: operator.add,
    ir.Op.SUB: operator.sub,
    ir.Op.MUL: operator.mul,
    ir.Op.DIV: lambda a, b: a // b if b else 0,
    ir.Op.MOD: lambda a, b: a % b if b else 0,
    ir.Op.MIN: min,
    ir.Op.MAX: max,
    **_BITS,
}
_FLOAT: dict[ir.Op, Callable[[float, float], float]] = {
    ir.Op.ADD: operator.add,
    ir.Op.SUB: operator.sub,
    ir.Op.MUL: operator.mul,
}


def to_tf32(x: float) -> float:
    """As `ir/meaning/tf32.py`, of one number."""
    if x == 0 or not math.isfinite(x):
        return x
    step = max(math.frexp(x)[1] - 11, -136)
    rounded = math.ldexp(math.floor(abs(math.ldexp(x, -step)) + 0.5), step)
    return math.copysign(rounded if rounded < 2.0**128 else math.inf, x)


_EXACT_CALLS: dict[ir.MathOp, Callable[[float], float]] = {
    ir.MathOp.SQRT: math.sqrt,
    ir.MathOp.FLOOR: math.floor,
    ir.MathOp.CEIL: math.ceil,
    ir.MathOp.ROUND: round,
    ir.MathOp.TF32: to_tf32,
}


def wrap(value: int, element: DType) -> int:
    """The integer modulo 2^bits, in the range of the type."""
    low, high = element.limits
    if low <= value <= high:
        return value
    value &= (1 << element.bits) - 1
    return value - (1 << element.bits) if value > high else value


def round_to(value: float, element: DType) -> float:
    """The nearest float of the type (ties to even), infinite beyond its range (f8e4m3: NaN). bf16
    rounds to f32 first, as ml_dtypes and the C code do."""
    if element in _LEAST_UNIT:
        return _to_float8(value, element)
    if element == F64 or not math.isfinite(value):
        return value
    if element == BF16:
        return _to_bf16(round_to(value, F32))
    code = {F16: "<e", F32: "<f"}[element]
    try:
        (rounded,) = struct.unpack(code, struct.pack(code, value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(rounded)


def convert(value: Value, source: DType, target: DType) -> Value | None:
    """Meaning of `Cast` for one lane."""
    if target.kind is Kind.BOOL:
        return value != 0
    if target.is_float:
        if isinstance(value, int) and abs(value) > EXACT_IN_F64:
            return None
        return round_to(float(value), target)
    if not source.is_float:
        return wrap(int(value), target)
    low, high = target.limits
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(value), low), high)


def binary(op: ir.Op, a: Value, b: Value, element: DType) -> Value | None:
    """Meaning of `Binary` for one lane; `element` is the type of the operands."""
    if op in ir.COMPARISONS:
        return _COMPARE[op](a, b)
    if element.kind is Kind.BOOL:
        return bool(_BITS[op](int(a), int(b))) if op in _BITS else None
    if element.is_float:
        return _float(op, float(a), float(b), element)
    x, y = int(a), int(b)
    if op is ir.Op.SHL:
        return wrap(x << y % element.bits, element)
    if op is ir.Op.SHR:
        return x >> y % element.bits
    if op in FIXED_POINT:
        return wrap(FIXED_POINT[op](x, y, element), element)
    return wrap(_INTEGER[op](x, y), element)


def unary(op: ir.UnaryOp, a: Value, element: DType) -> Value | None:
    """Meaning of `Unary` for one lane."""
    if element.kind is Kind.BOOL:
        return not a if op is ir.UnaryOp.NOT else None
    if op is ir.UnaryOp.NOT:
        return wrap(~int(a), element)
    value = -a if op is ir.UnaryOp.NEG else abs(a)
    return value if element.is_float else wrap(int(value), element)


def call(name: ir.MathOp, a: Value, element: DType) -> Value | None:
    """Meaning of the calls that are exact; None for the others and outside their domain."""
    function = _EXACT_CALLS.get(name)
    x = float(a)
    if function is None or not math.isfinite(x) or (name is ir.MathOp.SQRT and x < 0):
        return None
    return math.copysign(round_to(float(function(x)), element), x)


def _float(op: ir.Op, a: float, b: float, element: DType) -> float | None:
    if op in (ir.Op.MIN, ir.Op.MAX):
        if math.isnan(a) or math.isnan(b):
            return math.nan
        if a == b:
            return a if math.copysign(1, a) == math.copysign(1, b) else None
        return min(a, b) if op is ir.Op.MIN else max(a, b)
    if op is ir.Op.DIV:
        return round_to(_divide(a, b), element)
    # Two float64 roundings of f16, bf16 or f32 operands give what one would: 53 >= 2 * 24 + 2.
    return round_to(_FLOAT[op](a, b), element) if op in _FLOAT else None


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


_LEAST_UNIT: Final = {F8E4M3: -9, F8E5M2: -16}
"""The exponent of the least number above zero."""
_LARGEST: Final = {F8E4M3: 448.0, F8E5M2: 57344.0}


def _to_float8(value: float, element: DType) -> float:
    if abs(value) <= 2 * _LARGEST[element]:
        unit = max(math.frexp(value)[1] - element.precision, _LEAST_UNIT[element])
        value = math.copysign(math.ldexp(round(math.ldexp(value, -unit)), unit), value)
        if abs(value) <= _LARGEST[element]:
            return value
    if math.isnan(value) or not element.has_infinity:
        return math.nan
    return math.copysign(math.inf, value)


def _to_bf16(value: float) -> float:
    if not math.isfinite(value):
        return value
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    bits += 0x7FFF + (bits >> 16 & 1)
    (rounded,) = struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))
    return float(rounded)

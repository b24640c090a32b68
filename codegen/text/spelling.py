"""C's spelling of element types and of constants."""

from __future__ import annotations

import math
import struct

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.types import F16, DType, Kind


def int_type(bits: int, *, signed: bool) -> str:
    return f"{'' if signed else 'u'}int{bits}_t"


def unsigned_type(bits: int) -> str:
    return int_type(bits, signed=False)


def c_type(t: DType) -> str:
    """The type in memory: narrow floats are their bits, bool is a byte."""
    if t.is_int:
        return int_type(t.bits, signed=t.kind is Kind.INT)
    if t.kind is Kind.BOOL:
        return "uint8_t"
    return unsigned_type(t.bits) if t.is_narrow else {"f32": "float", "f64": "double"}[t.name]


def value_type(t: DType) -> str:
    """The type of a named value."""
    return "bool" if t.kind is Kind.BOOL else c_type(t)


def constant(value: int | float | bool, t: DType) -> str:
    """A literal of type `t`; negative ones carry their sign and need care beside operators."""
    if t.kind is Kind.BOOL:
        return "true" if value else "false"
    if t.is_int:
        return _int_constant(int(value), t)
    if t.is_narrow:
        return f"0x{narrow_bits(float(value), t):0{t.bits // 4}x}"
    return _float_constant(float(value), t.bits)


def initialiser(value: int | float | bool, t: DType) -> str:
    """A literal inside a table, where the element type is known."""
    if t.kind is Kind.BOOL:
        return "1" if value else "0"
    return constant(value, t)


def narrow_bits(value: float, t: DType) -> int:
    """The bits of a constant of a narrow float type."""
    if t.kind is Kind.FLOAT8:
        return _float8_bits(value, t)
    if t.kind is Kind.FLOAT:
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    if math.isnan(value):
        return bits >> 16 | 0x40
    if bits & 0xFFFF:
        raise InternalError(f"codegen: {value!r} is not a bf16")
    return bits >> 16


def _float8_bits(value: float, t: DType) -> int:
    """As the upper byte of an f16, which f8e5m2 is; f8e4m3 has exponents of 2^-8 as much."""
    if t.name == "f8e5m2":
        return narrow_bits(value, F16) >> 8
    if math.isnan(value):
        return 0x7F
    half = narrow_bits(value / 256, F16)
    return (half >> 8 & 0x80) | (half >> 7 & 0x7F)


def wrapped(value: int, t: DType) -> int:
    """The value in an integer type: as arithmetic wraps it."""
    low, high = t.limits
    return (value - low) % (high - low + 1) + low


def _int_constant(value: int, t: DType) -> str:
    low, high = t.limits
    if not low <= value <= high:
        raise InternalError(f"codegen: {value} is not of type {t}")
    if t.bits >= 32 and value == low and t.kind is Kind.INT:
        return f"INT{t.bits}_MIN"
    if t.bits == 64:
        if t.kind is Kind.UINT:
            return f"UINT64_C({value})"
        return f"INT64_C({value})" if abs(value) >> 31 else str(value)
    return f"{value}u" if t.kind is Kind.UINT and t.bits == 32 else str(value)


def _float_constant(value: float, bits: int) -> str:
    if math.isnan(value):
        return "NAN" if bits == 32 else "(double)NAN"
    if math.isinf(value):
        sign = "-" if value < 0 else ""
        return f"{sign}INFINITY" if bits == 32 else f"{sign}(double)INFINITY"
    return f"{_shortest(value)}f" if bits == 32 else repr(value)


def _shortest(value: float) -> str:
    """The shortest decimal that reads back as the same f32."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("<f", float(text)) == struct.pack("<f", value):
            return text if "." in text or "e" in text else f"{text}.0"
    raise InternalError(f"codegen: {value!r} is not an f32")

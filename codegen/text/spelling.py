"""C's spelling of element types and of constants."""

from __future__ import annotations

import math
import struct

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.types import DType, Kind


def int_type(bits: int, *, signed: bool) -> str:
    return f"{'' if signed else 'u'}int{bits}_t"


def unsigned_type(bits: int) -> str:
    return int_type(bits, signed=False)


def c_type(t: DType) -> str:
    """The type in memory: f16 and bf16 are their bits, bool is a byte."""
    if t.is_int:
        return int_type(t.bits, signed=t.kind is Kind.INT)
    if t.kind is Kind.BOOL:
        return "uint8_t"
    return {"f32": "float", "f64": "double", "f16": "uint16_t", "bf16": "uint16_t"}[t.name]


def value_type(t: DType) -> str:
    """The type of a named value."""
    return "bool" if t.kind is Kind.BOOL else c_type(t)


def constant(value: int | float | bool, t: DType) -> str:
    """A literal of type `t`; negative ones carry their sign and need care beside operators."""
    if t.kind is Kind.BOOL:
        return "true" if value else "false"
    if t.is_int:
        return _int_constant(int(value), t)
    if t.bits == 16:
        return f"0x{half_bits(float(value), t):04x}"
    return _float_constant(float(value), t.bits)


def initialiser(value: int | float | bool, t: DType) -> str:
    """A literal inside a table, where the element type is known."""
    if t.kind is Kind.BOOL:
        return "1" if value else "0"
    return constant(value, t)


def half_bits(value: float, t: DType) -> int:
    """The 16 bits of an f16 or bf16 constant."""
    if t.kind is Kind.FLOAT:
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    if math.isnan(value):
        return bits >> 16 | 0x40
    if bits & 0xFFFF:
        raise InternalError(f"codegen: {value!r} is not a bf16")
    return bits >> 16


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

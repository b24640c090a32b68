"""Scalars as ctypes passes them to the entry points: in the C type of the parameter, halves as their bits."""

from __future__ import annotations

import ctypes
from typing import Any

C_TYPES: dict[str, Any] = {
    "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "bool": ctypes.c_uint8,
    "f8e4m3": ctypes.c_uint8, "f8e5m2": ctypes.c_uint8,
    "f16": ctypes.c_uint16, "bf16": ctypes.c_uint16, "f32": ctypes.c_float, "f64": ctypes.c_double,
}  # fmt: skip


def by_value(element: str, data: bytes) -> Any:
    """The argument for a scalar of that type, whose bytes these are."""
    return C_TYPES[element].from_buffer_copy(data)

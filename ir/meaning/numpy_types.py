"""How NumPy arrays hold element types (bf16 and floats of 8 bits by ml_dtypes), and the poison of fresh
memory."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hbc.ir.lang.types import BF16, BOOL, DTYPES, F8E4M3, F8E5M2, F16, F32, F64, DType

Array = npt.NDArray[Any]
_ML_DTYPES = {BF16: "bfloat16", F8E4M3: "float8_e4m3fn", F8E5M2: "float8_e5m2"}
PLAIN = tuple(t for t in DTYPES.values() if t not in _ML_DTYPES)
"""The types that NumPy has by itself."""

# Quiet NaNs whose payload no arithmetic produces.
_POISON_BITS: dict[DType, int] = {
    F16: 0x7EAD,
    BF16: 0x7FDB,
    F8E4M3: 0xFF,
    F8E5M2: 0xFD,
    F32: 0x7FDEAD5A,
    F64: 0x7FFDEAD5DEAD5A5A,
}


@cache
def _garbage() -> bytes:
    from random import Random  # NumPy's generators take long to import

    return Random(0xDEAD).randbytes(4096)


@cache
def numpy_dtype(element: DType) -> np.dtype[Any]:
    """The NumPy dtype that holds `element`."""
    if element in _ML_DTYPES:
        import ml_dtypes  # here, since it takes 5 ms

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[element]))
        return found
    if element == BOOL:
        return np.dtype(np.bool_)
    return np.dtype(f"{element.kind.value}{element.bits}")


def element_of(dtype: np.dtype[Any]) -> DType | None:
    """The element type that `dtype` holds, or None when the language has no such type."""
    # See `is_of_ml_dtypes`.
    known = DTYPES.values() if "ml_dtypes" in sys.modules else PLAIN
    return next((t for t in known if numpy_dtype(t) == dtype), None)


def is_of_ml_dtypes(dtype: np.dtype[Any]) -> bool:
    """Whether it holds bf16 or a float of 8 bits. Nothing does before ml_dtypes, which takes 5 ms, is
    imported."""
    return "ml_dtypes" in sys.modules and any(dtype == numpy_dtype(t) for t in _ML_DTYPES)


def bits_dtype(element: DType) -> np.dtype[Any]:
    """The unsigned integer dtype of the same width."""
    return np.dtype(f"uint{element.bits}")


def poison(element: DType, count: int) -> Array:
    """`count` elements as fresh memory holds them: NaNs of a special payload, or garbage."""
    if element.is_float:
        bits = np.full(count, _POISON_BITS[element], bits_dtype(element))
        return bits.view(numpy_dtype(element))
    whole = np.frombuffer(_garbage(), bits_dtype(element))
    garbage = np.resize(whole, count)
    if element == BOOL:
        return (garbage & 1).astype(np.bool_)
    return garbage.view(numpy_dtype(element))


def is_poison(values: Array, element: DType) -> Array:
    """Where float `values` still are the poison that `poison` wrote."""
    return np.asarray(values.view(bits_dtype(element)) == _POISON_BITS[element])

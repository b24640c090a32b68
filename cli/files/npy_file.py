"""Reads `.npy` files: the header checked here, the elements mapped and not read.

NumPy's own reader takes shapes such as `(True,)`, and opens archives and pickles. Format: NumPy
Enhancement Proposal 1, versions 1.0 to 3.0.
"""

from __future__ import annotations

import ast
import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import numpy as np

    from hbc.cli.files.loaded import Array

MAGIC, ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"
LENGTH_BYTES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # of the header's length, by version
LONGEST_HEADER = 10_000  # bytes, as in NumPy: that of an array without fields takes some hundred
MOST_DIMENSIONS = 32
MOST_ELEMENTS, MOST_BYTES = 1 << 54, 32  # of an array, of an element: their product is an int64
KEYS = {"descr", "fortran_order", "shape"}


class NpyError(Exception):
    """The file holds no array of numbers."""


def read_npy(path: Path) -> Array:
    """The array, mapped read-only. NpyError says what is wrong with the file, OSError why it cannot be
    read."""
    import numpy as np

    with path.open("rb") as file:
        fields = _header(file)
        start = file.tell()
        there = file.seek(0, 2) - start
    dtype, shape = _dtype(fields["descr"]), _shape(fields["shape"])
    needed = math.prod(shape) * dtype.itemsize
    if there < needed:
        raise NpyError(f"it is cut off: it has {there} of the {needed} bytes of its elements")
    if needed == 0:  # which cannot be mapped
        return np.empty(shape, dtype)
    mapped: Array = np.memmap(
        path, dtype=dtype, mode="r", offset=start, shape=shape,
        order="F" if fields["fortran_order"] else "C",
    )  # fmt: skip
    return mapped


def _header(file: BinaryIO) -> dict[str, Any]:
    begin = file.read(8)
    if begin.startswith(ARCHIVE):
        raise NpyError("it holds several arrays (.npz)")
    if not begin.startswith(MAGIC) or len(begin) < 8:
        raise NpyError("it is not a .npy file")
    counted = LENGTH_BYTES.get((begin[6], begin[7]))
    if counted is None:
        raise NpyError(f"its version {begin[6]}.{begin[7]} is unknown")
    length = int.from_bytes(file.read(counted), "little")
    if length > LONGEST_HEADER:
        raise NpyError(f"its header has {length} bytes: at most {LONGEST_HEADER} are read")
    text = file.read(length)
    if len(text) < length:
        raise NpyError("it is cut off in its header")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, of odd literals
            written = text.decode("utf-8" if begin[6] == 3 else "latin-1").strip()
            fields = ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as failure:
        raise NpyError("its header is damaged") from failure
    if not isinstance(fields, dict) or fields.keys() != KEYS:
        raise NpyError("its header is damaged")
    return fields


def _dtype(written: object) -> np.dtype[Any]:
    import numpy as np

    if not isinstance(written, str):
        raise NpyError("its elements are records, not numbers")
    if written in ("<f1", "|f1"):  # as ml_dtypes' float8_e5m2 is saved, and not read again
        written = "|V1"
    try:
        dtype = np.dtype(written)
    except (TypeError, ValueError, SyntaxError) as failure:
        raise NpyError("its header names no element type") from failure
    if dtype.hasobject or dtype.names or dtype.subdtype or dtype.itemsize > MOST_BYTES:
        raise NpyError("its elements are no numbers")
    return dtype


def _shape(written: object) -> tuple[int, ...]:
    """A tuple of extents whose product, zeros left out, is a length that can be."""
    extents = written if isinstance(written, tuple) else None
    if extents is None or any(type(n) is not int or n < 0 for n in extents):
        raise NpyError("its header names no shape")
    if len(extents) > MOST_DIMENSIONS or math.prod(n or 1 for n in extents) > MOST_ELEMENTS:
        raise NpyError("its shape is too large")
    return extents

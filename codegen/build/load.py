"""Calls a compiled kernel in this process, through its strided entry point."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.codegen.c.abi import ordered
from hbc.codegen.c.by_value import by_value
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError, ToolError
from hbc.ir.lang.kernel import Argument, Kernel

if TYPE_CHECKING:
    import numpy as np

Compiled = Callable[[Mapping[str, int], Mapping[str, "np.ndarray"]], None]


class KernelError(HbcError):
    """The kernel refused its arguments; `code` is what it returned."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(Diagnostic(message))


def load(path: Path, kernel: Kernel) -> Compiled:
    """The compiled kernel as a function of sizes and arrays by name; outputs are written in place.
    Arrays may have any strides as long as the last dimension is contiguous. Raises KernelError when
    the kernel returns an error, ToolError when the library cannot be loaded."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as e:
        raise ToolError(Diagnostic(f"cannot load `{path}`: {e}")) from e
    entry = library[f"{kernel.name}_strided"]
    entry.restype = ctypes.c_int
    strerror = library[f"{kernel.name}_strerror"]
    strerror.restype = ctypes.c_char_p

    def call(sizes: Mapping[str, int], arrays: Mapping[str, np.ndarray]) -> None:
        values: list[object] = [ctypes.c_int64(sizes[s.name]) for s in kernel.sizes]
        for a in ordered(kernel):
            values += _pass(a, arrays[a.name])
        code = entry(*values)
        if code != 0:
            raise KernelError(code, strerror(code).decode())

    return call


def _pass(a: Argument, array: np.ndarray) -> list[object]:
    """The pointer and the strides, in elements, of all dimensions but the last; a scalar by value."""
    if a.is_scalar and array.ndim == 0:
        return [by_value(a.element.name, array.tobytes())]
    size = array.dtype.itemsize
    if array.ndim != len(a.extents) or size != a.element.bytes:
        raise InternalError(f"load: `{a.name}` is {array.dtype} of rank {array.ndim}")
    if array.shape[-1] > 1 and array.strides[-1] != size:
        raise InternalError(f"load: the last dimension of `{a.name}` is not contiguous")
    if any(s % size for n, s in zip(array.shape, array.strides, strict=True) if n > 1):
        raise InternalError(f"load: the strides of `{a.name}` are not whole elements")
    strides = [ctypes.c_int64(s // size) for s in array.strides[:-1]]
    return [ctypes.c_void_p(array.ctypes.data), *strides]

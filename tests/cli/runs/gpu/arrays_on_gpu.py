"""Memory of this process that says it lies on a GPU, in the ways of several libraries."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

DOUBLED = """
size N, M
input A: f32[N, M]
output O: f32[N, M]
O[i, j] = A[i, j] * 2
schedule gpu for cuda { O.split(j, jo, ji, 8).gpu_blocks(i, jo).gpu_threads(ji) }
"""
"""A kernel for such arrays."""


def cuda_array_interface(array: Any) -> dict[str, Any]:
    """What CUDA's array interface, version 3, says of memory where the array lies."""
    return {
        "shape": array.shape, "strides": array.strides, "typestr": array.dtype.str,
        "data": array.__array_interface__["data"], "version": 3,
    }  # fmt: skip


class ByInterface:
    """As CuPy's arrays."""

    def __init__(self, array: Any, device: int) -> None:
        self.kept, self.device = array, SimpleNamespace(id=device)
        self.__cuda_array_interface__ = cuda_array_interface(array)


class ByDLPack:
    """As jax's: what NumPy's capsule says, but for the device. `kind` 2 is kDLCUDA."""

    def __init__(self, array: Any, device: int, kind: int = 2) -> None:
        self.kept, self.device = array, (kind, device)

    def __dlpack__(self, *, stream: int) -> Any:
        assert stream == 1, "the legacy default stream"
        capsule = self.kept.__dlpack__()
        prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
        pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
        device = (ctypes.c_int32 * 2).from_address(pointer(capsule, b"dltensor") + 8)
        device[0], device[1] = self.device
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class ByTensor:
    """As torch's tensors."""

    def __init__(self, array: Any, device: int) -> None:
        self.kept, self.shape, self.dtype = array, array.shape, f"torch.{array.dtype}"
        self.device = f"cuda:{device}"

    def data_ptr(self) -> int:
        return int(self.kept.ctypes.data)

    def stride(self) -> tuple[int, ...]:
        return tuple(s // self.kept.itemsize for s in self.kept.strides)

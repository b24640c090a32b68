"""Memory of this process that says it lies on a GPU, in the ways of several libraries."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any


class ByInterface:
    """As CuPy's arrays."""

    def __init__(self, array: Any, device: int) -> None:
        self.kept, self.device = array, SimpleNamespace(id=device)
        address, read_only = array.__array_interface__["data"]
        self.__cuda_array_interface__ = {
            "shape": array.shape, "strides": array.strides, "typestr": array.dtype.str,
            "data": (address, read_only), "version": 3,
        }  # fmt: skip


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

"""Arrays that show themselves through DLPack alone: those in the processor's memory by NumPy, those in a
GPU's by the structure that DLPack describes (dlpack.h, version 0.8: DLManagedTensor)."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from hbc.ir.ground.diag import ArgumentError, Diagnostic
from hbc.ir.ground.record import record

CPU_KINDS = (1, 3)  # kDLCPU, kDLCUDAHost
GPU_KINDS = (2, 13)  # kDLCUDA, kDLCUDAManaged
LEGACY_STREAM = 1  # how `__dlpack__` is told of CUDA's default stream
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_NAME = b"dltensor"


@record
class OnGpu:
    """What a capsule says: `kind` is named like NumPy's and torch's types, `strides` are in elements.
    `capsule` keeps the memory."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    kind: str
    device: str
    capsule: Any


class _Tensor(ctypes.Structure):
    """DLTensor, with which DLManagedTensor begins."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


# Not `ctypes.pythonapi.PyCapsule_GetPointer`, whose types others in the process may set.
_prototype = ctypes.PYFUNCTYPE(ctypes.POINTER(_Tensor), ctypes.py_object, ctypes.c_char_p)
_held = _prototype(("PyCapsule_GetPointer", ctypes.pythonapi))


def opened(array: Any, what: str) -> np.ndarray[Any, Any] | OnGpu:
    """The array. ArgumentError where its device is of another kind, or the library refuses."""
    kind, number = array.__dlpack_device__()
    try:
        if int(kind) in CPU_KINDS:
            return np.from_dlpack(array)
        if int(kind) in GPU_KINDS:
            return _on_gpu(array.__dlpack__(stream=LEGACY_STREAM))
    except (BufferError, RuntimeError, TypeError, ValueError) as failure:
        raise ArgumentError(
            Diagnostic(f"{what} cannot be read through DLPack: {failure}")
        ) from failure
    raise ArgumentError(
        Diagnostic(
            f"{what} lies on a device ({int(kind)}:{number}) that hbc has no code for",
            hint="copy it to the processor's memory, or to that of an NVIDIA GPU",
        )
    )


def _on_gpu(capsule: Any) -> OnGpu:
    seen = _held(capsule, _NAME).contents
    shape = tuple(seen.shape[n] for n in range(seen.ndim))
    strides = tuple(seen.strides[n] for n in range(seen.ndim)) if seen.strides else None
    called = _CODES.get(seen.code, f"type {seen.code} of ")
    kind = "bool" if called == "bool" and seen.bits == 8 else f"{called}{seen.bits}"
    if seen.lanes != 1:
        kind = f"{kind} x {seen.lanes}"
    address = (seen.data or 0) + seen.byte_offset
    return OnGpu(address, shape, strides, kind, f"cuda:{seen.device_id}", capsule)

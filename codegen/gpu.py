"""The GPUs of this machine, asked through the driver's own library."""

from __future__ import annotations

import ctypes
import os
from functools import cache

from hbc.ir.diag import Diagnostic, ToolError

_DRIVER = "libcuda.so.1"
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*


@cache
def gpu_count() -> int:
    """How many GPUs CUDA may use here; 0 without a driver, or when the environment hides them."""
    driver = _driver()
    count = ctypes.c_int(0)
    if driver is None or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


@cache
def gpu_arch() -> str:
    """The architecture of the first GPU, such as `sm_90`. ToolError when there is none."""
    driver = _driver()
    if driver is None or gpu_count() == 0:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        hint = None if hidden is None else f"CUDA_VISIBLE_DEVICES is `{hidden}`"
        raise ToolError(Diagnostic("there is no GPU that CUDA can use here", hint=hint))
    parts = []
    for attribute in (_MAJOR, _MINOR):
        value = ctypes.c_int(0)
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, 0)
        parts.append(value.value)
    return f"sm_{parts[0]}{parts[1]}"


@cache
def _driver() -> ctypes.CDLL | None:
    try:
        driver = ctypes.CDLL(_DRIVER)
    except OSError:
        return None
    return driver if driver.cuInit(0) == 0 else None

"""The device that arrays lie on becomes the current one for a call, and is not left so.

The CUDA runtime inside compiled kernels works on the primary context that is current in the calling
thread (CUDA's manual, "Interactions with the CUDA Driver API"), which torch and CuPy share.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from hbc.codegen.build.gpu import arch_of, gpu_count, started_driver
from hbc.ir.ground.diag import ArgumentError, Diagnostic


def is_current(device: str, arch: str) -> bool:
    """Whether `current` has nothing to do. ArgumentError as there."""
    found = ctypes.c_void_p()
    _asked(started_driver().cuCtxGetCurrent(ctypes.byref(found)), device)
    return bool(found.value == _context_for(device, arch))


@contextmanager
def current(device: str, arch: str) -> Iterator[None]:
    """`device`: `cuda:N`. ArgumentError where there is none of that number, or where it does not run code
    for `arch`."""
    driver, found = started_driver(), ctypes.c_void_p()
    context = ctypes.c_void_p(_context_for(device, arch))
    _asked(driver.cuCtxPushCurrent_v2(context), device)
    try:
        yield
    finally:
        _asked(driver.cuCtxPopCurrent_v2(ctypes.byref(found)), device)


def _context_for(device: str, arch: str) -> Any:
    """The primary context of a device that runs code for `arch`."""
    number = int(device.removeprefix("cuda:"))
    context = _context(number)
    if arch_of(number) != arch:
        raise ArgumentError(
            Diagnostic(
                f"the arrays lie on {device}, which is {arch_of(number)}; the code is for {arch}",
                hint=f"start Python with CUDA_VISIBLE_DEVICES={number}: the code is for the first GPU",
            )
        )
    return context


@cache
def _context(number: int) -> Any:
    """The primary context of a device, which stays as long as the process does, as the runtime's own."""
    if not 0 <= number < gpu_count():
        known = ", ".join(f"cuda:{n}" for n in range(gpu_count()))
        raise ArgumentError(
            Diagnostic(f"there is no device cuda:{number}", hint=f"there is {known}")
        )
    driver, context = started_driver(), ctypes.c_void_p()
    _asked(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number), f"cuda:{number}")
    return context.value


def _asked(status: int, device: str) -> None:
    if status:
        raise ArgumentError(Diagnostic(f"{device} cannot be used: the driver says {status}"))

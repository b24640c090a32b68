"""The GPU of this machine, asked through the driver's own library, and who can load code onto it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.ir.ground.diag import Diagnostic, ToolError, UsageError
from hbc.ir.ground.record import record

if TYPE_CHECKING:
    from hbc.ir.lang.instruction import Instruction

_DRIVER = "libcuda.so.1"
_MAJOR, _MINOR, _L2_BYTES = 75, 76, 38  # CU_DEVICE_ATTRIBUTE_*
_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_VISIBLE = "CUDA_VISIBLE_DEVICES"

# Packages by the name of what is imported, the preferred one first.
LOADERS = {"pycuda": "pycuda", "cuda-bindings": "cuda.bindings"}
LOADER_VARIABLE = "HBC_CUDA_LOADER"


@record
class GpuFacts:
    """The first GPU: its name, architecture (`sm_90`), bytes of its L2 cache; and the version of CUDA
    that the driver is of (13000 is 13.0)."""

    name: str
    arch: str
    l2_bytes: int
    driver: int


@record
class GpuLibrary:
    """A compiled kernel for the GPU, and the package that gives it memory there."""

    path: Path
    loader: str


@cache
def gpu_count() -> int:
    """How many GPUs CUDA may use here; 0 without a driver, or when the environment hides them."""
    driver, status = _driver()
    count = ctypes.c_int(0)
    if driver is None or status or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


@cache
def gpu_facts() -> GpuFacts:
    """What the first GPU is. ToolError says why there is none."""
    _, status = _driver()
    driver = started_driver()
    if gpu_count() == 0:
        raise ToolError(Diagnostic(f"no GPU: {_why_none(driver, status)}"))
    device, version, name = ctypes.c_int(0), ctypes.c_int(0), ctypes.create_string_buffer(256)
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDriverGetVersion(ctypes.byref(version))
    driver.cuDeviceGetName(name, len(name), device)
    l2 = _attribute(driver, device, _L2_BYTES)
    return GpuFacts(name.value.decode("utf-8", "replace"), arch_of(0), l2, version.value)


def started_driver() -> ctypes.CDLL:
    """The driver's library. ToolError where there is none."""
    driver, _ = _driver()
    if driver is None:
        raise ToolError(Diagnostic("no GPU: there is no NVIDIA driver here"))
    return driver


@cache
def arch_of(number: int) -> str:
    """The architecture of a GPU by its number, such as `sm_90`. ToolError without a driver."""
    driver, device = started_driver(), ctypes.c_int(0)
    driver.cuDeviceGet(ctypes.byref(device), number)
    major, minor = (_attribute(driver, device, n) for n in (_MAJOR, _MINOR))
    return f"sm_{major}{minor}"


def device_of(address: int) -> int:
    """The number of the GPU in whose memory the address lies; 0 where the driver knows of none."""
    number = ctypes.c_int(0)
    known = started_driver().cuPointerGetAttribute(
        ctypes.byref(number), _ORDINAL, ctypes.c_uint64(address)
    )
    return number.value if known == 0 else 0


def _attribute(driver: ctypes.CDLL, device: ctypes.c_int, number: int) -> int:
    value = ctypes.c_int(0)
    driver.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return value.value


def _why_none(driver: ctypes.CDLL, status: int) -> str:
    hidden = os.environ.get(_VISIBLE)
    if hidden is not None:
        return f"{_VISIBLE} is `{hidden}`, which leaves none"
    text = ctypes.c_char_p()
    driver.cuGetErrorString(status, ctypes.byref(text))
    said = text.value.decode("utf-8", "replace") if text.value else f"error {status}"
    return f"the driver says: {said}" if status else "the driver sees none"


def gpu_arch() -> str:
    """The architecture of the first GPU, such as `sm_90`. ToolError when there is none."""
    return gpu_facts().arch


def find_loader() -> str:
    """The package that runs kernels: $HBC_CUDA_LOADER, else the first one that is installed. ToolError
    says what to install."""
    wanted = os.environ.get(LOADER_VARIABLE)
    if wanted and wanted not in LOADERS:
        hint = f"it can be {' or '.join(LOADERS)}"
        raise UsageError(Diagnostic(f"{LOADER_VARIABLE} is `{wanted}`", hint=hint))
    for loader, module in LOADERS.items():
        if wanted in (None, "", loader) and _is_installed(module):
            return loader
    absent = f"no {wanted}" if wanted else f"neither {' nor '.join(LOADERS)}"
    raise ToolError(
        Diagnostic(f"there is {absent} to run code on the GPU with: `pip install 'hbc[cuda]'`")
    )


def _is_installed(module: str) -> bool:
    package, _, inner = module.partition(".")
    if find_spec(package) is None:
        return False
    return not inner or find_spec(module) is not None


@cache
def _driver() -> tuple[ctypes.CDLL | None, int]:
    """The driver's library and what it answered to being started."""
    try:
        driver = ctypes.CDLL(_DRIVER)
    except OSError:
        return None, 0
    return driver, driver.cuInit(0)


def gpu_archs(listed: str | None, instructions: Sequence[Instruction] = ()) -> tuple[str, ...]:
    """Those of --arch, else that of the GPU here, else the usual ones that have the instructions."""
    from hbc.codegen.build.nvcc import DEFAULT_ARCHS, checked_archs

    if listed is not None:
        return checked_archs([a.strip() for a in listed.split(",")])
    if gpu_count():
        return (gpu_arch(),)
    from hbc.codegen.cuda.limits import able_archs

    return able_archs(instructions, DEFAULT_ARCHS)


def usable_there(instructions: Sequence[Instruction], listed: str | None) -> list[Instruction]:
    """The instructions that all architectures have which --arch lists, or which are usual."""
    from hbc.codegen.cuda.limits import had_by_all

    return had_by_all(instructions, gpu_archs(listed))

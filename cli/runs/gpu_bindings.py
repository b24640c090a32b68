"""A GPU through NVIDIA's cuda-bindings (12 or newer), which need no compiler to install."""

from __future__ import annotations

from typing import Any

from cuda.bindings import driver as cuda

from hbc.cli.runs.gpu_driver import Event, Gpu, GpuError


def open_gpu() -> Gpu:
    """The first GPU that the environment leaves visible. GpuError when there is none."""
    return _BindingsGpu()


def _asked(function: str, *arguments: Any) -> Any:
    """A call of the driver: its one result, a tuple of several, or None. GpuError when it fails."""
    status, *results = getattr(cuda, function)(*arguments)
    if status != cuda.CUresult.CUDA_SUCCESS:
        _, text = cuda.cuGetErrorString(status)
        said = text.decode() if text else str(status)
        out_of_memory = status == cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        raise GpuError(f"{function} failed: {said}", out_of_memory)
    return tuple(results) if len(results) > 1 else results[0] if results else None


class _BindingsGpu:
    def __init__(self) -> None:
        _asked("cuInit", 0)
        self._device = _asked("cuDeviceGet", 0)
        _asked("cuCtxSetCurrent", _asked("cuDevicePrimaryCtxRetain", self._device))
        self._stream = _asked("cuStreamCreate", 0)

    def l2_bytes(self) -> int:
        attribute = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        return int(_asked("cuDeviceGetAttribute", attribute, self._device))

    def stream(self) -> int:
        return int(self._stream)

    def allocate(self, size: int) -> int:
        return int(_asked("cuMemAlloc", size))

    def free(self, address: int) -> None:
        _asked("cuMemFree", address)

    def room(self) -> tuple[int, int]:
        free, total = _asked("cuMemGetInfo")
        return free, total

    def write(self, address: int, data: memoryview) -> None:
        _asked("cuMemcpyHtoD", address, data, data.nbytes)

    def read(self, into: memoryview, address: int) -> None:
        _asked("cuStreamSynchronize", self._stream)
        _asked("cuMemcpyDtoH", into, address, into.nbytes)

    def fill(self, address: int, byte: int, size: int) -> None:
        _asked("cuMemsetD8Async", address, byte, size, self._stream)

    def copy(self, to: int, source: int, size: int) -> None:
        _asked("cuMemcpyDtoDAsync", to, source, size, self._stream)

    def record(self) -> Event:
        event = _asked("cuEventCreate", 0)
        _asked("cuEventRecord", event, self._stream)
        found: Event = event
        return found

    def seconds(self, start: Any, end: Any) -> float:
        _asked("cuEventSynchronize", end)
        took = float(_asked("cuEventElapsedTime", start, end)) * 1e-3
        _asked("cuEventDestroy", start)
        _asked("cuEventDestroy", end)
        return took

    def close(self) -> None:
        _asked("cuStreamDestroy", self._stream)
        _asked("cuCtxSetCurrent", None)
        _asked("cuDevicePrimaryCtxRelease", self._device)

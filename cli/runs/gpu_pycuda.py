"""A GPU through pycuda (2024.1 or newer)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pycuda.driver as cuda

from hbc.cli.runs.gpu_driver import Event, Gpu, GpuError


@contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except cuda.Error as e:
        raise GpuError(str(e), isinstance(e, cuda.MemoryError)) from e


def open_gpu() -> Gpu:
    """The first GPU that the environment leaves visible. GpuError when there is none."""
    return _PycudaGpu()


class _PycudaGpu:
    def __init__(self) -> None:
        with _asking():
            cuda.init()
            self._device = cuda.Device(0)
            self._context = self._device.retain_primary_context()
            self._context.push()
            self._stream = cuda.Stream()
        self._held: dict[int, Any] = {}  # pycuda frees what nobody refers to

    def l2_bytes(self) -> int:
        with _asking():
            return int(self._device.get_attribute(cuda.device_attribute.L2_CACHE_SIZE))

    def stream(self) -> int:
        return int(self._stream.handle)

    def allocate(self, size: int) -> int:
        with _asking():
            memory = cuda.mem_alloc(size)
        self._held[int(memory)] = memory
        return int(memory)

    def free(self, address: int) -> None:
        with _asking():
            self._held.pop(address).free()

    def room(self) -> tuple[int, int]:
        with _asking():
            free, total = cuda.mem_get_info()
        return free, total

    def write(self, address: int, data: memoryview) -> None:
        with _asking():
            cuda.memcpy_htod(address, data)

    def read(self, into: memoryview, address: int) -> None:
        with _asking():
            self._stream.synchronize()
            cuda.memcpy_dtoh(into, address)

    def fill(self, address: int, byte: int, size: int) -> None:
        with _asking():
            cuda.memset_d8_async(address, byte, size, self._stream)

    def copy(self, to: int, source: int, size: int) -> None:
        with _asking():
            cuda.memcpy_dtod_async(to, source, size, self._stream)

    def record(self) -> Event:
        with _asking():
            event: Event = cuda.Event().record(self._stream)
        return event

    def seconds(self, start: Any, end: Any) -> float:
        with _asking():
            end.synchronize()
            return float(end.time_since(start)) * 1e-3

    def close(self) -> None:
        with _asking():
            for memory in self._held.values():
                memory.free()
            self._held.clear()
            del self._stream
            cuda.Context.pop()
            self._context.detach()

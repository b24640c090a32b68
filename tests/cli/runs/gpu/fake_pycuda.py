"""Stands for `pycuda.driver` 2026.1: the part of it that we use, over `fake_device`, with the argument
types that its wrapper (src/wrapper/wrap_cudadrv.cpp) takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pycuda.fake_device import DRIVER as _driver
from pycuda.fake_device import L2_BYTES, OUT_OF_MEMORY, Refused


class Error(Exception):
    pass


class MemoryError(Error):
    pass


class LogicError(Error):
    pass


@contextmanager
def _call(name: str) -> Iterator[None]:
    try:
        yield
    except Refused as e:
        kind = MemoryError if e.code == OUT_OF_MEMORY else LogicError
        raise kind(f"{name} failed: {e}") from None


def _typed(value: Any, *types: type) -> Any:
    if not isinstance(value, types):
        raise TypeError(f"Python argument types did not match C++ signature: {type(value)}")
    return value


class device_attribute:
    L2_CACHE_SIZE = "L2_CACHE_SIZE"


def init(flags: int = 0) -> None:
    with _call("cuInit"):
        _driver.start()


class Device:
    def __init__(self, number: int) -> None:
        with _call("cuDeviceGet"):
            _driver.device(_typed(number, int))

    def get_attribute(self, which: object) -> int:
        assert which is device_attribute.L2_CACHE_SIZE
        return L2_BYTES

    def retain_primary_context(self) -> Context:
        with _call("cuDevicePrimaryCtxRetain"):
            _driver.retain()
        return Context()


class Context:
    def push(self) -> None:
        with _call("cuCtxPushCurrent"):
            _driver.make_current(True)

    @staticmethod
    def pop() -> None:
        with _call("cuCtxPopCurrent"):
            _driver.make_current(False)

    def detach(self) -> None:
        with _call("cuDevicePrimaryCtxRelease"):
            _driver.release()


class Stream:
    def __init__(self, flags: int = 0) -> None:
        with _call("cuStreamCreate"):
            self.handle = _driver.new_stream()

    def synchronize(self) -> None:
        with _call("cuStreamSynchronize"):
            _driver.check_stream(self.handle)

    def __del__(self) -> None:
        _driver.streams.discard(self.handle)


class Event:
    def __init__(self, flags: int = 0) -> None:
        with _call("cuEventCreate"):
            self.handle = _driver.new_event()

    def record(self, stream: Stream | None = None) -> Event:
        with _call("cuEventRecord"):
            _driver.record(self.handle, _typed(stream, Stream).handle)
        return self

    def synchronize(self) -> Event:
        return self

    def time_since(self, start: Event) -> float:
        with _call("cuEventElapsedTime"):
            return _driver.milliseconds(_typed(start, Event).handle, self.handle)


class DeviceAllocation:
    """Freed when nobody refers to it."""

    def __init__(self, address: int) -> None:
        self._address = address
        self._valid = True

    def __int__(self) -> int:
        return self._address

    def free(self) -> None:
        with _call("device_allocation::free" if not self._valid else "cuMemFree"):
            self._valid = False
            _driver.free(self._address)

    def __del__(self) -> None:
        if self._valid:
            self.free()


def mem_alloc(size: int) -> DeviceAllocation:
    with _call("cuMemAlloc"):
        return DeviceAllocation(_driver.allocate(_typed(size, int)))


def mem_get_info() -> tuple[int, int]:
    with _call("cuMemGetInfo"):
        _driver.need_context()
    return _driver.room, _driver.total


def memcpy_htod(dest: int, src: Any) -> None:
    with _call("cuMemcpyHtoD"):
        _driver.write(_typed(dest, int, DeviceAllocation), memoryview(src))


def memcpy_dtoh(dest: Any, src: int) -> None:
    view = memoryview(dest)
    if view.readonly:
        raise BufferError("Object is not writable.")
    with _call("cuMemcpyDtoH"):
        _driver.read(view, _typed(src, int, DeviceAllocation))


def memset_d8_async(dest: int, data: int, size: int, stream: Stream | None = None) -> None:
    if not 0 <= data < 256:
        raise OverflowError("value too large to convert to unsigned char")
    with _call("cuMemsetD8Async"):
        _driver.fill(_typed(dest, int), data, _typed(size, int), _typed(stream, Stream).handle)


def memcpy_dtod_async(dest: int, src: int, size: int, stream: Stream | None = None) -> None:
    with _call("cuMemcpyDtoDAsync"):
        _driver.copy(_typed(dest, int), _typed(src, int), size, _typed(stream, Stream).handle)

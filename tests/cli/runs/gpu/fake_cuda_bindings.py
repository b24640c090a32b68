"""Stands for `cuda.bindings.driver` 13: the part of it that we use, over `fake_device`. Every function
returns a tuple that begins with a CUresult; handles are objects, which integers may stand for."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from cuda.bindings.fake_device import DRIVER, L2_BYTES, TEXTS, Refused

CUresult = IntEnum(
    "CUresult",
    {"CUDA_SUCCESS": 0, "CUDA_ERROR_OUT_OF_MEMORY": 2}
    | {f"CUDA_ERROR_{code}": code for code in TEXTS if code not in (0, 2)},
)


class CUdevice_attribute(IntEnum):
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38


class _Handle:
    def __init__(self, value: int) -> None:
        self.value = value

    def __int__(self) -> int:
        return self.value


class CUdevice(_Handle):
    pass


class CUcontext(_Handle):
    pass


class CUstream(_Handle):
    pass


class CUevent(_Handle):
    pass


class CUdeviceptr(_Handle):
    pass


def _is(value: Any, kind: type[_Handle]) -> int:
    if not isinstance(value, (kind, int)):
        raise TypeError("an integer is required")
    return int(value)


def _of(value: Any, kind: type[_Handle]) -> int:
    if not isinstance(value, kind):
        raise TypeError(f"Argument is not instance of {kind.__name__}, found {type(value)}")
    return int(value)


def _returned(call: Callable[[], Any], *kinds: Callable[[Any], Any]) -> tuple[Any, ...]:
    try:
        found = call()
    except Refused as e:
        return (CUresult(e.code), *(None for _ in kinds))
    values = found if len(kinds) > 1 else (found,)
    return (CUresult(0), *(kind(value) for kind, value in zip(kinds, values, strict=False)))


def cuInit(flags: int) -> tuple[Any, ...]:
    return _returned(DRIVER.start)


def cuGetErrorString(error: CUresult) -> tuple[Any, ...]:
    return (CUresult(0), TEXTS[CUresult(error)].encode())


def cuDeviceGet(ordinal: int) -> tuple[Any, ...]:
    return _returned(lambda: DRIVER.device(ordinal), CUdevice)


def cuDeviceGetAttribute(attribute: CUdevice_attribute, device: CUdevice) -> tuple[Any, ...]:
    if not isinstance(attribute, CUdevice_attribute):
        raise TypeError("Argument 'attrib' has incorrect type")
    _is(device, CUdevice)
    return (CUresult(0), L2_BYTES)


def cuDevicePrimaryCtxRetain(device: CUdevice) -> tuple[Any, ...]:
    _is(device, CUdevice)
    return _returned(lambda: (DRIVER.retain(), 0x77)[1], CUcontext)


def cuDevicePrimaryCtxRelease(device: CUdevice) -> tuple[Any, ...]:
    _is(device, CUdevice)
    return _returned(DRIVER.release)


def cuCtxSetCurrent(context: CUcontext | None) -> tuple[Any, ...]:
    if context is not None:
        _is(context, CUcontext)
    return _returned(lambda: DRIVER.make_current(context is not None))


def cuStreamCreate(flags: int) -> tuple[Any, ...]:
    return _returned(DRIVER.new_stream, CUstream)


def cuStreamSynchronize(stream: CUstream) -> tuple[Any, ...]:
    return _returned(lambda: DRIVER.check_stream(_is(stream, CUstream)))


def cuStreamDestroy(stream: CUstream) -> tuple[Any, ...]:
    return _returned(lambda: DRIVER.streams.remove(_is(stream, CUstream)))


def cuMemAlloc(size: int) -> tuple[Any, ...]:
    if not isinstance(size, int):
        raise TypeError("an integer is required")
    return _returned(lambda: DRIVER.allocate(size), CUdeviceptr)


def cuMemFree(pointer: CUdeviceptr | int) -> tuple[Any, ...]:
    return _returned(lambda: DRIVER.free(_is(pointer, CUdeviceptr)))


def cuMemGetInfo() -> tuple[Any, ...]:
    return _returned(lambda: (DRIVER.need_context(), (DRIVER.room, DRIVER.total))[1], int, int)


def cuMemcpyHtoD(to: CUdeviceptr | int, source: Any, size: int) -> tuple[Any, ...]:
    view = memoryview(source).cast("B")[:size]
    return _returned(lambda: DRIVER.write(_is(to, CUdeviceptr), view))


def cuMemcpyDtoH(to: Any, source: CUdeviceptr | int, size: int) -> tuple[Any, ...]:
    view = memoryview(to).cast("B")[:size]
    return _returned(lambda: DRIVER.read(view, _is(source, CUdeviceptr)))


def cuMemsetD8Async(to: Any, byte: int, size: int, stream: CUstream) -> tuple[Any, ...]:
    if not 0 <= byte < 256:
        raise OverflowError("value too large to convert to unsigned char")
    place = _is(to, CUdeviceptr)
    return _returned(lambda: DRIVER.fill(place, byte, size, _is(stream, CUstream)))


def cuMemcpyDtoDAsync(to: Any, source: Any, size: int, stream: CUstream) -> tuple[Any, ...]:
    places = _is(to, CUdeviceptr), _is(source, CUdeviceptr)
    return _returned(lambda: DRIVER.copy(*places, size, _is(stream, CUstream)))


def cuEventCreate(flags: int) -> tuple[Any, ...]:
    return _returned(DRIVER.new_event, CUevent)


def cuEventRecord(event: CUevent, stream: CUstream) -> tuple[Any, ...]:
    return _returned(lambda: DRIVER.record(_of(event, CUevent), _is(stream, CUstream)))


def cuEventSynchronize(event: CUevent) -> tuple[Any, ...]:
    _of(event, CUevent)
    return (CUresult(0),)


def cuEventElapsedTime(start: CUevent, end: CUevent) -> tuple[Any, ...]:
    return _returned(lambda: DRIVER.milliseconds(_of(start, CUevent), _of(end, CUevent)), float)


def cuEventDestroy(event: CUevent) -> tuple[Any, ...]:
    return _returned(lambda: DRIVER.events.pop(_of(event, CUevent)) and None)

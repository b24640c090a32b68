"""The GPU through CUDA's runtime library and ctypes: memory, copies, time by events."""

import ctypes
import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np

NAMES = ("libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0")
PLACES = ("lib64", "lib", "targets/*/lib")
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3  # cudaMemcpyKind
MAJOR, MINOR, L2_BYTES = 75, 76, 38  # cudaDevAttr
WARM_UP = 3
OVERWRITTEN = 256 << 20  # bytes, at least: 80 us on the fastest card
BATCH, SHORT = 8, 1e-4  # runs of less than so many seconds are timed so many at a time


class NoDevice(Exception):
    """No runtime library, or no GPU that it can use."""


def find_runtime(nvcc):
    """The runtime library: $CUDART, of the loader's places, or beside nvcc. NoDevice without one."""
    root = Path(nvcc).resolve().parent.parent
    beside = [str(f) for place in PLACES for f in sorted(root.glob(f"{place}/libcudart.so*"))]
    for name in (os.environ.get("CUDART"), *NAMES, *beside):
        if name:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
    raise NoDevice("CUDA's runtime library was not found (name it with CUDART)")


class Device:
    """The first GPU."""

    def __init__(self, nvcc):
        self.runtime = find_runtime(nvcc)
        self.runtime.cudaGetErrorString.restype = ctypes.c_char_p
        count = ctypes.c_int()
        status = self.runtime.cudaGetDeviceCount(ctypes.byref(count))
        if status or not count.value:
            raise NoDevice(self.text(status) if status else "CUDA sees none")
        self.arch = f"sm_{self.attribute(MAJOR)}{self.attribute(MINOR)}"

    def text(self, status):
        return self.runtime.cudaGetErrorString(status).decode()

    def do(self, function, *arguments):
        """RuntimeError where the runtime says no."""
        status = self.runtime[function](*arguments)
        if status:
            raise RuntimeError(f"{function}: {self.text(status)}")

    def attribute(self, number):
        value = ctypes.c_int()
        self.do("cudaDeviceGetAttribute", ctypes.byref(value), number, 0)
        return value.value

    def about(self):
        """The name (which a cudaDeviceProp begins with), architecture and L2 cache."""
        properties = ctypes.create_string_buffer(1 << 14)
        names = ("cudaGetDeviceProperties_v2", "cudaGetDeviceProperties")
        found = next((n for n in names if hasattr(self.runtime, n)), None)
        if found:
            self.do(found, properties, 0)
        name = properties.raw[:256].split(b"\0", 1)[0].decode()
        return {"gpu": name, "arch": self.arch, "l2_bytes": self.attribute(L2_BYTES)}

    def wait(self):
        """What went wrong since, in words; None where nothing did."""
        status = self.runtime.cudaGetLastError() or self.runtime.cudaDeviceSynchronize()
        return self.text(status) if status else None

    def allocate(self, size):
        pointer = ctypes.c_void_p()
        self.do("cudaMalloc", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        return pointer.value

    @contextmanager
    def arrays(self, host):
        """Copies of the arrays on the device."""
        pointers = []
        try:
            for array in host:
                pointers.append(self.allocate(array.nbytes))
                if array.nbytes:
                    source = ctypes.c_void_p(array.ctypes.data)
                    self.copy(ctypes.c_void_p(pointers[-1]), source, array.nbytes, TO_DEVICE)
            yield pointers
        finally:
            for pointer in pointers:
                self.runtime.cudaFree(ctypes.c_void_p(pointer))

    def copy(self, to, source, size, kind):
        self.do("cudaMemcpy", to, source, ctypes.c_size_t(size), kind)

    def read(self, array, pointer):
        """Fills an array of the host from the device."""
        if array.nbytes:
            to = ctypes.c_void_p(array.ctypes.data)
            self.copy(to, ctypes.c_void_p(pointer), array.nbytes, TO_HOST)

    def time(self, run, repeat, flush=False):
        """Seconds of each of so many runs, by events; `run` must not wait. Before each the device overwrites
        its L2 cache, and meanwhile the host puts the launches into the stream, so that launching is in no
        time. Unless `flush`, one more run brings back to the cache what a run leaves there, and short runs
        are timed a few at a time; with it that run comes before, so that temporaries find their memory."""
        for _ in range(WARM_UP):
            run()
        events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in events:
            self.do("cudaEventCreate", ctypes.byref(event))
        size = max(OVERWRITTEN, 2 * self.attribute(L2_BYTES))
        other = self.allocate(size)
        try:
            batch = 1
            if not flush and self.seconds(run, 1, events) < SHORT:
                batch = BATCH
            seconds = []
            for n in range(repeat):
                if flush:
                    run()
                self.do("cudaMemset", ctypes.c_void_p(other), n & 1, ctypes.c_size_t(size))
                if not flush:
                    run()
                seconds.append(self.seconds(run, batch, events))
            return seconds
        finally:
            for event in events:
                self.runtime.cudaEventDestroy(event)
            self.runtime.cudaFree(ctypes.c_void_p(other))

    def seconds(self, run, count, events):
        """Seconds of a run, of so many one after the other."""
        self.do("cudaEventRecord", events[0], None)
        for _ in range(count):
            run()
        self.do("cudaEventRecord", events[1], None)
        self.do("cudaEventSynchronize", events[1])
        took = ctypes.c_float()
        self.do("cudaEventElapsedTime", ctypes.byref(took), *events)
        return took.value * 1e-3 / count

    def copy_rate(self, size):
        """Bytes per second, read and written, of a copy on the device: its memory's measured roof."""
        with self.arrays([np.zeros(size, np.uint8)] * 2) as (a, b):
            to, source = ctypes.c_void_p(a), ctypes.c_void_p(b)
            seconds = self.time(lambda: self.copy(to, source, size, ON_DEVICE), 20)
        return 2 * size / float(np.median(seconds))

    def peak(self, function):
        """Operations per second of one of peak.cu's programs."""
        count = 1 << 32
        for _ in range(2):  # first to learn how many make 20 ms
            self.need(function(ctypes.c_int64(count), None))
            seconds = min(self.time(lambda n=count: function(ctypes.c_int64(n), None), 5))
            rate = count / seconds
            count = int(rate * 0.02)
        return rate

    def need(self, status):
        """RuntimeError where the runtime said no."""
        if status:
            raise RuntimeError(self.text(status))

"""A GPU's driver over the memory of this process, strict: what a real one refuses, it refuses, and what
a real one would let pass unnoticed (memory never freed, a stale event) it writes to $FAKE_CUDA_LOG.

Written from the CUDA driver API's manual. FAKE_CUDA_ROOM: bytes of device memory. FAKE_CUDA_TICK: seconds
between two events.
"""

from __future__ import annotations

import atexit
import ctypes
import os
from pathlib import Path

INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 1, 2, 3, 100
INVALID_DEVICE, INVALID_CONTEXT, INVALID_HANDLE = 101, 201, 400
TEXTS = {
    0: "no error", INVALID_VALUE: "invalid argument", OUT_OF_MEMORY: "out of memory",
    NOT_INITIALIZED: "initialization error", NO_DEVICE: "no CUDA-capable device is detected",
    INVALID_DEVICE: "invalid device ordinal", INVALID_CONTEXT: "invalid device context",
    INVALID_HANDLE: "invalid resource handle",
}  # fmt: skip
ALIGNED = 256
L2_BYTES = 1 << 20


class Refused(Exception):
    """A call fails with one of the codes above."""

    def __init__(self, code: int) -> None:
        super().__init__(TEXTS[code])
        self.code = code


class FakeDriver:
    """One device, and what has been made on it."""

    def __init__(self) -> None:
        self.started = False
        self.retained = 0
        self.current = False
        self.room = int(os.environ.get("FAKE_CUDA_ROOM", str(1 << 33)))
        self.total = self.room
        self.blocks: dict[int, tuple[ctypes.Array[ctypes.c_char], int]] = {}
        self.streams: set[int] = set()
        self.events: dict[int, float | None] = {}
        self.made = 0x1000
        self.clock = 0.0
        self.fills: list[int] = []
        atexit.register(self.report)

    def report(self) -> None:
        """What was left behind, and how often large memory was overwritten."""
        log = os.environ.get("FAKE_CUDA_LOG")
        left = {"blocks": len(self.blocks), "streams": len(self.streams), "retained": self.retained}
        text = [f"{n} {name} left" for name, n in left.items() if n]
        text.append(f"{sum(size > L2_BYTES for size in self.fills)} large fills")
        if log:
            with Path(log).open("a") as file:
                file.write("\n".join(text) + "\n")

    def start(self) -> None:
        if os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] != "0":
            raise Refused(NO_DEVICE)
        self.started = True

    def device(self, number: int) -> int:
        self.need_start()
        if number != 0:
            raise Refused(INVALID_DEVICE)
        return 0

    def need_start(self) -> None:
        if not self.started:
            raise Refused(NOT_INITIALIZED)

    def need_context(self) -> None:
        self.need_start()
        if not self.current:
            raise Refused(INVALID_CONTEXT)

    def retain(self) -> None:
        self.need_start()
        self.retained += 1

    def release(self) -> None:
        if not self.retained:
            raise Refused(INVALID_CONTEXT)
        self.retained -= 1
        if not self.retained:
            self.blocks.clear()

    def make_current(self, yes: bool) -> None:
        if yes and not self.retained:
            raise Refused(INVALID_CONTEXT)
        self.current = yes

    def allocate(self, size: int) -> int:
        self.need_context()
        if size <= 0:
            raise Refused(INVALID_VALUE)
        if size > self.room:
            raise Refused(OUT_OF_MEMORY)
        held = (ctypes.c_char * (size + ALIGNED))()
        address = -(-ctypes.addressof(held) // ALIGNED) * ALIGNED
        ctypes.memset(address, 0xCC, size)
        self.blocks[address] = (held, size)
        self.room -= size
        return address

    def free(self, address: int) -> None:
        self.need_context()
        if address not in self.blocks:
            raise Refused(INVALID_VALUE)
        self.room += self.blocks.pop(address)[1]

    def check(self, address: int, size: int) -> None:
        """That the memory is one allocation's."""
        self.need_context()
        for start, (_, whole) in self.blocks.items():
            if start <= address and address + size <= start + whole:
                return
        raise Refused(INVALID_VALUE)

    def write(self, address: int, data: memoryview) -> None:
        self.check(address, data.nbytes)
        ctypes.memmove(address, data.tobytes(), data.nbytes)

    def read(self, data: memoryview, address: int) -> None:
        self.check(address, data.nbytes)
        data.cast("B")[:] = ctypes.string_at(address, data.nbytes)

    def fill(self, address: int, byte: int, size: int, stream: int) -> None:
        self.check(address, size)
        self.check_stream(stream)
        self.fills.append(size)
        ctypes.memset(address, byte, size)

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        self.check(to, size)
        self.check(source, size)
        self.check_stream(stream)
        ctypes.memmove(to, source, size)

    def new_handle(self) -> int:
        self.need_context()
        self.made += 8
        return self.made

    def new_stream(self) -> int:
        handle = self.new_handle()
        self.streams.add(handle)
        return handle

    def check_stream(self, stream: int) -> None:
        self.need_context()
        if stream not in self.streams:
            raise Refused(INVALID_HANDLE)

    def new_event(self) -> int:
        handle = self.new_handle()
        self.events[handle] = None
        return handle

    def record(self, event: int, stream: int) -> None:
        self.check_stream(stream)
        if event not in self.events:
            raise Refused(INVALID_HANDLE)
        self.clock += float(os.environ.get("FAKE_CUDA_TICK", "1e-3"))
        self.events[event] = self.clock

    def milliseconds(self, start: int, end: int) -> float:
        first, last = self.events.get(start), self.events.get(end)
        if first is None or last is None:
            raise Refused(INVALID_HANDLE)
        return 1e3 * (last - first)


DRIVER = FakeDriver()

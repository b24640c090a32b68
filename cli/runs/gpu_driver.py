"""What is asked of a GPU's driver, through pycuda or cuda-bindings, whichever is installed.

Both own the device's primary context, which the CUDA runtime inside compiled kernels uses too: device
memory and streams made here are what kernels are called with. Only `gpu_child` opens one.
"""

from __future__ import annotations

from typing import Protocol


class GpuError(Exception):
    """A call of the driver failed, in the driver's words. `out_of_memory`: for want of memory."""

    def __init__(self, said: str, out_of_memory: bool = False) -> None:
        super().__init__(said)
        self.out_of_memory = out_of_memory


class Event(Protocol):
    """A point in the stream's work."""


class Gpu(Protocol):
    """The first GPU, its primary context current in this thread, and one stream. Memory is addressed
    by integers, sizes are bytes and at least 1. Every method raises GpuError."""

    def l2_bytes(self) -> int:
        """Of its L2 cache."""

    def stream(self) -> int:
        """The stream as kernels are given it."""

    def allocate(self, size: int) -> int:
        """Memory, aligned to 256 bytes."""

    def free(self, address: int) -> None:
        """Gives memory back."""

    def room(self) -> tuple[int, int]:
        """Free bytes of the device's memory, and all."""

    def write(self, address: int, data: memoryview) -> None:
        """Copies host memory to the device."""

    def read(self, into: memoryview, address: int) -> None:
        """Copies from the device. The stream must be done."""

    def fill(self, address: int, byte: int, size: int) -> None:
        """In the stream's order."""

    def copy(self, to: int, source: int, size: int) -> None:
        """On the device, in the stream's order."""

    def record(self) -> Event:
        """An event in the stream's order."""

    def seconds(self, start: Event, end: Event) -> float:
        """Between two events; waits for the second one. Both are used up."""

    def close(self) -> None:
        """Gives the context back."""

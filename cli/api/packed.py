"""A constant input that its kernel packs once, for all calls at the same sizes."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hbc.cli.api.arrays import address_of
from hbc.ir.ground.diag import ArgumentError, Diagnostic

if TYPE_CHECKING:
    from hbc.cli.api.arguments import Plan
    from hbc.cli.api.library import Library

ALIGNMENT = 64
MOST_KEPT = 16  # sets of sizes that one input is packed for


class Packed:
    """What `kernel.pack(F=...)` gives; a call takes it where it takes the input. What was packed stays as it
    is when the array is changed later."""

    def __init__(
        self, kernel: str, name: str, array: Any, shape: tuple[int, ...] | None = None
    ) -> None:
        """`shape`: of the integers of 4 bits that the bytes of `array` hold, where it is known."""
        self.kernel, self.name, self.array, self.shape = kernel, name, array, shape
        self._memory: dict[tuple[int, ...], tuple[np.ndarray[Any, Any], int]] = {}
        self._lock = threading.Lock()

    def address(self, library: Library, sizes: tuple[int, ...]) -> int:
        """Of what is packed for these sizes, which happens the first time. ArgumentError where the kernel
        refuses them."""
        found = self._memory.get(sizes)
        if found is None:
            with self._lock:
                found = self._memory.get(sizes)
                if found is None:
                    if len(self._memory) >= MOST_KEPT:
                        self._memory.clear()
                    found = self._memory[sizes] = packed(library, self.name, self.array, sizes)
        return found[1]

    def __repr__(self) -> str:
        return f"<hbc.Packed {self.name} of {self.kernel}>"


def packed(
    library: Library, name: str, array: Any, sizes: tuple[int, ...]
) -> tuple[np.ndarray[Any, Any], int]:
    """Memory, and where in it what is packed begins."""
    length, pack = library.packs[name]
    count = length(*sizes)
    if count < 0:
        raise library.error(-count, ())
    memory = np.empty(count + ALIGNMENT, np.uint8)
    begin = memory.ctypes.data + -memory.ctypes.data % ALIGNMENT
    code = pack(*sizes, address_of(array), begin)
    if code:
        raise library.error(code, ())
    return memory, begin


def call_packed(
    plan: Plan, library: Library, inputs: Sequence[Any], passed: Sequence[Any]
) -> int:  # fmt: skip
    """Calls the code with all constant inputs packed, those that are not for this call alone; its error
    code. `passed`: what the code is given for these inputs and the outputs behind them."""
    if plan.strides is not None:
        raise ArgumentError(
            Diagnostic(
                "rows of an array lie apart: beside packed inputs, arrays are dense",
                hint="copy it with `numpy.ascontiguousarray`, or pass the input itself",
            )
        )
    held = []
    addresses = list(passed)
    for at, (name, a) in enumerate(zip(library.inputs, inputs, strict=True)):
        if isinstance(a, Packed):
            addresses[at] = a.address(library, plan.sizes)
        elif name in library.packs:
            held.append(packed(library, name, a, plan.sizes))
            addresses[at] = held[-1][1]
    return int(library.packed(*plan.sizes, *addresses))

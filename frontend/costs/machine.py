"""What a schedule has to know of a target: registers, lanes, caches."""

from __future__ import annotations

from hbc.ir.ground.record import record
from hbc.ir.lang.target import ARM, Target

PLAIN_BITS = (
    512  # on `c` loops are as long as the longest vectors that a C compiler may make of them
)

# Bytes of which a working set is at home in a cache, and cycles to read or write an element in a
# lane of 16 there. As fractions they differ little from machine to machine; what processors share is
# taken as slow as it is when others use it too.
CACHES = ((24 << 10, 0.06), (384 << 10, 0.1), (1 << 20, 0.18), (8 << 20, 0.45))
MEMORY = 0.9


@record
class Machine:
    """`vectors`: whether the schedule says which loops are lanes (on `c` the C compiler does).
    `hoards`: the C compiler loads the operands of all rows first, so that they need registers too."""

    name: str
    bits: int
    registers: int
    vectors: bool
    hoards: bool

    def lanes(self, bits: int) -> int:
        """How many elements of so many bits a vector has."""
        return max(self.bits // bits, 1)


def machine_of(target: Target) -> Machine:
    """The machine that a target stands for."""
    if target.vector_bits == 0:
        return Machine(target.name, PLAIN_BITS, 32, False, False)
    hoards = target.machine == ARM
    return Machine(target.name, target.vector_bits, target.vector_registers, True, hoards)


def access_cycles(size: float) -> float:
    """Cycles for an element that is read or written in a working set of so many bytes."""
    return next((cycles for limit, cycles in CACHES if size <= limit), MEMORY)

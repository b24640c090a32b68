"""What schedules for GPUs are weighed by: a usual GPU of data centers, as large as an H100."""

from __future__ import annotations

from hbc.ir.ground.record import record

WARP = 32
REGISTERS = 64 << 10  # of a multiprocessor, of 32 bits
MOST_REGISTERS = 255  # of a thread
MOST_THREADS = 1024  # of a block
SHARED = 164 << 10  # bytes of a multiprocessor
SHARED_OF_BLOCK = 96 << 10  # what a block of any GPU since sm_80 may have, nearly
SYSTEM_SHARED = 1 << 10  # bytes that each block loses
SHARED_OF_GROUPS = (
    227 << 10
)  # the same, and all of a multiprocessor, of GPUs that have groups of warps
THREADS, BLOCKS = 2048, 32  # of a multiprocessor at once
PROCESSORS = 132
QUARTERS = 4  # of a multiprocessor, each with schedulers and tensor cores of its own
SHARED_BYTES = 128.0  # that shared memory gives in a cycle
CACHE_BYTES = 32.0  # that a multiprocessor gets of the L2 cache in a cycle
ARRIVES_IN_BULK = 80.0  # the same of boxes that are copied in bulk
BULK_BYTES = 6300.0  # of boxes that all of them get in a cycle
MEMORY_BYTES = 1600.0  # that all get of memory in a cycle
LATENCY = 700.0  # cycles from asking memory for something to its being in shared memory
CLOCK = 1.7e9  # cycles in a second
LAUNCH = 4000.0  # cycles that a kernel takes at least
TURN = 30.0  # cycles of a turn of a loop with a barrier in it, for a warp, besides its work


@record
class Held:
    """What a block of a kernel keeps of a multiprocessor, as estimated: registers of a thread, bytes of
    shared memory, of which it may have the most; and so how many blocks are there at once (0: it does not
    fit)."""

    threads: int
    registers: int
    shared: int
    most_shared: int = SHARED_OF_BLOCK

    @property
    def blocks(self) -> int:
        if self.threads > MOST_THREADS or self.registers > MOST_REGISTERS:
            return 0
        if self.shared > self.most_shared:
            return 0
        of_block = self.threads * -(-self.registers // 8) * 8
        room = (THREADS // self.threads, BLOCKS, REGISTERS // of_block)
        return min(*room, max(SHARED, self.most_shared) // (self.shared + SYSTEM_SHARED))


KEEPING = 60.0
"""Operations in the time in which an element goes to memory and comes back."""

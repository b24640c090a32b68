"""How many blocks of a kernel a multiprocessor holds at once, and what limits that.

Numbers: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; registers are
given to warps by 256, shared memory to blocks by 128 bytes and, from 8.0 on, 1 KB more for the system.
"""

from __future__ import annotations

from hbc.ir.ground.record import record

_KIB = 1024
REGISTERS = 64 * _KIB
"""32-bit registers of a multiprocessor."""
WARP = 32


@record
class Multiprocessor:
    """What one has: threads and blocks at once, bytes of shared memory, bytes that each block loses."""

    threads: int
    blocks: int
    shared: int
    lost: int = _KIB


MULTIPROCESSORS = {
    75: Multiprocessor(1024, 16, 64 * _KIB, 0),
    80: Multiprocessor(2048, 32, 164 * _KIB), 86: Multiprocessor(1536, 16, 100 * _KIB),
    87: Multiprocessor(1536, 16, 164 * _KIB), 89: Multiprocessor(1536, 24, 100 * _KIB),
    90: Multiprocessor(2048, 32, 228 * _KIB), 100: Multiprocessor(2048, 32, 228 * _KIB),
    103: Multiprocessor(2048, 32, 228 * _KIB), 110: Multiprocessor(1536, 24, 228 * _KIB),
    120: Multiprocessor(1536, 24, 100 * _KIB), 121: Multiprocessor(1536, 24, 100 * _KIB),
}  # fmt: skip
"""By compute capability."""


@record
class Occupancy:
    """Blocks that a multiprocessor holds at once, their share of its threads in percent, and which of
    threads, blocks, registers and shared memory runs out first."""

    blocks: int
    percent: int
    limit: str


def occupancy(arch: str, threads: int, registers: int, shared: int) -> Occupancy | None:
    """Of blocks of so many threads with so many registers each, and bytes of shared memory, on an
    architecture such as `sm_80`; None for one that is not in the table."""
    digits = "".join(c for c in arch if c.isdigit())
    sm = MULTIPROCESSORS.get(int(digits)) if digits else None
    if sm is None or threads < 1:
        return None
    warps = -(-threads // WARP)
    of_warp = -(-registers * WARP // 256) * 256
    room = {
        "threads": sm.threads // (WARP * warps),
        "blocks": sm.blocks,
        "registers": REGISTERS // of_warp // 4 * 4 // warps if of_warp else sm.blocks,
        "shared memory": sm.shared // (-(-shared // 128) * 128 + sm.lost) if shared else sm.blocks,
    }
    limit = min(room, key=lambda what: room[what])
    blocks = room[limit]
    return Occupancy(blocks, 100 * blocks * WARP * warps // sm.threads, limit)

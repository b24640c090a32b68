"""Banks of shared memory: how often an access of a warp goes through, and ways to lay out registers.

Shared memory has 32 banks of 4-byte words; a bank gives one word at a time, to as many lanes as want it
(CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BANKS = 32
WARP = 32

Words = NDArray[np.int64]


def wavefronts(words: Words) -> int:
    """How many times an access goes through for the words of up to 32 lanes; -1: the lane takes no
    part. Without conflicts 1, and 0 when nobody takes part."""
    wanted = np.unique(words[words >= 0])
    return int(np.bincount(wanted % BANKS).max()) if wanted.size else 0


def wavefronts_of_warps(words: Words) -> int:
    """Of all warps of a block, one after the other."""
    return sum(wavefronts(words[start : start + WARP]) for start in range(0, words.size, WARP))


def arrangements(lanes: int, registers: int) -> dict[str, Words]:
    """Ways to lay registers into shared memory: [lane, register] is the word of each."""
    lane, register = np.indices((lanes, registers))
    odd = registers | 1
    return {
        "by register": register * lanes + lane,
        "by lane": lane * registers + register,
        "by lane, padded": lane * odd + register,
    }

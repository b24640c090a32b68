"""What the arguments of directives can be. The directives themselves: `frontend/directives/table.py`."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What may stand in a place of a directive; the text is how messages call it."""

    LOOP = "a loop"
    NEW = "the name of a new loop"
    FACTOR = "a factor of at least 1"
    COUNT = "a number of at least 0"
    INDEX = "a number or a sum of sizes"
    EXTENT = "an extent of at least 1"
    STAGE = "a Func"
    ARRAY = "a Func or input"
    MEMORY = "a kind of memory"
    CACHE = "a level of the cache"
    PARTS = "whether a loop is divided"
    CONDITION = "a condition over the sizes"


TAILS = ("guard", "mask", "shift", "exact")
PARTS = ("always", "never")
CACHES = ("L1", "L2", "L3")  # from the nearest
MEMORIES = (
    "registers", "stack", "heap", "amx_tile", "shared", "wmma_accumulator", "mma_accumulator",
    "wgmma_accumulator",
)  # fmt: skip

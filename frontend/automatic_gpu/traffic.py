"""What any block of a product takes besides its turns, and what all of it moves through memory."""

from __future__ import annotations

import math

from hbc.frontend.automatic_gpu.device import CACHE_BYTES, LATENCY, LAUNCH, MEMORY_BYTES
from hbc.frontend.automatic_gpu.products import Product
from hbc.frontend.costs.moves import Move, move

BETWEEN = 600.0  # cycles in which a block begins and ends, besides what it stores
SUM_BYTES = 4
APART = 0.1  # of the shorter of computing and moving, that they do not do together
ELEMENT = 42.0  # cycles in which a thread copies an element where they are not
ELEMENTS = 5.5  # that all threads of a multiprocessor copy so in a cycle


def ends(stored: int) -> float:
    """Cycles of filling the first stages, and of storing so many sums."""
    return LATENCY + BETWEEN + stored * SUM_BYTES / CACHE_BYTES


def traffic(p: Product) -> float:
    """Bytes of memory that the product must read and write."""
    total = math.prod(p.extents[v] for v in p.step.pure) * SUM_BYTES
    for a in (p.a, p.b):
        moving = (v for v in (*p.step.pure, p.deep) if move(a, v) is not Move.FIXED)
        total += math.prod(p.extents[v] for v in moving) * a.type.element.bytes
    return total


def with_traffic(p: Product, cycles: float) -> float:
    """The cycles of all blocks with those in which memory moves what they do, mostly at the same time."""
    moving = traffic(p) / MEMORY_BYTES
    return max(cycles, moving) + min(cycles, moving) * APART + LAUNCH


def waiting(latency: float, stages: int, steps: int) -> float:
    """Cycles of a turn at least: copies run ahead by all stages but one, or by all that there are."""
    return latency / max(min(stages - 1, steps), 1)


def by_elements(count: int, threads: int) -> float:
    """Cycles in which threads copy so many elements one by one."""
    return count / threads * ELEMENT + count / ELEMENTS

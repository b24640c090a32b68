"""Which updates of memory can be atomic."""

from __future__ import annotations

from hbc.ir.nodes import ASSOCIATIVE, Op
from hbc.ir.types import DType

LEAST_BITS = 16
"""Of an element: what `atomicCAS` compares and swaps has as many at least."""


def can_be_atomic(op: Op, element: DType) -> bool:
    """Whether a GPU does `memory = memory op value` on an element as one step."""
    return op in ASSOCIATIVE and element.bits >= LEAST_BITS

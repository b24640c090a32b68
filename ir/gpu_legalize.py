"""Vector statements for a GPU, whose threads are scalar: lanes become statements of their own.

What only copies neighbouring elements stays together, 16 bytes at most: see `gpu_copies`.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.gpu_copies import Copies, vector_copies
from hbc.ir.kernel import Kernel
from hbc.ir.legalize import legalize
from hbc.ir.target import Target


def gpu_legalize(kernel: Kernel, target: Target) -> Kernel:
    """The kernel whose only vector statements are copies, of one access each."""
    copies = Copies()
    kernel = vector_copies(kernel, copies)
    return legalize(kernel, replace(target, vector_bits=0), copies.holds)

"""Which temporary arrays of a kernel share memory, for `--emit loops` and `hbc explain`."""

from __future__ import annotations

from hbc.ir.ground.counted import listed
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import statements


def shared_lines(kernel: Kernel) -> list[str]:
    """`memory: f, g and h in turn` for each that holds several."""
    held = (s.holds for s in statements(kernel.body) if isinstance(s, ir.Allocate) and s.holds)
    return [f"memory: {listed(names)} in turn" for names in dict.fromkeys(held)]

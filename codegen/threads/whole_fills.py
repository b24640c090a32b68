"""Copies to a block's memory whose last vectors reach beyond what is needed put zeros there.

    allocate s: f16[272] in shared { for t in 34 { s[ramp(8 * t, 1, 8) if m] = a[ramp(i, 1, 8) if m] } }
->  allocate s: f16[272] in shared { for t in 34 { s[ramp(8 * t, 1, 8)] = a[ramp(i, 1, 8) if m] } }

Where no element is of two lanes. A vector is one access then, of 16 bytes too; and where rows follow each
other without a gap every element has a value, so that fragments may be loaded across their ends.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import map_stmt, statements
from hbc.ir.vectors.places_stored import times_stored


def whole_fills(kernel: Kernel) -> Kernel:
    """The kernel without masks of such stores; those of the loads stay, which give zeros."""
    return kernel.map_body(lambda s: _stmt(s, frozenset()))


def _stmt(s: ir.Stmt, filled: Collection[str]) -> ir.Stmt:
    if isinstance(s, ir.Allocate) and s.memory is Memory.SHARED and _may_be_whole(s):
        filled = {*filled, s.buffer}
    if isinstance(s, ir.Store) and s.buffer in filled and s.mask is not None:
        return replace(s, mask=None)
    return map_stmt(s, lambda e: e, lambda c: _stmt(c, filled))


def _may_be_whole(a: ir.Allocate) -> bool:
    """Whether some of the array is filled by masked copies, and no two lanes are at one element."""
    stores = [x for x in statements(a.body) if isinstance(x, ir.Store) and x.buffer == a.buffer]
    masked = [x for x in stores if x.mask is not None]
    copies = all(isinstance(x.value, ir.Load) and x.value.mask == x.mask for x in masked)
    if not masked or not copies or any(x.atomic is not None for x in stores):
        return False
    counts = times_stored(a)
    return counts is not None and bool((counts <= 1).all())

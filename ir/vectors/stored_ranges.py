"""What the integers that a kernel keeps in arrays of its own can be, from what it stores there.

    rows[..] = u16(I[..]) + u16(I[.. + 1]) + u16(I[.. + 2])   ->   rows: 0 .. 765

Elements that nothing was stored to hold anything, and whatever is computed from those goes nowhere.
"""

from __future__ import annotations

from hbc.ir.algebra.facts import Interval
from hbc.ir.algebra.intervals import UNKNOWN, Range, constant, hull
from hbc.ir.algebra.value_range import value_range
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import nodes_of

Ranges = dict[str, Interval]


def stored_ranges(kernel: Kernel) -> Ranges:
    """By array; those that are not there may hold anything of their type."""
    stores: dict[str, list[ir.Store]] = {}
    for a in nodes_of(kernel.body, ir.Allocate):
        if a.element.is_int and a.element.bits <= 32:
            stores[a.buffer] = []
    for n in nodes_of(kernel.body, ir.Store) if stores else ():
        if n.buffer in stores:
            stores[n.buffer].append(n)
    stored: Ranges = {}
    begun: set[str] = set()

    def find(name: str) -> None:
        """An array that is read while its own range is asked for may hold anything."""
        begun.add(name)
        if not stores[name] or any(s.atomic is not None for s in stores[name]):
            return
        loads = (n for s in stores[name] for n in nodes_of(s.value, ir.Load))
        for read in dict.fromkeys(n.buffer for n in loads):
            if read in stores and read not in begun:
                find(read)
        ranges = [lane_range(s.value, stored) for s in stores[name]]
        low, high = ranges[0]
        for other in ranges[1:]:
            low, high = hull((low, high), other)
        if low is not None and high is not None:
            stored[name] = Interval(ir.const_index(low), ir.const_index(high))

    for name in stores:
        if name not in begun:
            find(name)
    return stored


def lane_range(e: ir.Expr, ranges: Ranges) -> Range:
    """The least and the greatest of all lanes."""
    return value_range(e, ranges, lambda i: constant(i) if isinstance(i, ir.Const) else UNKNOWN)

"""Which elements of an array the statements in its scope store to, lane by lane, whatever their masks say.

allocate s: f16[272] { for t in 34 { s[ramp(8 * t, 1, 8) if m] = .. } }   ->   0, 1, .. 271
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.walk import free_variables, inner_statements, reads, statements, substitute
from hbc.ir.vectors.lane_offsets import lane_offsets

MOST = 1 << 20
"""Elements that are counted at most, of all iterations."""


def is_stored_whole(a: ir.Allocate) -> bool:
    """Whether every element of the array gets a value before anything in its scope reads the array."""
    if any(s.mask is not None for s, _ in _stores(a.body, a.buffer, {})):
        return False
    loops = (s for s in statements(a.body) if isinstance(s, ir.For) and reads(s, a.buffer))
    if any(s.buffer == a.buffer for x in loops for s in statements(x) if isinstance(s, ir.Store)):
        return False  # some of it may be stored after that
    counts = times_stored(a)
    return counts is not None and bool((counts > 0).all())


def times_stored(a: ir.Allocate) -> NDArray[np.int64] | None:
    """How many lanes, masked or not, store to each element of the array; None where that is not known, or
    some store elsewhere."""
    extent, found = const_value(a.extent), places_stored(a)
    if extent is None or found is None or (found.size and found.min() < 0):
        return None
    counts = np.bincount(found, minlength=int(extent))
    return counts if len(counts) == int(extent) else None


def places_stored(a: ir.Allocate) -> NDArray[np.int64] | None:
    """The elements, one entry for each lane of each iteration; None where conditions or names that no
    constant bounds decide which."""
    found: list[NDArray[np.int64]] = []
    for s, loops in _stores(a.body, a.buffer, {}):
        known = None if loops is None else lane_offsets(s.index)
        if loops is None or known is None:
            return None
        counts = [len(values) for values in loops.values()]
        if prod(counts) * len(known[1]) > MOST:
            return None
        names = {
            name: values.reshape([-1 if n == m else 1 for m in range(len(counts) + 1)])
            for n, (name, values) in enumerate(loops.items())
        }
        base = evaluated(known[0], names)
        if base is None:
            return None
        found.append(np.broadcast_to(base + np.array(known[1]), (*counts, len(known[1]))).ravel())
    return np.concatenate(found) if found else np.zeros(0, np.int64)


Loops = Mapping[str, NDArray[np.int64]]
"""The values of loop variables."""


def _stores(
    s: ir.Stmt, buffer: str, loops: Loops | None
) -> Iterator[tuple[ir.Store, Loops | None]]:
    """The stores to a buffer with the loops around them; None where something else decides which run."""
    match s:
        case ir.Store():
            if s.buffer == buffer:
                yield s, loops
        case ir.For(start=start, extent=extent, body=body):
            first, count = const_value(start), const_value(extent)
            inner = None
            if loops is not None and first is not None and count is not None and count <= MOST:
                inner = {**loops, s.var: np.arange(int(first), int(first) + int(count))}
            yield from _stores(body, buffer, inner)
        case ir.LetStmt(name=name, value=value, body=body):
            for store, around in _stores(body, buffer, loops):
                read = name in free_variables(store.index)
                index = substitute(store.index, {name: value}) if read else store.index
                yield _at(store, index), around
        case ir.If() | ir.Allocate():
            for child in inner_statements(s):
                for store, around in _stores(child, buffer, loops):
                    yield store, around if isinstance(s, ir.Allocate) else None
        case _:
            for child in inner_statements(s):
                yield from _stores(child, buffer, loops)


def _at(s: ir.Store, index: ir.Expr) -> ir.Store:
    return s if index is s.index else replace(s, index=index)

"""Which copies a GPU does asynchronously: 4, 8 or 16 neighbouring bytes to shared memory.

s[ramp(4 * t, 1, 4)] = a.f32x4[ramp(i, 1, 4)]     ->   async s[..] = a.f32x4[..]
s[t if c] = a.f32[i if c]                         ->   async s[t if c] = a.f32[i if c]
s[ramp(..)] = a.f32x4[ramp(..) if ramp(0, 1, 4) < x4(n)]   likewise: the first n, and zeros
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hbc.codegen.gpu.partial_copies import live_count
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.walk import map_stmt, statements

COPIED = (4, 8, 16)
"""Bytes of an asynchronous copy, which is aligned to them."""


def asynchronous(s: ir.Stmt, shared: Collection[str]) -> ir.Stmt:
    """The statement, whose copies to these buffers land at a wait where they can. Wide accesses are
    aligned already (see `gpu_copies`)."""
    private = {x.buffer for x in statements(s) if isinstance(x, ir.Allocate)}

    def copied(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Store) and s.buffer in shared:
            return _copy(s, private)
        return map_stmt(s, lambda e: e, copied)

    return copied(s)


def is_asynchronous(s: ir.Stmt) -> bool:
    """Whether any copy in the statement is."""
    return any(isinstance(x, ir.Store) and x.asynchronous for x in statements(s))


def _copy(s: ir.Store, private: Collection[str]) -> ir.Store:
    value = s.value
    if s.atomic is not None or not isinstance(value, ir.Load) or value.buffer in private:
        return s
    if value.type.element.bytes * value.type.lanes not in COPIED:
        return s
    if not _is_run(s.index) or not _is_run(value.index) or s.index.type.lanes != value.type.lanes:
        return s
    partial = value.mask is not None and live_count(value.mask) is None
    if value.type.lanes > 1 and (partial or s.mask is not None):
        return s
    return replace(s, asynchronous=True)


def _is_run(index: ir.Expr) -> bool:
    """Whether the lanes lie next to each other."""
    if index.type.lanes == 1:
        return True
    return (
        isinstance(index, ir.Ramp) and index.base.type.lanes == 1 and const_value(index.stride) == 1
    )

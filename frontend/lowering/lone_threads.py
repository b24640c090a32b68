"""What a GPU's block does outside of any loop over threads gets one thread to do it.

blocks i { s[0] = a; threads t { .. } }   ->   blocks i { threads one from 0 count 1 { s[0] = a }; .. }
"""

from __future__ import annotations

from collections.abc import Collection

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.names import unused
from hbc.ir.lang.walk import map_stmt, statements

_THREADS = (ir.LoopKind.THREAD, ir.LoopKind.LANE)


def lone_threads(kernel: Kernel) -> Kernel:
    """The kernel in which every store of a block is in a loop over threads."""
    taken = {n.var for n in statements(kernel.body) if isinstance(n, ir.For)}
    return kernel.map_body(lambda s: _outside(s, taken))


def _outside(s: ir.Stmt, taken: Collection[str]) -> ir.Stmt:
    """Down to the bodies of the innermost loops over blocks."""
    if (
        isinstance(s, ir.For)
        and s.kind is ir.LoopKind.BLOCK
        and not _contains(s.body, ir.LoopKind.BLOCK)
    ):
        return map_stmt(s, lambda e: e, lambda c: _alone(c, taken))
    return map_stmt(s, lambda e: e, lambda c: _outside(c, taken))


def _alone(s: ir.Stmt, taken: Collection[str]) -> ir.Stmt:
    if isinstance(s, ir.For) and s.kind in _THREADS:
        return s
    parts = list(statements(s))
    if not any(isinstance(x, ir.Store) for x in parts):
        return s
    if any(isinstance(x, ir.Allocate | ir.Barrier) or _is_threads(x) for x in parts):
        return map_stmt(s, lambda e: e, lambda c: _alone(c, taken))
    return ir.For(
        unused("lone", taken), ir.const_index(0), ir.const_index(1), ir.LoopKind.THREAD, s
    )


def _is_threads(s: ir.Stmt) -> bool:
    return isinstance(s, ir.For) and s.kind in _THREADS


def _contains(s: ir.Stmt, kind: ir.LoopKind) -> bool:
    return any(isinstance(x, ir.For) and x.kind is kind for x in statements(s))

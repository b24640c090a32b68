"""What a GPU's block does outside of any loop over threads gets one thread to do it.

blocks i { s[0] = a; threads t { .. } }   ->   blocks i { threads one from 0 count 1 { s[0] = a }; .. }
"""

from __future__ import annotations

from collections.abc import Collection

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.names import unused
from hbc.ir.lang.nodes import Allocate, Barrier, For, LoopKind, Stmt, Store, const_index
from hbc.ir.lang.walk import map_stmt, nodes, statements

_THREADS = (LoopKind.THREAD, LoopKind.LANE)


def lone_threads(kernel: Kernel) -> Kernel:
    """The kernel in which every store of a block is in a loop over threads."""
    taken = {n.var for n in nodes(kernel.body) if isinstance(n, For)}
    return kernel.map_body(lambda s: _outside(s, taken))


def _outside(s: Stmt, taken: Collection[str]) -> Stmt:
    """Down to the bodies of the innermost loops over blocks."""
    if isinstance(s, For) and s.kind is LoopKind.BLOCK and not _contains(s.body, LoopKind.BLOCK):
        return map_stmt(s, lambda e: e, lambda c: _alone(c, taken))
    return map_stmt(s, lambda e: e, lambda c: _outside(c, taken))


def _alone(s: Stmt, taken: Collection[str]) -> Stmt:
    if isinstance(s, For) and s.kind in _THREADS:
        return s
    parts = list(statements(s))
    if not any(isinstance(x, Store) for x in parts):
        return s
    if any(isinstance(x, Allocate | Barrier) or _is_threads(x) for x in parts):
        return map_stmt(s, lambda e: e, lambda c: _alone(c, taken))
    return For(unused("lone", taken), const_index(0), const_index(1), LoopKind.THREAD, s)


def _is_threads(s: Stmt) -> bool:
    return isinstance(s, For) and s.kind in _THREADS


def _contains(s: Stmt, kind: LoopKind) -> bool:
    return any(isinstance(x, For) and x.kind is kind for x in statements(s))

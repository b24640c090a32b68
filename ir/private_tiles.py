"""Fragments of a GPU's block as one warp has them, for the instructions that will work on them.

Outside of the loops over warps, a buffer in tile memory is as large as what all warps hold. Each warp has
fragments of its own: an index loses what the warp's number adds to it.

    acc[ramp(1024 * iw + 512 * it, ...)]   ->   acc[ramp(512 * it, ...)]      (iw is the warp's number)

Names that stand for where a block is are put in place first, so that they cancel. The interpreter gives
each warp a buffer of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.ir.kernel import Kernel
from hbc.ir.launches import THREADS
from hbc.ir.nodes import Allocate, Expr, For, LetStmt, Load, Stmt, Store
from hbc.ir.simplify import simplify
from hbc.ir.thread_view import check_owners, private_accesses, private_use, with_indices
from hbc.ir.types import INDEX, TILES
from hbc.ir.walk import free_variables, map_stmt, nodes, substitute


def private_tiles(kernel: Kernel) -> Kernel:
    """The kernel where each warp has its own tiles. HbcError when warps use what others hold."""
    tiles = {n.buffer for n in nodes(kernel.body) if isinstance(n, Allocate) and n.memory in TILES}
    return kernel.map_body(lambda s: _outside(s, frozenset(tiles), {})) if tiles else kernel


def _outside(s: Stmt, tiles: frozenset[str], names: Mapping[str, Expr]) -> Stmt:
    """Outside of the loops over threads. `names`: the numbers that are known by one."""
    if isinstance(s, For) and s.kind in THREADS:
        return s
    if isinstance(s, LetStmt) and s.value.type == INDEX and _is_arithmetic(s.value):
        names = {**names, s.name: substitute(s.value, names)}
    s = map_stmt(s, lambda e: e, lambda c: _outside(c, tiles, names))
    if not isinstance(s, Allocate) or s.memory not in TILES:
        return s
    return _private(_spelled(s, names), tiles)


def _is_arithmetic(e: Expr) -> bool:
    return not any(isinstance(n, Load) for n in nodes(e))


def _spelled(s: Allocate, names: Mapping[str, Expr]) -> Allocate:
    """With the names in the indices of the buffer replaced by what they stand for."""
    new: dict[int, Expr] = {}
    for n in nodes(s.body):
        if isinstance(n, Load | Store) and n.buffer == s.buffer:
            used = {v: names[v] for v in free_variables(n.index) if v in names}
            if used:
                new[id(n)] = simplify(substitute(n.index, used))
    return replace(s, body=with_indices(s.body, new)) if new else s


def _private(s: Allocate, tiles: frozenset[str]) -> Stmt:
    uses = [private_use(s, a) for a in private_accesses(s, tiles)]
    if not uses:
        return s
    check_owners(s, uses)
    new = {}
    for u in uses:
        first = {d.name: d.start for d in u.access.digits}
        new[id(u.access.node)] = simplify(substitute(u.access.node.index, first))
    return map_stmt(s, lambda e: e, lambda c: with_indices(c, new))

"""Fragments of a GPU's block as one warp has them, for the instructions that will work on them.

Outside of the loops over warps, a buffer in tile memory is as large as what all warps hold. Each warp has
fragments of its own: an index loses what the warp's number adds to it.

    acc[ramp(1024 * iw + 512 * it, ...)]   ->   acc[ramp(512 * it, ...)]      (iw is the warp's number)

Names that stand for where a block is are put in place first, so that they cancel. The interpreter gives
each warp a buffer of its own.
"""

from __future__ import annotations

from hbc.codegen.fragments.thread_view import (
    check_owners,
    in_blocks,
    private_accesses,
    private_use,
    with_indices,
)
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import Tiles, tiles_in
from hbc.ir.lang.types import TILES
from hbc.ir.lang.walk import map_stmt, substitute


def private_tiles(kernel: Kernel) -> Kernel:
    """The kernel where each warp has its own tiles. HbcError when warps use what others hold."""
    tiles = tiles_in(kernel.body)
    if not tiles:
        return kernel
    return kernel.map_body(lambda s: in_blocks(s, TILES, lambda a: _private(a, tiles), {}))


def _private(s: ir.Allocate, tiles: Tiles) -> ir.Stmt:
    uses = [private_use(s, a) for a in private_accesses(s, tiles)]
    if not uses:
        return s
    check_owners(s, uses)
    new = {}
    for u in uses:
        first = {d.name: d.start for d in u.access.digits}
        new[id(u.access.node)] = simplify(substitute(u.access.node.index, first))
    return map_stmt(s, lambda e: e, lambda c: with_indices(c, new))

"""Barriers in a GPU's blocks: where a thread touches what another one stored, or stores what another
one reads, and only there.

    threads t { s[t] = .. }; threads t { .. = s[31 - t] }
->  threads t { s[t] = .. }; barrier warp; threads t { .. = s[31 - t] }

Goes through a block in order with the accesses since the last barrier, and puts one as late as it can.
Loops are gone through until what reaches their end agrees with what was assumed at their beginning.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.codegen.threads.loops import Loops, Waiting
from hbc.codegen.threads.scopes import weakened
from hbc.codegen.threads.walk import Walk
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import map_stmt, statements


def barriers(kernel: Kernel) -> Kernel:
    """The kernel with the barriers that its blocks need."""
    strides = frozenset(
        a.stride_name(d) for a in kernel.arguments for d in range(len(a.extents) - 1)
    )
    return kernel.map_body(lambda s: _outside(s, strides, None))


def _outside(s: ir.Stmt, strides: frozenset[str], tile: tuple[str, ...] | None) -> ir.Stmt:
    """Down to the innermost loops over blocks. `tile`: the variables of those around that stay."""
    if not isinstance(s, ir.For) or s.kind is not ir.LoopKind.BLOCK:
        return map_stmt(s, lambda e: e, lambda c: _outside(c, strides, tile))
    if s.marks.resident is not None or tile is not None:
        tile = (*(tile or ()), s.var)
    if any(isinstance(x, ir.For) and x.kind is ir.LoopKind.BLOCK for x in statements(s.body)):
        return map_stmt(s, lambda e: e, lambda c: _outside(c, strides, tile))
    walk = Walk.of(s, strides)
    body = s.body
    if walk.tracked:
        body = walk.explained(_complete(walk, body, tile))
        body = weakened(body, walk.may_weaken, lambda b: _complete(walk, b, tile))
    return s if body is s.body else replace(s, body=body)


def _complete(walk: Walk, body: ir.Stmt, tile: tuple[str, ...] | None) -> ir.Stmt:
    """The body with the barriers that it lacks; the same object when there are enough. Of a block that
    stays, with the variables `tile`, the accesses of one tile wait in the next: those of shared
    memory, as no block touches what another one stores elsewhere."""
    walk = replace(walk, loops=Loops())
    entry: Waiting = {}
    while True:
        made, left = walk.stmt(body, entry, walk.top)
        if tile is None:
            return made
        seen: Waiting = {}
        for p in left:
            if p.access.buffer in walk.shared:
                for name in tile:
                    p = p.without_name(name)
                seen[p] = None
        if seen.keys() <= entry.keys():
            return made
        entry = {**entry, **seen}

"""Loop nests on a GPU: what nests directly, and which blocks have only part of their piece.

Pieces are not peeled there: all blocks run the same code, and so do all threads.
"""

from __future__ import annotations

from hbc.frontend.plans.place_on_gpu import THREADS
from hbc.frontend.plans.plan import Loop, Split, StagePlan
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.program import Scope
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import statements


def nests_directly(stage: StagePlan, depth: int) -> bool:
    """Whether nothing may stand between loop `depth` and the next: both are over blocks, or both over
    threads."""
    if depth + 1 >= len(stage.loops):
        return False
    outer, inner = stage.loops[depth].kind, stage.loops[depth + 1].kind
    return outer is inner is ir.LoopKind.BLOCK or (outer in THREADS and inner in THREADS)


def with_block(s: ir.Stmt, scope: Scope) -> ir.Stmt:
    """The statement in a block of one thread, if nothing in it is in a block."""
    if any(isinstance(x, ir.For) and x.kind is ir.LoopKind.BLOCK for x in statements(s)):
        return s
    zero, one = ir.const_index(0), ir.const_index(1)
    block, thread = scope.fresh("only_block"), scope.fresh("only_thread")
    return ir.For(
        block, zero, one, ir.LoopKind.BLOCK, ir.For(thread, zero, one, ir.LoopKind.THREAD, s)
    )


def cut_by_blocks(nest: Nest, loop: Loop) -> tuple[Split, ...]:
    """Inside of a loop over blocks, the splits whose last piece may be a partial one: this block's,
    perhaps."""
    if loop.kind is not ir.LoopKind.BLOCK:
        return ()
    splits = (s for s in nest.stage.relations if isinstance(s, Split))
    return tuple(s for s in splits if _is_cut(nest, s))


def _is_cut(nest: Nest, s: Split) -> bool:
    if s in nest.bases or not nest.is_determined(s.outer) or nest.is_touched(s.inner):
        return False
    return not (s in nest.whole or nest.divides(s) or nest.shifts(s) or s.inner in nest.extents)

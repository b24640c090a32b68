"""Loops that end early: of an update with `while t: c`, when an iteration finds that no point goes on.

    for t { for x { if (c) f[x] = .. } }
->  for t { going = false; for x { if (c) { going = true; f[x] = .. } }; leave t if not going }

The condition stays false once it is (`checks.updates` sees to that), so what is left of the loop would
change nothing, whatever loops lie between it and the points. Where these are divided among threads, the loop
runs to its end.
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.frontend.plans.plan import Loop, StagePlan
from hbc.frontend.program.funcs import Update
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.program import Program
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import not_
from hbc.ir.lang.target import GPU
from hbc.ir.lang.types import BOOL, CONDITION, Memory
from hbc.ir.lang.walk import block

_HERE = ir.const_index(0)


def ends(update: Update | None, nest: Nest, loop: Loop) -> bool:
    """Whether it is this one."""
    return bool(nest.going) and update is not None and loop is _ending(update, nest.stage)


def _ending(update: Update, stage: StagePlan) -> Loop | None:
    """The outermost over the reduction's steps, where it runs in order and one thread has what is inside.
    Threads inside of a vector would share what its lanes find."""
    kinds = [x.kind for x in stage.loops]
    if ir.LoopKind.VECTOR in kinds[: _threads(kinds) + 1]:
        return None
    for n, loop in enumerate(stage.loops):
        if update.leaves in stage.root_of(loop.dim):
            return loop if loop.kind is ir.LoopKind.SERIAL and n > _threads(kinds) else None
    return None


def _threads(kinds: Sequence[ir.LoopKind]) -> int:
    """The place of the last loop that threads divide; -1 for none."""
    return max((n for n, k in enumerate(kinds) if k is ir.LoopKind.PARALLEL), default=-1)


def remembers(update: Update | None, stage: StagePlan, depth: int, program: Program) -> bool:
    """Whether the memory for what is found is made around the loop at `depth`: inside of threads, and outside
    of vectors, whose lanes share it."""
    if update is None or not update.leaves or program.target.machine == GPU:
        return False
    ending = _ending(update, stage)
    if ending is None:
        return False
    kinds = [x.kind for x in stage.loops]
    at = next(n for n, x in enumerate(stage.loops) if x is ending)
    vectors = [n for n in range(_threads(kinds) + 1, at) if kinds[n] is ir.LoopKind.VECTOR]
    return depth == min([*vectors, at])


def remembered(nest: Nest, body: ir.Stmt) -> ir.Stmt:
    first = ir.Store(nest.going, _HERE, ir.const_bool(False))
    return ir.Allocate(nest.going, BOOL, ir.const_index(1), Memory.STACK, block(first, body))


def iteration(nest: Nest, name: str, body: ir.Stmt) -> ir.Stmt:
    """The body of the loop that ends."""
    nothing = ir.Store(nest.going, _HERE, ir.const_bool(False))
    return block(nothing, body, ir.Leave(name, not_(_going(nest))))


def noted(nest: Nest, store: ir.Stmt) -> ir.Stmt:
    """The step of a point, which is done where that goes on."""
    return block(ir.Store(nest.going, _HERE, ir.const_bool(True)), store)


def _going(nest: Nest) -> ir.Load:
    return ir.Load(nest.going, _HERE, CONDITION)

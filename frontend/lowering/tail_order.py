"""The order of loops inside a partial piece, where an unrolled reduction has no constant extent.

    for i in 8 { unroll x { for q in n { c[x] += ... } } }   # n = what is left, at most 4
->  for i in 8 { for q in n { unroll x { c[x] += ... } } }

One loop then, in place of one for each x, and what does not depend on x is computed once.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.plans.plan import At, FuncPlan, Loop, Plan
from hbc.frontend.regions.nest import Nest
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir

_COPIED = (ir.LoopKind.UNROLL, ir.LoopKind.VECTOR)


def rolled_outward(nest: Nest, depth: int, plan: Plan) -> Nest:
    """`nest` with the next such reduction loop at `depth`, if only loops over pure variables that
    become copies lie between. Each element keeps the order of its own updates."""
    if any(j.loops > depth for j in nest.joined):
        return nest
    loops = nest.stage.loops
    i = depth
    while i < len(loops) and _is_pure_copy(nest, loops[i]):
        i += 1
    if i in (depth, len(loops)) or not _is_rolled(nest, loops[i]):
        return nest
    if _holds_funcs(nest, loops[depth : i + 1], plan):
        return nest
    order = (*loops[:depth], loops[i], *loops[depth:i], *loops[i + 1 :])
    return replace(nest, stage=replace(nest.stage, loops=order))


def _is_pure_copy(nest: Nest, loop: Loop) -> bool:
    constant = isinstance(simplify(nest.extent(loop.dim)), ir.Const)
    pure = nest.stage.root_of(loop.dim).isdisjoint(nest.stage.reduce)
    return loop.kind in _COPIED and constant and pure


def _is_rolled(nest: Nest, loop: Loop) -> bool:
    """Whether this loop of the reduction was to be unrolled and cannot be."""
    if loop.kind is not ir.LoopKind.UNROLL or nest.has_one_value(loop.dim):
        return False
    reduces = nest.stage.root_of(loop.dim) <= nest.stage.reduce
    return reduces and not isinstance(simplify(nest.extent(loop.dim)), ir.Const)


def _holds_funcs(nest: Nest, loops: tuple[Loop, ...], plan: Plan) -> bool:
    """Whether a Func is computed or stored, or an input prefetched, at one of the loops."""
    stage, names = nest.stage, {loop.name for loop in loops}
    if any(p.loop in {loop.dim for loop in loops} for p in stage.prefetches):
        return True
    return any(
        isinstance(level, At)
        and (level.func, level.update) == (stage.func, stage.update)
        and level.loop in names
        for f in plan.values()
        for level in _levels(f)
    )


def _levels(f: FuncPlan) -> tuple[object, ...]:
    return f.compute, f.store, f.hoist

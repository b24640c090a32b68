"""Tails around tile memory: scalar code cannot touch tiles, so that `tail = guard` means a mask there.
Of pieces that a GPU's blocks take, and share out further, it says something else: that no block gets code
without conditions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hbc.frontend.plans.plan import At, FuncPlan, Plan, Split, StagePlan, Tail
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import TILES


def mask_tails(plan: Plan) -> None:
    """Changes the plans of Funcs in tile memory and of those that they are computed in."""
    names: dict[str, None] = {}
    for f in plan.values():
        if f.memory in TILES:
            names[f.func.name] = None
            if isinstance(f.compute, At):
                names[f.compute.func] = None
    for name in _with_joined(plan, names):
        plan[name] = _masked(plan[name])


def _with_joined(plan: Plan, names: Collection[str]) -> set[str]:
    """These Funcs and those that have loops in common with them, which are made in the same way."""
    found = set(names)
    for f in plan.values():
        for s in f.stages:
            if s.joins is not None and {s.func, s.joins.func} & found:
                found |= {s.func, s.joins.func}
    return found


def _masked(f: FuncPlan) -> FuncPlan:
    return replace(f, stages=tuple(_masked_stage(s) for s in f.stages))


def _masked_stage(s: StagePlan) -> StagePlan:
    blocks = {x.dim for x in s.loops if x.kind is ir.LoopKind.BLOCK}
    vectors = {x.dim for x in s.loops if x.kind is ir.LoopKind.VECTOR}
    relations = tuple(
        replace(r, tail=Tail.MASK)
        if isinstance(r, Split)
        and r.tail is Tail.GUARD
        and (r.outer not in blocks or r.inner in vectors)
        else r
        for r in s.relations
    )
    special = tuple((condition, _masked_stage(copy)) for condition, copy in s.special)
    return replace(s, relations=relations, special=special)

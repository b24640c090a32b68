"""Where on a GPU a level of the loops is: on the host, in a block, or in one of its threads."""

from __future__ import annotations

from enum import IntEnum

from hbc.frontend.plans.plan import At, Level, Plan, StagePlan, stage_text
from hbc.ir.lang import nodes as ir

THREADS = frozenset({ir.LoopKind.THREAD, ir.LoopKind.LANE})


class Place(IntEnum):
    """From the outside in. The host's loops launch grids; what a block does outside of its threads,
    all of them do together."""

    HOST = 0
    BLOCK = 1
    THREAD = 2


def place_in(outside: Place, kind: ir.LoopKind) -> Place:
    """Where the body of a loop is."""
    if kind in THREADS:
        return Place.THREAD
    return max(outside, Place.BLOCK) if kind is ir.LoopKind.BLOCK else outside


def place_of(plan: Plan, level: Level) -> Place:
    """Where what is computed at this level is."""
    if not isinstance(level, At):
        return Place.HOST
    place = place_of(plan, plan[level.func].compute)
    stage = plan[level.func].stages[0 if level.update is None else level.update + 1]
    for loop in _variant(stage, level.loop).loops:
        place = place_in(place, loop.kind)
        if loop.name == level.loop:
            break
    return place


def outside_of_threads(plan: Plan, level: Level) -> str | None:
    """The innermost level around this one that all threads of a block share, as the arguments of
    `compute_at`; None where there is none."""
    if not isinstance(level, At):
        return None
    outer = plan[level.func].compute
    if place_of(plan, outer) is Place.THREAD:
        return outside_of_threads(plan, outer)
    stage = plan[level.func].stages[0 if level.update is None else level.update + 1]
    loops = _variant(stage, level.loop).loops
    first = next((n for n, x in enumerate(loops) if x.kind in THREADS), len(loops))
    if first == 0:
        return outside_of_threads(plan, outer)
    return f"{stage_text(stage)}, {loops[first - 1].name}"


def _variant(stage: StagePlan, loop: str) -> StagePlan:
    """The stage, or the first of its special copies that has the loop."""
    variants = (stage, *(special for _, special in stage.special))
    return next((v for v in variants if v.loop(loop) is not None), stage)

"""Loops that a schedule for a GPU says nothing of: a thread for each element.

for y: for x: s           ->   f = y, x fused; blocks of 256 threads over f        (at the root)
for y: for x: vector s    ->   f = y, x fused; all threads of the block over f     (in a block)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.place_on_gpu import Place, place_of
from hbc.frontend.plans.plan import (
    At,
    FuncPlan,
    Fuse,
    Inline,
    Level,
    Loop,
    Plan,
    Split,
    StagePlan,
    Tail,
    default_stage,
    stage_text,
)  # fmt: skip
from hbc.frontend.program.funcs import Stage
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.names import unused
from hbc.ir.lang.types import FRAGMENT_LANES, TILES, Memory

THREADS_A_BLOCK = 256
WARP = 32
_OF_ALL = (Memory.AUTO, Memory.SHARED)  # memory of a block that any of its threads may fill


def map_rest(plan: Plan) -> None:
    """Changes the plans of stages at the root that no directive touched, and of those in a block that
    have no loop over threads."""
    for name in reversed(plan):  # consumers first: they decide how many threads a block has
        f = plan[name]
        if isinstance(f.compute, Inline):
            continue
        place = place_of(plan, f.compute)
        if place is Place.HOST:
            plan[name] = _changed(plan, f, _over_blocks)
        elif place is Place.BLOCK and f.memory in _OF_ALL:
            plan[name] = _changed(plan, f, _over_threads)


def one_thread_steps(plan: Plan) -> list[str]:
    """The steps at the root that have no loop over blocks: one thread does all of each."""
    return [
        stage_text(Stage(s.func, s.update))
        for f in plan.values()
        if not isinstance(f.compute, Inline) and place_of(plan, f.compute) is Place.HOST
        for s in f.stages
        if s.loops and all(x.kind not in ir.GPU_LOOPS for x in s.loops)
    ]


def _changed(
    plan: Plan, f: FuncPlan, change: Callable[[Plan, FuncPlan, StagePlan], StagePlan]
) -> FuncPlan:
    def all_of(s: StagePlan) -> StagePlan:
        special = tuple((condition, change(plan, f, copy)) for condition, copy in s.special)
        return replace(change(plan, f, s), special=special)

    return replace(f, stages=tuple(all_of(s) for s in f.stages))


def _over_blocks(plan: Plan, f: FuncPlan, s: StagePlan) -> StagePlan:
    plain = default_stage(f.func, s.update)
    if (s.loops, s.relations) != (plain.loops, ()) or s.pipelined or s.parted or _levels(plan, s):
        return s
    pure = tuple(x for x in s.loops if x.dim not in s.reduce)
    return _shared_out(s, pure, THREADS_A_BLOCK, ir.LoopKind.BLOCK, Tail.GUARD)


def _over_threads(plan: Plan, f: FuncPlan, s: StagePlan) -> StagePlan:
    if any(x.kind in ir.GPU_LOOPS for x in s.loops):
        return s
    levels = _levels(plan, s)
    run: tuple[Loop, ...] = ()
    best: tuple[Loop, ...] = ()
    for x in s.loops:
        pure = s.root_of(x.dim).isdisjoint(s.reduce)
        plain = (
            pure and x.kind is ir.LoopKind.SERIAL and x.dim not in dict((*s.pipelined, *s.parted))
        )
        run = (*run, x) if plain else ()
        best = run if len(run) > len(best) else best
        if x.name in levels:
            run = ()
    return _shared_out(s, best, _block_size(plan, f), ir.LoopKind.SERIAL, Tail.MASK)


def _shared_out(
    s: StagePlan, loops: tuple[Loop, ...], threads: int, outer: ir.LoopKind, tail: Tail
) -> StagePlan:
    """The loops as one, split into `outer` pieces of so many threads."""
    if not loops:
        return s
    taken = s.dims() | {x.name for x in s.loops}
    relations = list(s.relations)
    dim = loops[0].dim
    word = loops[0].name
    for x in loops[1:]:
        word += x.name
        fused = unused(word, taken)
        relations.append(Fuse(dim, x.dim, fused))
        dim, taken = fused, taken | {fused}
    pieces = unused(f"{word}_o", taken)
    inner = unused(f"{word}_t", taken | {pieces})
    relations.append(Split(dim, pieces, inner, threads, tail, loops[0].span))
    made = (
        Loop(pieces, pieces, outer, span=loops[0].span),
        Loop(inner, inner, ir.LoopKind.THREAD, span=loops[0].span),
    )
    at = s.loops.index(loops[0])
    rest = tuple(x for x in s.loops if x not in loops)
    return replace(s, loops=(*rest[:at], *made, *rest[at:]), relations=tuple(relations))


def _levels(plan: Plan, s: StagePlan) -> set[str]:
    """The loops of a stage in which a Func is computed or stored."""
    return {
        level.loop
        for f in plan.values()
        for level in (f.compute, f.store)
        if isinstance(level, At) and (level.func, level.update) == (s.func, s.update)
    }


def _block_size(plan: Plan, f: FuncPlan) -> int:
    """The threads of the block that a Func is computed in, as far as its loops say."""
    own = _launched_by(plan, f)
    inside = [p for p in plan.values() if _launched_by(plan, p) == own and own is not None]
    if own is not None:
        inside.append(plan[own])
    counts = [c for p in inside for s in p.stages if (c := _threads(plan, p, s)) is not None]
    return max(counts) if counts else THREADS_A_BLOCK


def _threads(plan: Plan, f: FuncPlan, s: StagePlan) -> int | None:
    """The threads that a stage's loops over threads count, one by one or by warps."""
    count = _thread_count(s)
    lanes = WARP if any(x.kind is ir.LoopKind.LANE for x in s.loops) else 1
    return None if count is None else count * max(lanes, _tile_lanes(plan, f, s))


def on_tiles(plan: Plan, f: FuncPlan, s: StagePlan) -> bool:
    """Whether a stage has to do with tiles: it makes them, reads them, or its threads make them."""
    return _tile_lanes(plan, f, s) > 1


def _tile_lanes(plan: Plan, f: FuncPlan, s: StagePlan) -> int:
    """How many lanes hold the tiles together that a stage has to do with; 1 where there are none."""
    near = [f.memory]
    near += [plan[a.name].memory for a in stage_accesses(f.func, s.update) if a.name in plan]
    most = max((FRAGMENT_LANES.get(m, WARP) for m in near if m in TILES), default=1)
    if most > 1:
        return most
    kinds = [x.kind for x in s.loops]
    first = kinds.index(ir.LoopKind.THREAD) if ir.LoopKind.THREAD in kinds else len(kinds)
    made = [At(s.func, s.update, x.name) for x in s.loops[first:]]
    inside = (
        _tile_lanes(plan, g, x)
        for a in made for g in plan.values() if isinstance(g.compute, At)
        if (g.compute.func, g.compute.update, g.compute.loop) == (a.func, a.update, a.loop)
        for x in g.stages
    )  # fmt: skip
    return max(inside, default=1)


def of_a_warp(plan: Plan, level: Level) -> bool:
    """Whether what is computed at this level belongs to one of the warps that loops over threads count."""
    while isinstance(level, At):
        f = plan[level.func]
        s = f.stages[0 if level.update is None else level.update + 1]
        kinds = {x.kind for x in s.loops}
        if ir.LoopKind.THREAD in kinds:
            return ir.LoopKind.LANE not in kinds and on_tiles(plan, f, s)
        level = f.compute
    return False


def _launched_by(plan: Plan, f: FuncPlan) -> str | None:
    """The Func at the root in whose loops this one is computed."""
    name = None
    while isinstance(f.compute, At):
        name = f.compute.func
        f = plan[name]
    return name


def _thread_count(s: StagePlan) -> int | None:
    """How many iterations the loops over threads have together, where that is known."""
    extents = [_extent(s, x.dim) for x in s.loops if x.kind is ir.LoopKind.THREAD]
    known = [e for e in extents if e is not None]
    return prod(known) if known and len(known) == len(extents) else None


def _extent(s: StagePlan, dim: str) -> int | None:
    for r in s.relations:
        match r:
            case Split(inner=inner, factor=factor) if dim == inner:
                return factor
            case Split(old=old, outer=outer, factor=factor) if dim == outer:
                whole = _extent(s, old)
                return None if whole is None else -(-whole // factor)
            case Fuse(outer=outer, inner=inner, fused=fused) if dim == fused:
                a, b = _extent(s, outer), _extent(s, inner)
                return None if a is None or b is None else a * b
    return None

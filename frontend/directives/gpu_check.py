"""Which loops of a schedule a GPU can run: blocks around threads around lanes, each nested directly."""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.directives.bulk import check_bulk
from hbc.frontend.directives.gpu_default import of_a_warp
from hbc.frontend.directives.swizzles import check_swizzle
from hbc.frontend.plans.place_on_gpu import THREADS, Place, outside_of_threads, place_in, place_of
from hbc.frontend.plans.plan import At, FuncPlan, Inline, Loop, Plan, StagePlan, stage_text
from hbc.ir.ground.diag import Diagnostic, Note
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import TILES, Memory

_WORDS = {
    Memory.SHARED: "shared memory", Memory.REGISTER: "registers", Memory.STACK: "threads",
    **dict.fromkeys(TILES, "fragments"),
}  # fmt: skip
_SHARING = {ir.LoopKind.BLOCK: "blocks", ir.LoopKind.THREAD: "threads", ir.LoopKind.LANE: "lanes"}


def check_gpu(plan: Plan) -> Iterator[Diagnostic]:
    """What stands in the way of running the plan on a GPU."""
    for f in plan.values():
        if isinstance(f.compute, Inline):
            continue
        for stage in f.stages:
            for variant in (stage, *(special for _, special in stage.special)):
                yield from _loops(plan, f, variant)
                yield from _prefetches(variant)
        if f.hoist is not None:
            yield Diagnostic(
                f"the memory of `{f.func.name}` is hoisted, and this is for a GPU: a block or thread has its "
                "memory for as long as it runs", getattr(f.hoist, "span", None) or f.span,
                "leave `hoist_storage` out",
            )  # fmt: skip
        if f.ahead:
            yield Diagnostic(
                f"`async` is for the threads of a processor, and `{f.func.name}` is computed on a GPU",
                f.ahead_at or f.span, "`pipeline(k, 2)` of the loop copies ahead there",
            )  # fmt: skip
        yield from _level(plan, f)
        yield from _memory(plan, f)
        yield from check_swizzle(plan, f)
        yield from check_bulk(plan, f)


def _loops(plan: Plan, f: FuncPlan, s: StagePlan) -> Iterator[Diagnostic]:
    """The kinds of the loops of one stage, outermost first."""
    outside = place = place_of(plan, f.compute)
    in_warp = of_a_warp(plan, f.compute) and f.memory not in TILES
    last: Loop | None = None
    for loop in s.loops:
        wrong = _misplaced(s, loop, last, place, outside, _shared_hint(plan, f), in_warp)
        if wrong is not None:
            yield wrong
            return
        last = loop if loop.kind is not ir.LoopKind.SERIAL or place is not Place.HOST else last
        place = place_in(place, loop.kind)
    pure = [x for x in s.loops if s.root_of(x.dim).isdisjoint(s.reduce)]
    if place is Place.HOST and pure:
        yield Diagnostic(
            f"the results of `{stage_text(s)}` are computed outside of any block of threads",
            next((x.span for x in s.loops if x.span), None) or f.span,
            f"`{stage_text(s)}.gpu_blocks({pure[0].name})` computes them on the GPU",
        )


def _prefetches(s: StagePlan) -> Iterator[Diagnostic]:
    """They would fill a cache that thousands of threads share long before they come to use it."""
    for p in s.prefetches:
        yield Diagnostic(
            f"`prefetch({p.name}, {p.loop}, {p.distance})` is for the cache of a processor, and this"
            " is for a GPU", p.span,
            f"`pipeline({p.loop}, {p.distance + 1})` copies ahead what "
            f"`{p.name}.in(..).compute_at(.., {p.loop}).store_in(shared)` stages",
        )  # fmt: skip


def _misplaced(
    s: StagePlan, loop: Loop, last: Loop | None, place: Place, outside: Place, hint: str,
    in_warp: bool,
) -> Diagnostic | None:  # fmt: skip
    """Why the loop cannot be what it is. `last` is the loop around it, unless that is the host's;
    `hint` says how threads compute the Func together; `in_warp`: it is computed by a warp, whose lanes
    fill it (`codegen/gpu/temporaries.py`)."""
    name, who = f"`{loop.name}`", _SHARING.get(loop.kind, "")
    if loop.kind is ir.LoopKind.PARALLEL:
        return Diagnostic(
            f"`parallel({loop.name})` is for the threads of a processor, and this is for a GPU",
            loop.span, "use `gpu_blocks` and `gpu_threads`",
        )  # fmt: skip
    if loop.kind is ir.LoopKind.BLOCK and outside is not Place.HOST:
        return Diagnostic(
            f"`{s.func}` is computed inside of a block: its loop {name} cannot be given to blocks",
            loop.span, "give it to threads, or compute the Func at the root",
        )  # fmt: skip
    if loop.kind is ir.LoopKind.BLOCK and last is not None and last.kind is not ir.LoopKind.BLOCK:
        return Diagnostic(
            f"the loop {name} over blocks lies inside of `{last.name}`", loop.span,
            f"loops over blocks are outermost: `reorder({loop.name}, {last.name})` first",
        )  # fmt: skip
    if loop.kind not in THREADS:
        return None
    if place is Place.HOST:
        return Diagnostic(
            f"the loop {name} is given to {who}, but no loop around it to blocks", loop.span,
            f"`gpu_blocks` of a loop around it; `split` {name} when there is none",
        )  # fmt: skip
    if outside is Place.THREAD and in_warp:
        return Diagnostic(
            f"every warp computes its own `{s.func}`, and its lanes share the elements among them: "
            f"the loop {name} cannot be given to {who}", loop.span,
            f"leave `{loop.name}` alone; or {hint}",
        )  # fmt: skip
    if outside is Place.THREAD:
        return Diagnostic(
            f"every thread computes its own `{s.func}`: the loop {name} of it cannot be given to "
            f"{who}", loop.span, hint,
        )  # fmt: skip
    if place is Place.THREAD and (last is None or last.kind not in THREADS):
        between = "another loop" if last is None else f"`{last.name}`"
        return Diagnostic(
            f"{between} stands between the loop {name} and the threads around it", loop.span,
            "loops over threads nest directly: `reorder` them",
        )  # fmt: skip
    if last is not None and last.kind is ir.LoopKind.LANE:
        return Diagnostic(
            f"the loop {name} lies inside of the lanes of `{last.name}`", loop.span,
            "one loop runs over the lanes of a warp, and it is the innermost of those over threads",
        )  # fmt: skip
    return None


def _shared_hint(plan: Plan, f: FuncPlan) -> str:
    """How a Func is computed by threads together."""
    name, level = f.func.name, outside_of_threads(plan, f.compute)
    if level is None:
        return f"compute `{name}` outside of the loops over threads"
    return f"`{name}.compute_at({level}).store_in(shared)`, outside of the loops over threads"


def _level(plan: Plan, f: FuncPlan) -> Iterator[Diagnostic]:
    """Nothing is computed or stored between loops that must nest directly."""
    for level in (f.compute, f.store):
        if not isinstance(level, At):
            continue
        loops = plan[level.func].stages[0 if level.update is None else level.update + 1].loops
        at = next((n for n, x in enumerate(loops) if x.name == level.loop), None)
        if at is None or at + 1 >= len(loops):
            continue
        outer, inner = loops[at], loops[at + 1]
        if _SHARING.get(outer.kind) and (outer.kind in THREADS) == (inner.kind in THREADS):
            if inner.kind not in _SHARING:
                continue
            if outer.kind in THREADS and any(x.kind in THREADS for s in f.stages for x in s.loops):
                continue  # what is wrong then are its own loops, and has been said
            yield Diagnostic(
                f"`{f.func.name}` is computed between the loops `{outer.name}` and `{inner.name}` "
                f"over {_SHARING[inner.kind]}", level.span or f.span,
                f"name the inner one: `{inner.name}`",
                () if inner.span is None else (Note("given to them here", inner.span),),
            )  # fmt: skip


def _memory(plan: Plan, f: FuncPlan) -> Iterator[Diagnostic]:
    """Shared memory and fragments belong to a block or its warps, the heap to the host."""
    level = f.compute if f.store is None else f.store
    place = place_of(plan, level)
    name = f.func.name
    if place is Place.HOST and f.memory in (Memory.SHARED, Memory.REGISTER, Memory.STACK, *TILES):
        yield Diagnostic(
            f"`{name}` is computed outside of any block and cannot be in its {_WORDS[f.memory]}",
            f.span,
            f"`{name}.compute_at(..)` a loop over blocks or one inside it, or `store_in(heap)`",
        )  # fmt: skip
    if place is not Place.HOST and f.memory is Memory.HEAP:
        yield Diagnostic(
            f"`{name}` is computed by each block, which has no heap", f.span,
            "use `store_in(shared)` or `store_in(registers)`, or compute it at the root",
        )  # fmt: skip
    if place is Place.THREAD and f.memory is Memory.SHARED and not of_a_warp(plan, level):
        yield Diagnostic(
            f"every thread computes its own `{name}`: it cannot be in shared memory", f.span,
            f"compute `{name}` outside of the loops over threads, or leave `store_in` out",
        )  # fmt: skip

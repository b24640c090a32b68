"""Storage that threads would share: allocated around a parallel loop, filled inside of it."""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.plans.plan import At, FuncPlan, Inline, Level, Loop, Plan, Root, stage_at
from hbc.ir.ground.diag import Diagnostic, Note
from hbc.ir.lang import nodes as ir

CONCURRENT = ir.GPU_LOOPS | {ir.LoopKind.PARALLEL}


def check_shared_storage(plan: Plan, f: FuncPlan) -> Iterator[Diagnostic]:
    """Threads compute what they need, also what others need; none may write where others read."""
    name = f.func.name
    stored = f.compute if f.store is None else f.store
    for func, loop in _between(plan, f.hoist, stored):
        if loop.kind is ir.LoopKind.PARALLEL:
            yield Diagnostic(
                f"the memory of `{name}` is hoisted out of the parallel loop `{loop.name}` of `{func}`: "
                "threads would write to the same",
                (f.hoist.span if isinstance(f.hoist, At | Root) else None) or f.span,
                f"`{name}.hoist_storage({func}, {loop.name})` is as far out as it goes",
                () if loop.span is None else (Note("made parallel here", loop.span),),
            )
            return
    between = list(_between(plan, f.store, f.compute))
    blocks = [
        x for x in between if x[1].kind is ir.LoopKind.BLOCK
    ]  # of which the last must be named
    for func, loop in blocks[-1:] or between:
        if loop.kind in CONCURRENT:
            span = f.store.span if isinstance(f.store, At | Root) else None
            yield Diagnostic(
                f"`{name}` is stored outside of the parallel loop `{loop.name}` of `{func}` and "
                "computed inside of it: threads would write to the same memory",
                span or f.span,
                f"`{name}.store_at({func}, {loop.name})` gives each iteration its own",
                () if loop.span is None else (Note("made parallel here", loop.span),),
            )
            return


def _between(plan: Plan, store: Level | None, compute: Level) -> Iterator[tuple[str, Loop]]:
    """The loops around `compute` that are inside of `store`, innermost stage first."""
    while store is not None and isinstance(compute, At) and compute != store:
        stage = stage_at(plan, compute)
        here = isinstance(store, At) and (store.func, store.update) == (
            compute.func,
            compute.update,
        )
        for variant in (stage, *(special for _, special in stage.special)):
            inside = not here
            for position, loop in enumerate(variant.loops):
                if inside and position >= stage.shared:
                    yield compute.func, loop
                inside = inside or (isinstance(store, At) and loop.name == store.loop)
                if loop.name == compute.loop:
                    break
        if here:
            return
        outer = stage.joins or plan[compute.func].compute
        compute = Root() if isinstance(outer, Inline) else outer

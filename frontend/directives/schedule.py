"""Applies a schedule to the default plans: each directive is a function found in a table by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.frontend.directives import gpu_loops, loops, place
from hbc.frontend.directives.gpu_check import check_gpu
from hbc.frontend.directives.gpu_default import map_rest
from hbc.frontend.directives.repeats import check_repeats
from hbc.frontend.directives.rfactor import rfactor
from hbc.frontend.directives.swizzles import swizzle_storage
from hbc.frontend.directives.tile_tails import mask_tails
from hbc.frontend.plans.inline import wrap_accesses, wrapper_name
from hbc.frontend.plans.inline_limit import refuse_crowds
from hbc.frontend.plans.legal import check_levels
from hbc.frontend.plans.plan import FuncPlan, Plan, StagePlan, default_plan, stage_text
from hbc.frontend.program.funcs import Directive, Func, Pipeline, Schedule, ScheduleLine, Stage
from hbc.ir.ground.diag import Diagnostic, HbcError, did_you_mean, error
from hbc.ir.ground.source import Span

LoopDirective = Callable[[Func, StagePlan, Directive], StagePlan]
PlaceDirective = Callable[[Plan, FuncPlan, Directive], FuncPlan]

LOOP_DIRECTIVES: Mapping[str, LoopDirective] = {
    "split": loops.split,
    "tile": loops.tile,
    "fuse": loops.fuse,
    "reorder": loops.reorder,
    "unroll": loops.unroll,
    "vectorize": loops.vectorize,
    "parallel": loops.parallel,
    "atomic": loops.atomic,
    "prefetch": loops.prefetch,
    "pipeline": loops.pipeline,
}
PLACE_DIRECTIVES: Mapping[str, PlaceDirective] = {
    "compute_at": place.compute_at,
    "compute_root": place.compute_root,
    "compute_inline": place.compute_inline,
    "store_at": place.store_at,
    "store_root": place.store_root,
    "store_in": place.store_in,
    "bound": place.bound,
    "reorder_storage": place.reorder_storage,
    "pad_storage": place.pad_storage,
}
GPU_DIRECTIVES: Mapping[str, LoopDirective] = {
    "gpu_blocks": gpu_loops.gpu_blocks,
    "gpu_threads": gpu_loops.gpu_threads,
    "gpu_lanes": gpu_loops.gpu_lanes,
    "persistent": gpu_loops.persistent,
    "at_once": gpu_loops.at_once,
}
GPU_PLACES: Mapping[str, PlaceDirective] = {"swizzle_storage": swizzle_storage}
FOR_OUTPUTS = ("compute_root", "bound")


Wrapped = tuple[
    str, str, Span | None
]  # a Func or input, the consumer of its copy, where it is said


def apply_schedule(
    pipeline: Pipeline, schedule: Schedule | None, gpu: bool = False
) -> tuple[Pipeline, Plan]:
    """The pipeline (with wrapper and rfactor Funcs added) and the plan of each Func, for a GPU or
    another machine.

    Raises HbcError with every directive that cannot be applied."""
    if schedule is not None:
        pipeline = _add_wrappers(pipeline, schedule)
    outputs = {o.name for o in pipeline.outputs}
    plan: Plan = {
        f.name: default_plan(f, f.name in outputs) for f in pipeline.funcs if f.table_shape is None
    }
    wrong: list[Diagnostic] = [] if schedule is None else list(check_repeats(schedule))
    lines = () if schedule is None else schedule.lines
    wrapped = () if schedule is None else tuple(_wrapped(schedule))
    directives = {**LOOP_DIRECTIVES, **GPU_DIRECTIVES} if gpu else LOOP_DIRECTIVES
    # Stages some of whose loops were not made: what speaks of them later may be right.
    broken: set[tuple[str, int | None]] = set()
    for line in lines:  # loops first: a place may name a loop that a later line makes
        try:
            if (line.stage.name, line.stage.update) not in broken:
                pipeline = _apply_loops(pipeline, plan, line, wrapped, directives, gpu)
        except HbcError as e:
            wrong.extend(e.diagnostics)
            broken.add((line.stage.name, line.stage.update))
    for line in lines:
        try:
            if not _speaks_of(line, broken):
                _apply_places(plan, line, outputs, {**PLACE_DIRECTIVES, **GPU_PLACES})
        except HbcError as e:
            wrong.extend(e.diagnostics)
    if not wrong:
        refuse_crowds(plan)
        wrong.extend(check_levels(plan))
    if gpu and not wrong:
        map_rest(plan)
        wrong.extend(check_gpu(plan))
    if wrong:
        raise HbcError(list(dict.fromkeys(wrong)))
    mask_tails(plan)
    return pipeline, plan


def _wrapped(schedule: Schedule) -> Iterator[Wrapped]:
    """Every `X.in(consumer)` that the schedule names."""
    for line in schedule.lines:
        stages = [line.stage, *(a for d in line.directives for a in d.args if isinstance(a, Stage))]
        for s in stages:
            if s.consumer is not None:
                yield s.name, s.consumer, s.span


def _add_wrappers(pipeline: Pipeline, schedule: Schedule) -> Pipeline:
    """A copy Func for each of them, except of and for partial results, where it comes with these."""
    partials = {
        f"{line.stage.name}_{loops.names(d, 2)[1]}"
        for line in schedule.lines
        for d in line.directives
        if d.name == "rfactor"
    }
    for name, consumer, span in _wrapped(schedule):
        if not {name, consumer} & partials:
            pipeline = wrap_accesses(pipeline, name, consumer, span)
    return pipeline


def _wrap_partial(
    pipeline: Pipeline, plan: Plan, wrapped: Sequence[Wrapped], partial: str
) -> Pipeline:
    """The same for what `rfactor` has just made."""
    for name, consumer, span in wrapped:
        new = wrapper_name(name, consumer)
        if partial not in (name, consumer) or new in plan:
            continue
        pipeline = wrap_accesses(pipeline, name, consumer, span)
        funcs = {f.name: f for f in pipeline.funcs}
        order = list(plan.items())
        plan.clear()
        for key, value in order:
            if key == consumer:
                plan[new] = default_plan(funcs[new], False)
                value = replace(value, func=funcs[consumer])
            plan[key] = value
    return pipeline


def _speaks_of(line: ScheduleLine, stages: Collection[tuple[str, int | None]]) -> bool:
    """Whether the line places something at the loops of one of them."""
    named = (a for d in line.directives for a in d.args if isinstance(a, Stage))
    return any((a.name, a.update) in stages for a in named)


def _apply_loops(
    pipeline: Pipeline, plan: Plan, line: ScheduleLine, wrapped: Sequence[Wrapped],
    directives: Mapping[str, LoopDirective], gpu: bool,
) -> Pipeline:  # fmt: skip
    """The directives of a chain that change loops. After `specialize`, they go to the special copy."""
    name, number = _find_stage(plan, line)
    special: int | None = None
    for d in line.directives:
        func_plan = plan[name]
        stage = func_plan.stages[number]
        if d.name == "rfactor":
            before = set(plan)
            pipeline = rfactor(pipeline, plan, func_plan, stage, d)
            (partial,) = set(plan) - before
            pipeline = _wrap_partial(pipeline, plan, wrapped, partial)
        elif d.name == "specialize":
            stage = loops.specialize(func_plan.func, stage, d)
            special = len(stage.special) - 1
            plan[name] = _with_stage(func_plan, number, stage)
        elif (directive := directives.get(d.name)) is not None:
            plan[name] = _with_stage(
                func_plan, number, _apply(directive, func_plan.func, stage, d, special)
            )
        elif d.name not in PLACE_DIRECTIVES and not (gpu and d.name in GPU_PLACES):
            raise _unknown(d)
    return pipeline


def _apply(
    directive: LoopDirective, func: Func, stage: StagePlan, d: Directive, special: int | None
) -> StagePlan:
    if special is None:
        return directive(func, stage, d)
    condition, inner = stage.special[special]
    entry = (condition, directive(func, inner, d))
    return replace(stage, special=(*stage.special[:special], entry, *stage.special[special + 1 :]))


def _apply_places(
    plan: Plan, line: ScheduleLine, outputs: Collection[str],
    directives: Mapping[str, PlaceDirective],
) -> None:  # fmt: skip
    """The directives of a chain that say where a Func is computed and stored."""
    name, _ = _find_stage(plan, line)
    for d in line.directives:
        if (directive := directives.get(d.name)) is None:
            continue
        if line.stage.update is not None:
            raise error(
                f"`{d.name}` speaks of the whole Func, not of one update",
                d.span,
                f"write `{name}.{d.name}(...)`",
            )
        if name in outputs and d.name not in FOR_OUTPUTS:
            raise error(
                f"`{d.name}` does not go with `{name}`: an output is computed whole, into memory of "
                "the caller", d.span, "schedule a Func that it reads",
            )  # fmt: skip
        plan[name] = directive(plan, plan[name], d)


def _find_stage(plan: Plan, line: ScheduleLine) -> tuple[str, int]:
    """The Func of a line, and the place of its stage among the Func's stages."""
    name = resolve(plan, line.stage)
    number = 0 if line.stage.update is None else line.stage.update + 1
    count = len(plan[name].stages) - 1
    if number > count:
        raise error(
            f"`{name}` has {count} update{'s' if count != 1 else ''}, so there is no "
            f"`{stage_text(line.stage)}`",
            line.stage.span or line.span,
            "updates count from 0, in the order they are written",
        )
    return name, number


def _unknown(d: Directive) -> HbcError:
    if d.name in GPU_PLACES:
        return error(
            f"`{d.name}` is for the shared memory of a GPU, which this target has not", d.span,
            "`pad_storage` makes rows longer on any target",
        )  # fmt: skip
    if d.name in GPU_DIRECTIVES:
        return error(
            f"`{d.name}` maps loops to a GPU, which this target has not", d.span,
            "use `parallel` and `vectorize`, or put this schedule `for cuda`",
        )  # fmt: skip
    known = {*LOOP_DIRECTIVES, *PLACE_DIRECTIVES, *GPU_PLACES, "rfactor", "specialize", "in"}
    return error(f"unknown directive `{d.name}`", d.span, did_you_mean(d.name, known))


def _with_stage(plan: FuncPlan, number: int, stage: StagePlan) -> FuncPlan:
    stages = (*plan.stages[:number], stage, *plan.stages[number + 1 :])
    return replace(plan, stages=stages)


def resolve(plan: Plan, stage: Stage) -> str:
    """The Func that a stage of the schedule speaks of."""
    name = stage.name if stage.consumer is None else wrapper_name(stage.name, stage.consumer)
    if name not in plan:
        hint = did_you_mean(name, plan) or "no output depends on it, so it is not computed"
        raise error(f"`{name}` is not a Func that can be scheduled", stage.span, hint)
    return name

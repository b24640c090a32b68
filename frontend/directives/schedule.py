"""Applies a schedule to the default plans: each directive is a row of `table.py`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from hbc.frontend.directives.gpu_check import check_gpu
from hbc.frontend.directives.gpu_default import map_rest
from hbc.frontend.directives.loops import names
from hbc.frontend.directives.repeats import check_repeats
from hbc.frontend.directives.table import (
    DIRECTIVES,
    OnFunc,
    OnLoops,
    OnPipeline,
    OnPlace,
    OnProgram,
    OnStep,
    Row,
)
from hbc.frontend.directives.tile_tails import mask_tails
from hbc.frontend.plans.ahead import check_apart
from hbc.frontend.plans.inline import wrap_accesses, wrapper_name
from hbc.frontend.plans.inline_limit import kept_apart, refuse_crowds
from hbc.frontend.plans.joined import join
from hbc.frontend.plans.joined_order import check_joined
from hbc.frontend.plans.legal import check_levels
from hbc.frontend.plans.plan import FuncPlan, Plan, Root, StagePlan, default_plan, stage_text
from hbc.frontend.program.funcs import Directive, Func, Pipeline, Schedule, ScheduleLine, Stage
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, HbcError, did_you_mean, error
from hbc.ir.ground.source import Span

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
        for row in DIRECTIVES.values():
            if isinstance(row.on, OnProgram):
                pipeline = row.on.run(pipeline, schedule, gpu)
        pipeline = _add_wrappers(pipeline, schedule)
    outputs = set(pipeline.output_funcs)
    plan: Plan = {
        f.name: default_plan(f, f.name in outputs) for f in pipeline.funcs if f.table_shape is None
    }
    if (
        schedule is None or not schedule.lines
    ):  # what nobody placed is placed where inlining would not end
        for name in kept_apart(pipeline.funcs, outputs):
            plan[name] = replace(plan[name], compute=Root())
    wrong: list[Diagnostic] = [] if schedule is None else list(check_repeats(schedule))
    lines = () if schedule is None else schedule.lines
    wrapped = () if schedule is None else tuple(_wrapped(schedule))
    # Stages some of whose loops were not made: what speaks of them later may be right.
    broken: set[tuple[str, int | None]] = set()
    for line in lines:  # loops first: a place may name a loop that a later line makes
        try:
            if (line.stage.name, line.stage.update) not in broken:
                pipeline = _apply_loops(pipeline, plan, line, wrapped, gpu)
        except HbcError as e:
            wrong.extend(e.diagnostics)
            broken.add((line.stage.name, line.stage.update))
    for line in lines:
        try:
            if not _speaks_of(line, broken):
                _apply_places(plan, line, outputs)
        except HbcError as e:
            wrong.extend(e.diagnostics)
    if not wrong:
        refuse_crowds(plan)
        wrong.extend(join(plan))
    if not wrong:
        wrong.extend(check_levels(plan))
    if not wrong:
        wrong.extend(check_joined(plan))
        wrong.extend(check_apart(plan, pipeline.in_place))
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
        f"{line.stage.name}_{names(d, 2)[1]}"
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
    pipeline: Pipeline, plan: Plan, line: ScheduleLine, wrapped: Sequence[Wrapped], gpu: bool
) -> Pipeline:
    """The directives of a chain that change loops. After `specialize`, they go to the special copy."""
    name, number = _find_stage(plan, line)
    special: int | None = None
    for d in line.directives:
        func_plan = plan[name]
        stage = func_plan.stages[number]
        row = _row(d, gpu)
        match row.on:
            case OnPipeline(run=run):
                before = set(plan)
                pipeline = run(pipeline, plan, func_plan, stage, d)
                (partial,) = set(plan) - before
                pipeline = _wrap_partial(pipeline, plan, wrapped, partial)
            case OnStep(run=run):
                stage = run(func_plan.func, stage, d)
                special = len(stage.special) - 1
                plan[name] = _with_stage(func_plan, number, stage)
            case OnLoops() as on:
                new = _apply(on, func_plan.func, stage, d, special)
                plan[name] = _with_stage(func_plan, number, new)
            case OnProgram() | OnFunc() | OnPlace():
                pass  # before there are loops, or when all are made
            case _:
                assert_never(row.on)
    return pipeline


def _apply(
    on: OnLoops, func: Func, stage: StagePlan, d: Directive, special: int | None
) -> StagePlan:
    if special is None:
        return on.run(func, stage, d)
    condition, inner = stage.special[special]
    entry = (condition, on.run(func, inner, d))
    return replace(stage, special=(*stage.special[:special], entry, *stage.special[special + 1 :]))


def _apply_places(plan: Plan, line: ScheduleLine, outputs: Collection[str]) -> None:
    """The directives of a chain that say where a Func is computed and stored."""
    name, number = _find_stage(plan, line)
    for d in line.directives:
        on = DIRECTIVES[d.name].on
        if isinstance(on, OnPlace):
            plan[name] = on.run(plan, plan[name], number, d)
        if not isinstance(on, OnFunc):
            continue
        if line.stage.update is not None:
            raise error(
                f"`{d.name}` speaks of the whole Func, not of one update",
                d.span,
                f"write `{name}.{d.name}(...)`",
            )
        if name in outputs and not on.outputs:
            raise error(
                f"`{d.name}` does not go with `{name}`: an output is computed whole, into memory of "
                "the caller", d.span, "schedule a Func that it reads",
            )  # fmt: skip
        plan[name] = on.run(plan, plan[name], d)


def _find_stage(plan: Plan, line: ScheduleLine) -> tuple[str, int]:
    """The Func of a line, and the place of its stage among the Func's stages."""
    name = resolve(plan, line.stage)
    number = 0 if line.stage.update is None else line.stage.update + 1
    count = len(plan[name].stages) - 1
    if number > count:
        raise error(
            f"`{name}` has {counted(count, 'update')}, so there is no `{stage_text(line.stage)}`",
            line.stage.span or line.span,
            "updates count from 0, in the order they are written",
        )
    return name, number


def _row(d: Directive, gpu: bool) -> Row:
    """The row of a directive; HbcError where there is none, or none for this machine."""
    row = DIRECTIVES.get(d.name)
    if row is None:
        hint = did_you_mean(d.name, [*DIRECTIVES, "in"])
        raise error(f"unknown directive `{d.name}`", d.span, hint)
    if row.gpu and not gpu and isinstance(row.on, OnFunc):
        raise error(
            f"`{d.name}` is for the shared memory of a GPU, which this target has not", d.span,
            "`pad_storage` makes rows longer on any target",
        )  # fmt: skip
    if row.gpu and not gpu:
        raise error(
            f"`{d.name}` maps loops to a GPU, which this target has not", d.span,
            "use `parallel` and `vectorize`, or put this schedule `for cuda`",
        )  # fmt: skip
    return row


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

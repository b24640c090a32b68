"""The schedule as a loop nest in a few lines: where each Func is computed and stored, and how.

What `hbc compile --emit loops` prints; made from the plans, so tails and addresses do not clutter it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.frontend.directives.schedule import apply_schedule
from hbc.frontend.plans.inline import inline_funcs
from hbc.frontend.plans.joined_order import nests_at
from hbc.frontend.plans.plan import At, FuncPlan, Inline, Level, Plan, Root, Split, StagePlan, step
from hbc.frontend.plans.reuse import why_anew
from hbc.frontend.program.by_size import where_text
from hbc.frontend.program.funcs import Func, Image, Pipeline, Schedule
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.target import GPU, TARGETS
from hbc.ir.lang.types import Memory

KINDS = {
    ir.LoopKind.SERIAL: "for",
    ir.LoopKind.PARALLEL: "parallel for",
    ir.LoopKind.UNROLL: "unrolled for",
    ir.LoopKind.VECTOR: "vectorized for",
    ir.LoopKind.BLOCK: "blocks for",
    ir.LoopKind.THREAD: "threads for",
    ir.LoopKind.LANE: "lanes for",
}

PARTED = {None: "", True: " (parted)", False: " (in one piece)"}


def loop_tree(pipeline: Pipeline, schedule: Schedule | None, gpu: bool = False) -> str:
    """The nest, two spaces a level, one line per loop, Func and store; of several schedules one after the
    other, as they are asked. `gpu`: for one, also where no schedule says so."""
    if schedule is not None and schedule.choices:
        return "\n".join(loop_tree(pipeline, s, gpu) for s in schedule.choices)
    targets = () if schedule is None else schedule.targets
    gpu = gpu or any(TARGETS[t].machine == GPU for t in targets if t in TARGETS)
    pipeline, scheduled = apply_schedule(pipeline, schedule, gpu)
    inlined = [names(f.func) for f in scheduled.values() if isinstance(f.compute, Inline)]
    images = pipeline.output_funcs
    lines = [f"kernel {pipeline.name}, " + _title(schedule)]
    if inlined:
        lines.append(f"inlined: {', '.join(inlined)}")
    plan = inline_funcs(scheduled)
    anew = {name: why_anew(plan, f, gpu) for name, f in plan.items()}
    lines += _level(_Shown(plan, images, anew), Root(), 0)
    return "\n".join(lines) + "\n"


@record
class _Shown:
    """What the tree is of: the plan, the outputs, and by Func why it is not reused, where it is not."""

    plan: Plan
    images: dict[str, Image]
    anew: dict[str, str]


def _title(schedule: Schedule | None) -> str:
    if schedule is None:
        return "no schedule"
    if not schedule.lines and schedule.span is None:
        return "no schedule"
    where = where_text(schedule)
    of = f"schedule {schedule.name} for {', '.join(schedule.targets)}"
    return f"{of} where {where}" if where else of


def _level(shown: _Shown, level: Level, depth: int) -> list[str]:
    plan, images = shown.plan, shown.images
    lines = []
    pad = "  " * depth
    for f in plan.values():
        if f.store is not None and f.store == level and f.store != f.compute:
            anew = shown.anew[f.func.name]
            how = f"and computed anew each time: {anew}" if anew else "reused by the loops inside"
            lines.append(f"{pad}store {names(f.func)}{_memory(f)} here, {how}")
    for f in plan.values():
        if f.hoist is not None and f.hoist == level:
            lines.append(f"{pad}memory of {names(f.func)} here")
    for nests in nests_at(plan, level):
        funcs = [plan[n] for n in dict.fromkeys(stage.func for nest in nests for stage in nest)]
        listed = ", ".join(f"{names(f.func)}{_whole(level, images, f)}{_memory(f)}" for f in funcs)
        lines.append(f"{pad}compute {listed}")
        for stage, *others in nests:
            for condition, special in stage.special:
                lines.append(f"{pad}  if {show(condition)}:")
                lines += _stage(shown, special, depth + 2)
            if stage.special:
                lines.append(f"{pad}  otherwise:")
            lines += _stage(shown, stage, depth + (2 if stage.special else 1), others)
    return lines


def _whole(level: Level, images: dict[str, Image], f: FuncPlan) -> str:
    if isinstance(level, At):
        return ""
    return " (output)" if f.func.name in images else " (whole)"


def _memory(f: FuncPlan) -> str:
    kept = "".join(f", {count} of `{v}` kept" for v, count, _ in f.folds)
    kept += ", traced" if f.traced else ""
    kept += ", an iteration ahead in another thread" if f.ahead else ""
    return ("" if f.memory is Memory.AUTO else f" in {f.memory}") + kept


def _stage(
    shown: _Shown, stage: StagePlan, depth: int, others: Sequence[StagePlan] = (), first: int = 0,
) -> list[str]:  # fmt: skip
    """The loops of a step from number `first` on, in which `others` come too."""
    f, images = shown.plan[stage.func], shown.images
    if first < len(stage.loops):
        loop = stage.loops[first]
        text = f"{KINDS[loop.kind]} {loop.name}{_extent(images, f, stage, loop.dim)}"
        text += PARTED[dict(stage.parted).get(loop.dim)]
        lines = ["  " * depth + text]
        lines += _level(shown, At(stage.func, stage.update, loop.name), depth + 1)
        deeper = [s for s in others if s.shared > first + 1]
        lines += _stage(shown, stage, depth + 1, deeper, first + 1)
        for s in others:
            if s.shared == first + 1:
                lines += _stage(shown, s, depth + 1, (), first + 1)
        return lines
    update = step(f.func, stage.update)
    indices = f.func.variables if update is None else [show(i) for i in update.indices]
    op = "=" if update is None or update.op is None else _assign(update.op)
    left = ", ".join(f"{p.name}[{', '.join(indices)}]" for p in f.func.parts)
    return ["  " * depth + (f"({left})" if f.func.others else left) + f" {op} ..."]


def names(func: Func) -> str:
    """Of all its arrays."""
    return ", ".join(p.name for p in func.parts)


def _assign(op: ir.Op) -> str:
    return f"{op}="


def _extent(images: dict[str, Image], f: FuncPlan, stage: StagePlan, dim: str) -> str:
    for r in stage.relations:
        if isinstance(r, Split) and r.inner == dim:
            return f" in {r.factor}"
        if isinstance(r, Split) and r.outer == dim:
            return f" by {r.factor} (tail: {r.tail})"
    update = step(f.func, stage.update)
    for v in () if update is None else update.reduce:
        if v.name == dim:
            return f" in {show(v.extent)}"
    if f.func.name in images and dim in f.func.variables:
        return f" in {show(images[f.func.name].extents[f.func.variables.index(dim)])}"
    return ""

"""The schedule as a loop nest in a few lines: where each Func is computed and stored, and how.

What `hbc compile --emit loops` prints; made from the plans, so tails and addresses do not clutter it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.frontend.directives.schedule import apply_schedule
from hbc.frontend.plans.inline import inline_funcs
from hbc.frontend.plans.joined_order import nests_at
from hbc.frontend.plans.plan import At, FuncPlan, Inline, Level, Plan, Root, Split, StagePlan, step
from hbc.frontend.program.funcs import Func, Image, Pipeline, Schedule
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


def loop_tree(pipeline: Pipeline, schedule: Schedule | None) -> str:
    """The nest, two spaces a level, one line per loop, Func and store."""
    targets = () if schedule is None else schedule.targets
    gpu = any(TARGETS[t].machine == GPU for t in targets if t in TARGETS)
    pipeline, scheduled = apply_schedule(pipeline, schedule, gpu)
    inlined = [names(f.func) for f in scheduled.values() if isinstance(f.compute, Inline)]
    images = pipeline.output_funcs
    lines = [f"kernel {pipeline.name}, " + _title(schedule)]
    if inlined:
        lines.append(f"inlined: {', '.join(inlined)}")
    lines += _level(inline_funcs(scheduled), images, Root(), 0)
    return "\n".join(lines) + "\n"


def _title(schedule: Schedule | None) -> str:
    if schedule is None:
        return "no schedule"
    return f"schedule {schedule.name} for {', '.join(schedule.targets)}"


def _level(plan: Plan, images: dict[str, Image], level: Level, depth: int) -> list[str]:
    lines = []
    pad = "  " * depth
    for f in plan.values():
        if f.store is not None and f.store == level and f.store != f.compute:
            lines.append(f"{pad}store {names(f.func)}{_memory(f)} here, reused by the loops inside")
    for nests in nests_at(plan, level):
        funcs = [plan[n] for n in dict.fromkeys(stage.func for nest in nests for stage in nest)]
        listed = ", ".join(f"{names(f.func)}{_whole(level, images, f)}{_memory(f)}" for f in funcs)
        lines.append(f"{pad}compute {listed}")
        for stage, *others in nests:
            for condition, special in stage.special:
                lines.append(f"{pad}  if {show(condition)}:")
                lines += _stage(plan, images, special, depth + 2)
            if stage.special:
                lines.append(f"{pad}  otherwise:")
            lines += _stage(plan, images, stage, depth + (2 if stage.special else 1), others)
    return lines


def _whole(level: Level, images: dict[str, Image], f: FuncPlan) -> str:
    if isinstance(level, At):
        return ""
    return " (output)" if f.func.name in images else " (whole)"


def _memory(f: FuncPlan) -> str:
    return "" if f.memory is Memory.AUTO else f" in {f.memory}"


def _stage(
    plan: Plan, images: dict[str, Image], stage: StagePlan, depth: int,
    others: Sequence[StagePlan] = (), first: int = 0,
) -> list[str]:  # fmt: skip
    """The loops of a step from number `first` on, in which `others` come too."""
    f = plan[stage.func]
    if first < len(stage.loops):
        loop = stage.loops[first]
        text = f"{KINDS[loop.kind]} {loop.name}{_extent(images, f, stage, loop.dim)}"
        lines = ["  " * depth + text]
        lines += _level(plan, images, At(stage.func, stage.update, loop.name), depth + 1)
        deeper = [s for s in others if s.shared > first + 1]
        lines += _stage(plan, images, stage, depth + 1, deeper, first + 1)
        for s in others:
            if s.shared == first + 1:
                lines += _stage(plan, images, s, depth + 1, (), first + 1)
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

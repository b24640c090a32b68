"""Funcs that run ahead (`async`): where a loop may have two threads, one of which is an iteration ahead.

Both halves of an iteration end before the next one begins. So the loop runs in order, in one thread so far;
nothing inside of it is divided among threads; and what is computed ahead reads nothing of the loop's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hbc.frontend.plans.plan import (
    At,
    FuncPlan,
    Inline,
    Level,
    Loop,
    Plan,
    StagePlan,
    stage_at,
    step,
)
from hbc.frontend.program.funcs import Func, values_of
from hbc.ir.ground.diag import Diagnostic, Note
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import TILES, Memory
from hbc.ir.lang.walk import nodes


def check_ahead(plan: Plan, f: FuncPlan) -> Iterator[Diagnostic]:
    """What keeps the Func from running ahead, the first of all."""
    if not f.ahead:
        return
    name = f.func.name
    if not isinstance(f.compute, At):
        where = "inlined" if isinstance(f.compute, Inline) else "computed as a whole, first"
        hint = f"`{name}.compute_at(g, i)` names the loop"
        yield _refused(f, f"it is {where}", hint)
        return
    level = f.compute
    if f.store is not None:
        yield _refused(
            f, "it is stored around the loop, where iterations keep what is in their window",
            "leave `store_at` out: `async` has two buffers, around the loop", getattr(f.store, "span", None),
            "stored here",
        )  # fmt: skip
        return
    if f.hoist is not None:
        yield _refused(
            f, "its memory is hoisted", "leave `hoist_storage` out: `async` has two buffers, around the loop",
            getattr(f.hoist, "span", None), "hoisted here",
        )  # fmt: skip
        return
    if f.memory in (Memory.REGISTER, *TILES):
        yield _refused(f, f"it is in {f.memory}, which threads have each their own of",
                       "`store_in(stack)`, or leave it out")  # fmt: skip
        return
    if any(s.joins is not None for s in f.stages) or any(
        s.joins is not None and s.joins.func == name for g in plan.values() for s in g.stages
    ):
        yield _refused(f, "it shares its loops with another Func",
                       "leave `compute_with` or `async` out")  # fmt: skip
        return
    yield from _of_loops(plan, f, level)
    yield from _of_reads(plan, f, level)


def _refused(
    f: FuncPlan, why: str, hint: str, span: Span | None = None, what: str = ""
) -> Diagnostic:
    notes = () if span is None else (Note(what, span),)
    return Diagnostic(
        f"`{f.func.name}` cannot run ahead of what reads it: {why}", f.ahead_at, hint, notes
    )


def _of_loops(plan: Plan, f: FuncPlan, level: At) -> Iterator[Diagnostic]:
    stage = stage_at(plan, level)
    for variant in (stage, *(special for _, special in stage.special)):
        loop = variant.loop(level.loop)
        if loop is not None and loop.kind is not ir.LoopKind.SERIAL:
            yield _refused(
                f, f"the loop `{loop.name}` is {_KINDS.get(loop.kind, loop.kind)}, and its iterations have no"
                " order", "compute it at a loop that runs in order", loop.span, "made so here",
            )  # fmt: skip
            return
    update = step(plan[level.func].func, level.update)
    if update is not None and update.leaves:
        yield _refused(f, f"the loop `{level.loop}` may end early",
                       "leave `async` out, or `while` in the update", update.span, "ends here")  # fmt: skip
        return
    for loop, kind in _around(plan, level):
        yield _refused(
            f, f"the loop `{loop.name}` around is {kind}, and threads begin no others",
            "compute it at a loop that is not inside of another one with threads", loop.span, "made so here",
        )  # fmt: skip
        return
    for loop in _inside(plan, level):
        yield _refused(
            f, f"the loop `{loop.name}` inside is parallel, and threads begin no others",
            "leave `parallel` or `async` out", loop.span, "made parallel here",
        )  # fmt: skip
        return


_KINDS = {ir.LoopKind.PARALLEL: "parallel", ir.LoopKind.UNROLL: "unrolled"}


def _variants(stage: StagePlan) -> tuple[StagePlan, ...]:
    return (stage, *(special for _, special in stage.special))


def _around(plan: Plan, level: Level) -> Iterator[tuple[Loop, str]]:
    """The loops around one that have several threads: parallel ones, and those of Funcs that run ahead."""
    ahead = [g.compute for g in plan.values() if g.ahead]
    first = True
    while isinstance(level, At):
        for variant in _variants(stage_at(plan, level)):
            for loop in variant.loops:
                if loop.name == level.loop and first:
                    break
                if loop.kind is ir.LoopKind.PARALLEL:
                    yield loop, "parallel"
                if At(level.func, level.update, loop.name) in ahead:
                    yield loop, "one of two threads"
                if loop.name == level.loop:
                    break
        outer = stage_at(plan, level).joins or plan[level.func].compute
        level, first = outer, False


def _inside(plan: Plan, level: At) -> Iterator[Loop]:
    """The parallel loops inside of one."""
    for g in plan.values():
        for number, stage in enumerate(g.stages):
            for variant in _variants(stage):
                for loop in variant.loops:
                    here = At(g.func.name, None if number == 0 else number - 1, loop.name)
                    if loop.kind is ir.LoopKind.PARALLEL and _is_in(plan, here, level):
                        yield loop


def _is_in(plan: Plan, inner: Level, outer: At) -> bool:
    """Whether the loop of one level is inside of that of the other."""
    while isinstance(inner, At):
        if (inner.func, inner.update) == (outer.func, outer.update):
            for variant in _variants(stage_at(plan, outer)):
                names = [x.name for x in variant.loops]
                further = outer.loop in names and names[names.index(outer.loop) + 1 :]
                if further and inner.loop in further:
                    return True
        if inner != outer and plan[inner.func].compute == outer:
            return True
        inner = stage_at(plan, inner).joins or plan[inner.func].compute
    return False


def _of_reads(plan: Plan, f: FuncPlan, level: At) -> Iterator[Diagnostic]:
    """What it reads, itself or by Funcs computed in its loops, must be there before the loop."""
    for g in _needed(plan, f.func, level):
        if g.compute == level and not g.ahead:
            yield _refused(
                f, f"it reads `{g.func.name}`, which is computed in the same loop",
                f"`{g.func.name}.async()` computes both ahead", g.compute.span, "computed here",
            )  # fmt: skip
            return


def _needed(plan: Plan, func: Func, level: At) -> Iterator[FuncPlan]:
    """All Funcs that it reads, and that these read, as far as they are computed in the loop or further in."""
    seen: set[str] = {func.name}
    names = [func.name]
    while names:
        for read in _read(plan, names.pop()):
            if read in seen or read not in plan:
                continue
            seen.add(read)
            yield plan[read]
            if plan[read].compute != level:
                names.append(read)


def _read(plan: Plan, name: str) -> Iterator[str]:
    f = plan[name].func
    values = [*values_of(f.pure)]
    for u in f.updates:
        values += [*values_of(u.value), *u.indices, *([] if u.condition is None else [u.condition])]
    for value in values:
        for n in nodes(value):
            if isinstance(n, ir.Access):
                yield n.name


def check_apart(plan: Plan, in_place: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Outputs that lie where inputs lay change these while what runs ahead may read them."""
    for output, given in in_place.items():
        for f in plan.values():
            if f.ahead:
                span = plan[output].span if output in plan else None
                yield _refused(
                    f, f"`{output}` is stored where the input `{given}` lies, which it may read later",
                    "leave `async` out, or `aliases` in the output", span, "stored there",
                )  # fmt: skip

"""Steps in the loops of another: `f.compute_with(g, y)`.

    for y { for x { g[y, x] = .. } }              for y { for x { g[y, x] = .. }
    for y { for x { f[y, x] = .. } }         ->           for x { f[y, x] = .. } }

g is the *leader*: its loops are those that are made, over all that either needs, and Funcs computed in a
loop that both have are computed in the leader's. Whether such loops keep the meaning says `joined_order.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hbc.frontend.plans.plan import (
    At,
    FuncPlan,
    Inline,
    Level,
    Plan,
    StagePlan,
    stage_at,
    stage_text,
)
from hbc.ir.ground.diag import Diagnostic, Note
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory


def join(plan: Plan) -> list[Diagnostic]:
    """Lets each such step name its leader, and each place the leader's loop; what is wrong with them."""
    joined = [s for f in plan.values() for s in f.stages if s.joins is not None]
    if not joined:
        return []
    wrong = [d for s in joined for d in _misplaced(plan, s)]
    if wrong:
        return wrong
    for s in joined:
        f = plan[s.func]
        leading = _leader(plan, s)
        if isinstance(leading, Diagnostic):
            wrong.append(leading)
        else:
            number = f.stages.index(s)
            stages = (*f.stages[:number], replace(s, joins=leading), *f.stages[number + 1 :])
            plan[s.func] = replace(f, stages=stages)
    for name, f in plan.items():
        store = None if f.store is None else _of_leader(plan, f.store)
        hoist = None if f.hoist is None else _of_leader(plan, f.hoist)
        plan[name] = replace(f, compute=_of_leader(plan, f.compute), store=store, hoist=hoist)
    return wrong


def _of_leader(plan: Plan, level: Level) -> Level:
    """The level, by the name that the leader has for its loop."""
    if not isinstance(level, At):
        return level
    stage = stage_at(plan, level)
    names = [x.name for x in stage.loops[: stage.shared]]
    if stage.joins is None or level.loop not in names:
        return level
    return At(stage.joins.func, stage.joins.update, level.loop, level.span)


def _leader(plan: Plan, stage: StagePlan) -> At | Diagnostic:
    """The loop of the step at the end of the chain; its steps share no fewer loops than this one does."""
    assert stage.joins is not None
    level, seen = stage.joins, [stage]
    while (next_stage := stage_at(plan, level)).joins is not None:
        if next_stage in seen:
            return Diagnostic(
                f"`{stage_text(stage)}` would be computed with itself", stage.joins.span,
                "one of the steps must keep loops of its own",
            )  # fmt: skip
        if next_stage.shared < stage.shared:
            between, leader = stage_text(next_stage), stage_text(stage_at(plan, next_stage.joins))
            return Diagnostic(
                f"`{stage_text(stage)}` shares more loops with `{between}` than that does with "
                f"`{leader}`", stage.joins.span, f"share fewer, or compute both with `{leader}`",
            )  # fmt: skip
        seen.append(next_stage)
        level = At(next_stage.joins.func, next_stage.joins.update, level.loop, level.span)
    return level


def _misplaced(plan: Plan, stage: StagePlan) -> Iterator[Diagnostic]:
    """Why two steps have no loops in common: where they are, or how their loops were made."""
    assert stage.joins is not None
    at = stage.joins
    leader, f, g = stage_at(plan, at), plan[stage.func], plan[at.func]
    name = stage_text(stage)
    if (stage.func, stage.update) == (leader.func, leader.update):
        yield Diagnostic(f"`{name}` would be computed with itself", at.span, "name another step")
        return
    for each in (f, g):
        if isinstance(each.compute, Inline):
            yield Diagnostic(
                f"`{each.func.name}` is inlined: it has no loops, to share with another step",
                at.span, f"`{each.func.name}.compute_root()`, or compute it at a loop",
            )  # fmt: skip
            return
    if f.compute != g.compute:
        yield Diagnostic(
            f"`{f.func.name}` and `{g.func.name}` are computed at different places: they have no loops "
            "to share", at.span, "compute both at the same loop, or both by `compute_root()`",
            _note(g),
        )  # fmt: skip
        return
    for each in (f, g):
        if each.memory is Memory.AMX_TILE:
            yield Diagnostic(
                f"`{each.func.name}` is in tiles, of which instructions make loops of their own",
                at.span, "leave `compute_with` or `store_in` out",
            )  # fmt: skip
            return
    for step in (stage, leader):
        if step.special:
            yield Diagnostic(
                f"`{stage_text(step)}` has specialized copies, and shares its loops with no other step",
                at.span, "leave `specialize` or `compute_with` out",
            )  # fmt: skip
            return
    yield from _unlike(stage, leader, at)


def _note(g: FuncPlan) -> tuple[Note, ...]:
    at = g.compute
    return (Note("the other is computed here", at.span),) if isinstance(at, At) and at.span else ()


def _unlike(stage: StagePlan, leader: StagePlan, at: At) -> Iterator[Diagnostic]:
    """The first loop, down to the one that is named, in which the steps differ."""
    name, other = stage_text(stage), stage_text(leader)
    count = next(n for n, x in enumerate(leader.loops, 1) if x.name == at.loop)
    for n, theirs in enumerate(leader.loops[:count]):
        if theirs.kind in ir.GPU_LOOPS:
            yield Diagnostic(
                f"`{theirs.name}` is given to a GPU, where each step has a grid of its own", at.span,
                "leave `compute_with` out, or write the steps as one Func of several values",
            )  # fmt: skip
            return
        own = stage.loops[n] if n < len(stage.loops) else None
        if own is None or own.name != theirs.name:
            what = "no more loops" if own is None else f"`{own.name}` there"
            yield Diagnostic(
                f"`{name}` cannot have the loop `{theirs.name}` of `{other}`: it has {what}", at.span,
                f"the loops down to `{at.loop}` have the same names and order in both",
            )  # fmt: skip
            return
        same = own.dim == theirs.dim and own.kind == theirs.kind
        same = same and stage.ancestry(n + 1) == leader.ancestry(n + 1)
        said = [
            (dict(s.pipelined).get(own.dim), dict(s.parted).get(own.dim)) for s in (stage, leader)
        ]
        if not same or said[0] != said[1]:
            yield Diagnostic(
                f"`{name}` and `{other}` have loops `{own.name}` that are made in different ways", at.span,
                "split them by the same factors and tails, and make both parallel, unrolled or neither",
            )  # fmt: skip
            return

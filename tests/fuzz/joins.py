"""Random `compute_with`: a step gets the loops of one further down that is computed at the same place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from choices import chance, pick
from loop_model import Level, Node, Stage, outside

if TYPE_CHECKING:
    from schedules import Plan


def like_another(plan: Plan, node: Node, stage: Stage) -> tuple[list[str], list[str]]:
    """Directives for a step that give it the loops of one that has been scheduled, and the line that
    joins the two; none where no other will do, or four times in ten."""
    if not chance(plan.c, 60) or plan.draft.apart:
        return [], []
    place = _place(plan, node)
    names = {x.name for x in stage.loops}
    order = [f.name for f in plan.draft.funcs]
    if node.name not in order:
        return [], []
    before = [plan.nodes[name] for name in order[: order.index(node.name)]]
    others = [
        (m, t)
        for m in before
        for t in m.stages
        if m.place != "inline" and _place(plan, m) == place and _is_free(t)
        and (m.variables == node.variables or not t.directives)
        and names & {x.name for x in t.loops}
        and ((t.update is None) == (stage.update is None) or not t.directives)
        and (stage is node.stages[-1] or all(node.name not in x.reads for x in m.stages))
    ]  # fmt: skip
    if not others:
        return [], []
    other, theirs = pick(plan.c, others)
    if theirs.directives:  # made from the same loops
        own = {r for x in theirs.loops for r in x.roots}
        if own != names:
            return [], []
        stage.loops = [replace(x) for x in theirs.loops]
        stage.atomic = theirs.atomic
    pairs = zip(stage.loops, theirs.loops, strict=False)
    shared = [b for a, b in pairs if a.name == b.name]
    if not shared or stage.loops[0].name != theirs.loops[0].name:
        return [], []
    loop = pick(plan.c, shared)
    theirs.joins = (node.name, stage.update, loop.name)
    where = f"{_step(node, stage)}, {loop.name}"
    return list(theirs.directives), [f"{_step(other, theirs)}.compute_with({where})"]


def _is_free(stage: Stage) -> bool:
    """Whether a step may join another: it is of the program, and its loops are known."""
    text = "".join(stage.directives)
    words = ("rfactor", "specialize", "prefetch", "tail = exact")
    return stage.joins is None and bool(stage.loops) and not any(w in text for w in words)


def _place(plan: Plan, node: Node) -> list[Level]:
    return outside(plan.nodes, node)


def _step(node: Node, stage: Stage) -> str:
    if stage.update is None:
        return node.text
    return f"{node.text}.update" if stage.update == 0 else f"{node.text}.update({stage.update})"

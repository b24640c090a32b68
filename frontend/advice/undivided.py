"""Loops that `partition` asks to be divided, of which no iterations decide anything."""

from __future__ import annotations

import re

from hbc.frontend.plans.plan import stage_text
from hbc.frontend.program.funcs import Func, Pipeline, Schedule
from hbc.ir.algebra.decided import middle
from hbc.ir.ground.diag import Diagnostic, Severity
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import statements


def undivided(p: Pipeline, schedule: Schedule | None, kernel: Kernel) -> list[Diagnostic]:
    """A warning for each `partition(i)` after which all loops `i` of the step are as they were. `kernel` is
    the program before the pass that divides them."""
    lines = () if schedule is None else schedule.lines
    asked = [
        (line.stage, d) for line in lines for d in line.directives
        if d.name == "partition" and str(d.args[-1]) != "never"
    ]  # fmt: skip
    if not asked:
        return []
    parted = [x for x in statements(kernel.body) if isinstance(x, ir.For) and x.marks.parted]
    funcs = {f.name: f for f in p.funcs}
    found = []
    for stage, d in asked:
        name = str(d.args[0])
        func = funcs.get(stage.name)
        loops = [x for x in parted if _is_of(x, stage.name, name, func, stage.update)]
        if loops and all(middle(x) is None for x in loops):
            found.append(Diagnostic(
                f"`partition({name})` divides nothing: no condition, clamp or tail in the loops of"
                f" `{stage_text(stage)}` depends on `{name}`", d.span,
                "leave it out", severity=Severity.WARNING,
            ))  # fmt: skip
    return found


def _is_of(x: ir.For, owner: str, name: str, func: Func | None, update: int | None) -> bool:
    """Whether it is the loop of that name of the step: `name`, or `owner_name` where that was taken."""
    if re.fullmatch(rf"({re.escape(owner)}_)?{re.escape(name)}\d*", x.var) is None:
        return False
    arrays = {owner} if func is None else {part.name for part in func.parts}
    stores = [s for s in statements(x) if isinstance(s, ir.Store) and s.buffer in arrays]
    if func is None or func.name != owner:
        return bool(stores)
    span = func.span if update is None else func.updates[update].span
    return any(s.span == span for s in stores)

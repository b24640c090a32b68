"""Funcs that a schedule stores around the loop that computes them, and that nothing of is reused."""

from __future__ import annotations

from hbc.frontend.directives.schedule import apply_schedule
from hbc.frontend.plans.inline import inline_funcs
from hbc.frontend.plans.reuse import why_anew
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.ground.diag import Diagnostic, Severity

STORED = ("store_at", "store_root")


def computed_anew(p: Pipeline, schedule: Schedule | None, gpu: bool) -> list[Diagnostic]:
    """A warning for each `store_at` by which nothing is reused, where that is sure. On a GPU, memory around
    a loop is also what threads share."""
    lines = () if schedule is None else schedule.lines
    asked = [(line, d) for line in lines for d in line.directives if d.name in STORED]
    if gpu or not asked:
        return []
    _, scheduled = apply_schedule(p, schedule, False)
    plan = inline_funcs(scheduled)
    why = {name: why_anew(plan, f, False) for name, f in plan.items()}
    return [
        Diagnostic(
            f"nothing of `{name}` is reused by `{d.name}`: {why[name]}", d.span,
            f"leave `{d.name}` out, which takes less memory",
            severity=Severity.WARNING,
        )
        for line, d in asked
        if why.get(name := line.stage.name)
    ]  # fmt: skip

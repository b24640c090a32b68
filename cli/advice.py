"""What is allowed and slow in a program as scheduled: warnings that change neither code nor exit code."""

from __future__ import annotations

from hbc.frontend.advice.anew import computed_anew
from hbc.frontend.advice.undivided import undivided
from hbc.frontend.advice.unscheduled import unscheduled
from hbc.frontend.advice.whole_ranges import whole_ranges
from hbc.frontend.program.by_size import apart
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.ground.diag import Diagnostic, Severity, in_order
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, Target
from hbc.ir.lang.walk import contains, statements
from hbc.ir.vectors.slow_lanes import slow_lanes

LOOPS = "partition"  # the last pass after which vector loops are loops still
WHOLE = "simplify"  # the last before loops are divided
UNSELECTED = "private-tiles"  # the last before instructions are chosen


@mutable
class Watch:
    """Keeps, while passes run, the program that advice is about."""

    whole: Kernel | None = None
    loops: Kernel | None = None
    unselected: Kernel | None = None

    def __call__(self, name: str, kernel: Kernel) -> None:
        if name == WHOLE:
            self.whole = kernel
        if name == LOOPS:
            self.loops = kernel
        if name == UNSELECTED:
            self.unselected = kernel


def advice(
    p: Pipeline, schedule: Schedule | None, target: Target, watch: Watch, done: Kernel
) -> list[Diagnostic]:
    """Warnings, once each, in the order of the file. `watch` has seen the passes run, `done` is the
    program after all of them: statements that became tensor instructions have no lanes of their own. A
    schedule that hbc made is nothing for its user to edit: no advice is given on it. Of several by size each
    is lowered once more, by itself."""
    if schedule is not None and schedule.choices:
        found = [d for s in apart(schedule) for d in _alone(p, s, target)]
        return in_order(dict.fromkeys(found))
    made = schedule is not None and schedule.name not in [s.name for s in p.schedules]
    loops = watch.loops
    if loops is None or made:
        return idle(p)
    performed = {
        s.span
        for s in statements(done.body)
        if isinstance(s, ir.Store) and contains(s.value, ir.Instruct)
    }
    warnings = [*idle(p), *unscheduled(p, schedule, loops), *slow_lanes(loops, target, performed)]
    warnings += computed_anew(p, schedule, target.machine == GPU)
    if watch.whole is not None:
        warnings += undivided(p, schedule, watch.whole)
    if target.machine != GPU:
        warnings += whole_ranges(p, schedule, loops)
    return in_order(dict.fromkeys(warnings))


def _alone(p: Pipeline, schedule: Schedule, target: Target) -> list[Diagnostic]:
    from hbc.cli.pipeline import lower_to_kernel

    watch = Watch()
    done = lower_to_kernel(p, schedule, target, watch)
    return advice(p, schedule, target, watch, done)


def idle(p: Pipeline) -> list[Diagnostic]:
    """Reductions that are declared, and that nothing runs along."""
    return [
        Diagnostic(
            f"no update runs along `{r.name}`: an update has loops over the reductions that it names", r.span,
            f"remove it; steps that do not read theirs are counted by `while {r.name}: condition`",
            severity=Severity.WARNING,
        )
        for r in p.idle
    ]  # fmt: skip

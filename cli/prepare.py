"""From the arguments of a command to a lowered kernel, its C and its library, with their times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hbc.cli.machine import can_run, target_named
from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.cli.report import notice
from hbc.codegen.c import CSource, emit_c
from hbc.codegen.toolchain import Output, build, find_compiler, openmp_note
from hbc.frontend.funcs import Pipeline, Schedule
from hbc.ir.diag import Diagnostic, ToolError
from hbc.ir.kernel import Kernel
from hbc.ir.target import TARGETS, Target

NO_SCHEDULE = "none"  # --schedule none: plain loops


@dataclass(frozen=True, slots=True)
class Chosen:
    """A checked file with the target and the schedule that the command line asks for."""

    pipeline: Pipeline
    target: Target
    schedule: Schedule | None

    @property
    def schedule_name(self) -> str:
        return NO_SCHEDULE if self.schedule is None else self.schedule.name


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel as C. `seconds` is what hbc took, from reading the file to the text."""

    chosen: Chosen
    kernel: Kernel
    source: CSource
    seconds: float


def choose(
    path: Path, settings: Mapping[str, str], target: str | None, schedule: str | None,
    fix_sizes: bool = False,
) -> Chosen:  # fmt: skip
    """Reads and checks the file. HbcError for the user's mistakes, UsageError for names that do
    not exist."""
    found = target_named(target)
    pipeline = load_pipeline(path, settings, fix_sizes)
    if schedule == NO_SCHEDULE and NO_SCHEDULE not in [s.name for s in pipeline.schedules]:
        return Chosen(pipeline, found, None)
    return Chosen(pipeline, found, choose_schedule(pipeline, found.name, schedule))


def compile_chosen(
    chosen: Chosen,
    after: Callable[[str, Kernel], None] | None = None,
    timings: dict[str, float] | None = None,
) -> Compiled:
    """Lowers and prints the C. `after` sees the kernel after each pass, `timings` takes seconds."""
    start = time.perf_counter()
    kernel = lower_to_kernel(chosen.pipeline, chosen.schedule, chosen.target, after, timings)
    printing = time.perf_counter()
    source = emit_c(kernel, chosen.target)
    end = time.perf_counter()
    if timings is not None:
        timings["emit"] = end - printing
    return Compiled(chosen, kernel, source, end - start)


def build_library(compiled: Compiled, out: Path, kind: Output = "so") -> float:
    """Compiles the C to `out`; the seconds that the C compiler took. ToolError without one."""
    note = openmp_note(compiled.source, find_compiler())
    if note is not None:
        notice(f"note: {note}")
    start = time.perf_counter()
    build(compiled.source, compiled.chosen.target, out, kind)
    return time.perf_counter() - start


def require_runnable(target: Target) -> None:
    """ToolError unless this processor can run the target's code."""
    if not can_run(target):
        able = ", ".join(t.name for t in TARGETS.values() if can_run(t))
        raise ToolError(
            Diagnostic(
                f"this processor cannot run `{target.name}` code: it lacks "
                + ", ".join(_lacking(target)),
                hint=f"use --target with one of: {able}",
            )
        )


def _lacking(target: Target) -> list[str]:
    from hbc.cli.machine import cpu_features

    return [need for need in target.needs if need not in cpu_features()]

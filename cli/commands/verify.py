"""`hbc verify`: the IR after every pass and the native code, against the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show.options import (
    example_option,
    json_option,
    kernel_options,
    native_options,
    thread_count,
)
from hbc.ir.ground.diag import Diagnostic, MismatchError
from hbc.ir.host.scratch import scratch_folder

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled, Runner
    from hbc.cli.runs.stages import Stage
    from hbc.cli.runs.trials_by_size import Tried
    from hbc.cli.show.report import Json, Progress
    from hbc.frontend.program.funcs import Example
    from hbc.ir.lang.kernel import Kernel


@click.command("verify")
@kernel_options
@click.option(
    "--trials",
    type=click.IntRange(1, 100_000),
    default=6,
    show_default=True,
    help="Sets of sizes and inputs for the IR, and again for the native code.",
)
@click.option("--native/--no-native", default=True, help="Run the compiled code [default: yes].")
@example_option
@native_options
@json_option
def command(
    kernel: Path, only: str | None, settings: Mapping[str, str], target: str | None, schedule: str | None,
    isa: tuple[Path, ...], fallback: str, trials: int, native: bool, example: str | None, emulate: bool,
    on_cpu: bool, threads: int | None, timeout: float, as_json: bool,
) -> None:  # fmt: skip
    """Compare every stage of KERNEL with the oracle.

    The IR after each pass is interpreted at small odd sizes. The native code runs on the example
    and at larger odd sizes, with all processors, in memory that faults behind each array, and on
    rows that lie apart. Inputs are random over their range, NaN and infinities among them; outputs
    are poisoned before each run. --set keeps a size as it is.
    """
    from hbc.cli.compiled import Runner
    from hbc.cli.files.inputs import choose_example
    from hbc.cli.files.one_kernel import one_kernel
    from hbc.cli.files.sizes import given_sizes
    from hbc.cli.machine import cpu_count
    from hbc.cli.prepare import choose, compile_chosen
    from hbc.cli.runs.emulation import for_instructions, runner_for
    from hbc.cli.runs.stages import verify_passes
    from hbc.cli.show.report import progress

    chosen = choose(one_kernel(kernel, only), settings, target, schedule, isa, fallback)
    runner = runner_for(chosen, emulate, on_cpu, stands_in=True) if native else Runner()
    p = chosen.pipeline
    chosen_example = choose_example(p, example)
    after: list[tuple[str, Kernel]] = []
    with progress() as shown:
        shown.step("compiling")
        compiled = compile_chosen(chosen, lambda name, k: after.append((name, k)))
        given = given_sizes(p, settings)
        tried: Tried = Counter()
        stages = verify_passes(chosen, given, chosen_example, after, trials, shown, tried)
        if native:
            runner = for_instructions(runner, compiled)
            number = thread_count(threads, cpu_count(), compiled.source.parallel)
            stages.append(
                native_stage(
                    compiled,
                    settings,
                    chosen_example,
                    trials,
                    number,
                    timeout,
                    runner,
                    shown,
                    tried,
                )
            )
    _report(compiled, stages, runner, tried, as_json)
    mistakes = [text for stage in stages for text in stage.mistakes]
    if mistakes:
        raise MismatchError([Diagnostic(text) for text in mistakes])


def native_stage(
    compiled: Compiled, settings: Mapping[str, str], example: Example, trials: int, threads: int,
    timeout: float, runner: Runner, shown: Progress, tried: Tried | None = None,
) -> Stage:  # fmt: skip
    from hbc.cli.prepare import build_for_calls
    from hbc.cli.runs.native import Native
    from hbc.cli.runs.stages import verify_native
    from hbc.codegen.c.source import CSource
    from hbc.codegen.c.work import always_on_threads

    if isinstance(compiled.source, CSource):
        compiled = replace(compiled, source=always_on_threads(compiled.source))
    with scratch_folder() as folder:
        shown.step("compiling the C")
        library, _ = build_for_calls(compiled, folder, runner)
        with Native(library, threads, timeout, runner.emulator) as native:
            stage = verify_native(
                compiled.chosen, settings, example, compiled.kernel, native, trials, shown, tried
            )
            stage.emulated = dict(native.emulated)
            return stage


def _report(
    compiled: Compiled, stages: Sequence[Stage], runner: Runner, tried: Tried, as_json: bool
) -> None:
    from hbc.cli.show.report import notice, print_json, print_table

    chosen = compiled.chosen
    several = () if chosen.schedule is None else chosen.schedule.choices
    by_schedule = {s.name: tried[s.name] for s in several}
    if as_json:
        print_json(_as_object(compiled, stages, runner, by_schedule))
        return
    for note in _notes(compiled, stages, by_schedule):
        notice(f"note: {note}")
    by = f", which is written for {chosen.written_for}" if chosen.written_for else ""
    title = f"{compiled.source.name} for {chosen.target.name}, schedule {chosen.schedule_name}{by}"
    print_table(title, ("stage", "trials>", "error / bound>", ""), [_row(s) for s in stages])


def _row(stage: Stage) -> tuple[str, str, str, str]:
    error = "exact" if stage.worst == 0 else f"{stage.worst:.2g}"
    verdict = "WRONG" if not stage.ok else "ok" if stage.trials else "not tried"
    return stage.name, str(stage.trials), error, verdict


def _as_object(
    compiled: Compiled, stages: Sequence[Stage], runner: Runner, by_schedule: Mapping[str, int]
) -> dict[str, Json]:
    """Stable keys: docs/json.md."""
    found: dict[str, Json] = {
        "kernel": compiled.source.name,
        "target": compiled.chosen.target.name,
        "schedule": compiled.chosen.schedule_name,
        "ok": all(stage.ok for stage in stages),
        "trials": sum(stage.trials for stage in stages),
        "max_error_over_bound": max(stage.worst for stage in stages),
        "assumes_finite": compiled.kernel.assumes_finite,
        "emulated": next((dict(s.emulated) for s in stages if s.emulated), None),
        "by_functions": list(runner.functions),
    }
    if by_schedule:
        found["by_schedule"] = dict(by_schedule)
    found["stages"] = [
        {
            "name": stage.name,
            "ok": stage.ok,
            "trials": stage.trials,
            "max_error_over_bound": stage.worst,
            "elements": stage.elements,
            "not_compared": stage.anything,
            "mistakes": stage.mistakes,
        }
        for stage in stages
    ]
    return found


def _notes(
    compiled: Compiled, stages: Sequence[Stage], by_schedule: Mapping[str, int]
) -> Iterator[str]:
    """What a user should know of what was tried, and what was not."""
    from hbc.cli.runs.emulation import counts_text

    untried = [stage.name for stage in stages if not stage.trials]
    if untried and any(stage.trials for stage in stages if stage.name != "native"):
        passes = ", ".join(untried)
        yield f"{passes}: too many statements, interpreted only where the last pass is wrong"
    elif untried:
        yield "no sizes were found that the kernel accepts and the interpreter can handle"
    for name, times in by_schedule.items():
        if not times:
            yield f"no sizes were found at which `{name}` is chosen: give some by --set"
    if compiled.kernel.assumes_finite:
        yield "all inputs were finite: an infinity or NaN may reach neighbouring results"
    for stage in [stage for stage in stages if stage.anything][-1:]:
        yield (
            f"{stage.name}: {stage.anything:,} of {stage.elements:,} elements could not be compared: "
            "by an overflow, a NaN or a comparison that is near, rounding makes them anything"
        )
    for stage in stages:
        if stage.emulated:
            yield f"{stage.name}: the emulator executed {counts_text(stage.emulated)}"
    if by_schedule:
        listed = ", ".join(f"`{name}` in {times}" for name, times in by_schedule.items())
        yield f"chosen by size: {listed} of {sum(by_schedule.values())} trials"

"""`hbc bench`: how fast a kernel is, beside what this machine can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show.options import (
    LONGEST,
    Seconds,
    example_option,
    json_option,
    kernel_options,
    named_paths,
    native_options,
    thread_count,
)  # fmt: skip
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.ground.record import record
from hbc.ir.host.scratch import scratch_folder

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled, Runner
    from hbc.cli.roof.roofs import Roofs
    from hbc.cli.roof.speed import Speed
    from hbc.cli.runs.native import Called
    from hbc.cli.show.report import Json, Progress


@click.command("bench")
@kernel_options
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=FILE",
    help="An input from a file, as for `hbc run`.",
)
@click.option(
    "--seconds",
    type=Seconds(min=0, max=LONGEST),
    metavar="SECONDS",
    default=1.0,
    show_default=True,
    help="Repeat the call for at least this long.",
)
@click.option("--refresh", is_flag=True, help="Measure this machine's roofs again.")
@click.option("--flush-l2", is_flag=True, help="On a GPU, empty its L2 cache before each call.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw a roofline (.svg, .png or .pdf; takes matplotlib: hbc[plots]).",
)
@click.option(
    "--beside",
    multiple=True,
    metavar="NAME=SECONDS",
    help="Draw what another library takes for the same work, too; may be repeated.",
)
@example_option
@native_options
@json_option
def command(
    kernel: Path, only: str | None, settings: Mapping[str, str], target: str | None, schedule: str | None,
    isa: tuple[Path, ...], fallback: str, inputs: tuple[str, ...], seconds: float, refresh: bool,
    flush_l2: bool, plot: Path | None, beside: tuple[str, ...], example: str | None, emulate: bool,
    on_cpu: bool, threads: int | None, timeout: float, as_json: bool,
) -> None:  # fmt: skip
    """Time KERNEL on its example, with one thread unless told otherwise.

    The time is the median of at least 7 calls after 2 for warming up, arrays in memory or cache as
    the calls leave them. The roof is the longer of the arithmetic at the peak rate and the bytes at
    the bandwidth of the cache they fit in, both measured on this machine with as many threads.

    On a GPU its events take the time, of what the device does alone; the roof is that of its tensor
    cores and of its copies.
    """
    from hbc.cli.compiled import packs_of
    from hbc.cli.files.inputs import choose_example, gather_inputs
    from hbc.cli.files.scalars import parameters
    from hbc.cli.kept_kernels import choose_kept
    from hbc.cli.prepare import build_for_calls
    from hbc.cli.roof.plot import check_work, draw_roofline
    from hbc.cli.roof.speed import speed_of
    from hbc.cli.runs.emulation import for_instructions, runner_for
    from hbc.cli.runs.native import Native, Repeat, output_shapes
    from hbc.cli.runs.work import count_work
    from hbc.cli.show.report import headline, print_facts, print_json, progress
    from hbc.cli.tuning.written import name_machine

    others = _seconds_beside(beside, plot)
    chosen, compile_it = choose_kept(kernel, only, settings, target, schedule, isa, fallback)
    runner = runner_for(chosen, emulate, on_cpu)
    if flush_l2 and runner.gpu is None:
        raise UsageError(Diagnostic("--flush-l2 is for code that runs on a GPU"))
    p = chosen.pipeline
    name_machine(p, chosen.schedule)
    files = named_paths("--input", inputs, tuple(parameters(p)))
    with progress() as shown, scratch_folder() as folder:
        shown.step("compiling")
        compiled = compile_it()
        runner = for_instructions(runner, compiled)
        number = thread_count(threads, 1, compiled.source.parallel)
        library, building = build_for_calls(compiled, folder, runner)
        run = gather_inputs(p, settings, choose_example(p, example), files)
        chosen = chosen.at(run.sizes)
        work = count_work(p, run.sizes)
        if plot is not None:
            check_work(work)
        roofs, again = _roofs(runner, number, shown, flush_l2, refresh)
        shown.step("measuring")
        repeat = Repeat(warmups=2, least=7, seconds=seconds, most=100_000, flush=flush_l2)
        with Native(library, number, timeout, runner.emulator) as native:
            shapes = output_shapes(p, run.sizes)
            name, sizes = compiled.source.name, list(run.sizes.values())
            called = native.call(
                name, sizes, run.inputs, shapes, repeat, packs=packs_of(compiled),
                in_place=p.in_place,
            )  # fmt: skip
        speed = speed_of(called.seconds, work, roofs, shown, again)
    if plot is not None:
        draw_roofline(plot, headline(chosen.title, number, runner.gpu), speed, others)
    timed = _Timed(compiled, runner, number, run.sizes, called, speed, building, flush_l2)
    if as_json:
        print_json(timed.as_json())
        return
    facts = [*timed.facts(), *([("plot", str(plot))] if plot is not None else [])]
    print_facts(headline(chosen.title, number, runner.gpu), facts)


@record
class _Timed:
    """A kernel that was called on its example, and what is said of it. `building`: the seconds of the C
    compiler. `flushed`: each call found a GPU's L2 cache empty."""

    compiled: Compiled
    runner: Runner
    threads: int
    sizes: Mapping[str, int]
    called: Called
    speed: Speed
    building: float
    flushed: bool

    def as_json(self) -> dict[str, Json]:
        """The keys of `hbc bench --json`."""
        emulated = self.called.emulated
        return {
            "kernel": self.compiled.source.name,
            "target": self.compiled.chosen.target.name,
            "schedule": self.compiled.chosen.at(self.sizes).schedule_name,
            "threads": self.threads,
            "gpu": self.runner.gpu,
            "l2_flushed": self.flushed,
            "sizes": dict(self.sizes),
            **self.speed.as_json(),
            "emulated": None if emulated is None else dict(emulated),
            "by_functions": list(self.runner.functions),
            "packing_seconds": dict(self.called.packing),
            "compile_seconds": self.compiled.seconds,
            "c_compiler_seconds": self.building,
        }

    def facts(self) -> list[tuple[str, str]]:
        """Lines to read, each after its name."""
        from hbc.cli.show.report import seconds as duration

        sizes = ", ".join(f"{n} = {v}" for n, v in self.sizes.items())
        facts = [("sizes", sizes)] if sizes else []
        facts += _about_emulation(self.called, self.runner)
        facts += [
            ("packed", f"`{n}` beforehand, in {duration(took)}, which is not timed")
            for n, took in self.called.packing.items()
        ]
        built = _about_building(self.compiled.seconds, self.building, self.flushed)
        return [*facts, *self.speed.facts(), *built]


def _seconds_beside(beside: tuple[str, ...], plot: Path | None) -> dict[str, float]:
    """The times of others, by their names. UsageError for what is none."""
    from hbc.cli.roof.plot import check_plot

    if plot is not None:
        check_plot(plot)
    elif beside:
        raise UsageError(Diagnostic("--beside is for a picture", hint="name one with --plot"))
    others = {}
    for text in beside:
        name, _, seconds = text.rpartition("=")
        try:
            took = float(seconds)
        except ValueError:
            took = 0.0
        if not name or not 0 < took < LONGEST:
            raise UsageError(
                Diagnostic(
                    f"--beside: `{text}` is not NAME=SECONDS", hint="as in `--beside oneDNN=0.0196`"
                )
            )
        others[name] = took
    return others


def _roofs(
    runner: Runner, threads: int, shown: Progress, flush_l2: bool, refresh: bool
) -> tuple[Roofs, Callable[[Roofs, Progress], Roofs]]:
    """Those of the processor or GPU that runs the kernel, and what measures them again."""
    if runner.gpu is None:
        from hbc.cli.roof.roofs import machine_roofs, raised_roofs

        return machine_roofs(threads, shown, refresh), raised_roofs
    from hbc.cli.roof.gpu_roofs import gpu_roofs, measured_again

    return gpu_roofs(shown, flush_l2, refresh), measured_again


def _about_emulation(called: Called, runner: Runner) -> list[tuple[str, str]]:
    """What did the work of instructions that this processor has not."""
    from hbc.cli.runs.emulation import counts_text

    if called.emulated is not None:
        return [("emulated", f"{counts_text(called.emulated)}: the times mean nothing")]
    if runner.functions:
        return [("by C functions", f"{', '.join(runner.functions)}: the times mean nothing")]
    return []


def _about_building(compiling: float, building: float, flushed: bool) -> list[tuple[str, str]]:
    """What took time before the kernel ran, in seconds, and in what state the cache was."""
    from hbc.cli.show.report import seconds as duration

    facts = [("compiled", f"in {duration(compiling)}, C in {duration(building)}")]
    return [*facts, ("cache", "L2 emptied before each call")] if flushed else facts

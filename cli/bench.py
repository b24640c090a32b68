"""`hbc bench`: how fast a kernel is, beside what this machine can do."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from hbc.cli.options import (
    LONGEST,
    Seconds,
    example_option,
    json_option,
    kernel_options,
    named_paths,
    native_options,
    thread_count,
)  # fmt: skip


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
@example_option
@native_options
@json_option
def command(
    kernel: Path, settings: Mapping[str, str], target: str | None, schedule: str | None,
    isa: tuple[Path, ...], fallback: str, inputs: tuple[str, ...], seconds: float, refresh: bool,
    example: str | None, emulate: bool, on_cpu: bool, threads: int | None, timeout: float, as_json: bool,
) -> None:  # fmt: skip
    """Time KERNEL on its example, with one thread unless told otherwise.

    The time is the median of at least 7 calls after 2 for warming up, arrays in memory or cache as
    the calls leave them. The roof is the longer of the arithmetic at the peak rate and the bytes at
    the bandwidth of the cache they fit in, both measured on this machine with as many threads.
    """
    from hbc.cli.emulation import counts_text, runner_for
    from hbc.cli.inputs import choose_example, gather_inputs
    from hbc.cli.native import Native, Repeat, output_shapes
    from hbc.cli.prepare import build_for_calls, choose, compile_chosen
    from hbc.cli.report import headline, print_facts, print_json, progress
    from hbc.cli.report import seconds as duration
    from hbc.cli.roofs import machine_roofs
    from hbc.cli.speed import speed_of
    from hbc.cli.work import count_work

    chosen = choose(kernel, settings, target, schedule, isa, fallback)
    runner = runner_for(chosen, emulate, on_cpu)
    p = chosen.pipeline
    files = named_paths("--input", inputs, tuple(i.name for i in p.inputs))
    with progress() as shown, tempfile.TemporaryDirectory(prefix="hbc-") as folder:
        shown.step("compiling")
        compiled = compile_chosen(chosen)
        number = thread_count(threads, 1, compiled.source.parallel)
        library, building = build_for_calls(compiled, Path(folder), runner.on_cpu)
        run = gather_inputs(p, settings, choose_example(p, example), files)
        roofs = machine_roofs(number, shown, refresh)
        shown.step("measuring")
        repeat = Repeat(warmups=2, least=7, seconds=seconds, most=100_000)
        with Native(library, number, timeout, runner.emulator) as native:
            shapes = output_shapes(p, run.sizes)
            name, sizes = compiled.source.name, list(run.sizes.values())
            called = native.call(name, sizes, run.inputs, shapes, repeat)
        speed = speed_of(called.seconds, count_work(p, run.sizes), roofs, shown)
    if as_json:
        print_json(
            {
                "kernel": name,
                "target": chosen.target.name,
                "schedule": chosen.schedule_name,
                "threads": number,
                "sizes": dict(run.sizes),
                **speed.as_json(),
                "emulated": None if called.emulated is None else dict(called.emulated),
                "compile_seconds": compiled.seconds,
                "c_compiler_seconds": building,
            }
        )
        return
    facts = [("sizes", ", ".join(f"{n} = {v}" for n, v in run.sizes.items()))] if run.sizes else []
    if called.emulated is not None:
        facts.append(("emulated", counts_text(called.emulated) + ": the times mean nothing"))
    facts += speed.facts()
    facts.append(("compiled", f"in {duration(compiled.seconds)}, C in {duration(building)}"))
    print_facts(headline(chosen, number), facts)

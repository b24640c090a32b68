"""`hbc run`: compiles, runs on files or on the example, checks, times and writes the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show.options import (
    example_option,
    json_option,
    kernel_options,
    named_paths,
    native_options,
    refuse_one_file_for_several,
    thread_count,
)  # fmt: skip
from hbc.ir.ground.diag import Diagnostic, MismatchError
from hbc.ir.host.scratch import scratch_folder

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled, Runner
    from hbc.cli.files.inputs import Run
    from hbc.cli.files.loaded import Array
    from hbc.cli.roof.speed import Speed
    from hbc.cli.runs.checking import Checked
    from hbc.cli.runs.native import Called
    from hbc.cli.show.report import Json, Progress

MEASURED_SECONDS = 0.5  # how long a run is repeated to be timed, unless
ENOUGH_CALLS = 50  # so many, which is enough for a median, have taken a tenth of that
MOST_CALLS = 1000


@click.command("run")
@kernel_options
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=FILE",
    help="An input from a .npy, PNG, JPEG, WAV, FLAC or OGG file; NAME= may be left out when there is one.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="NAME=FILE",
    help="Where to write an output; NAME= may be left out when there is one.",
)
@click.option(
    "--trace",
    "trace_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write each value in the order of the loops: of Funcs that say `.trace()`, or of all.",
)
@click.option("--verify/--no-verify", default=True, help="Check against the oracle [default: yes].")
@example_option
@native_options
@json_option
def command(
    kernel: Path, only: str | None, settings: Mapping[str, str], target: str | None, schedule: str | None,
    isa: tuple[Path, ...], fallback: str, inputs: tuple[str, ...], outputs: tuple[str, ...],
    trace_file: Path | None, verify: bool,
    example: str | None, emulate: bool, on_cpu: bool, threads: int | None, timeout: float, as_json: bool,
) -> None:  # fmt: skip
    """Run KERNEL on files, or on its example, with all processors.

    The result is compared with the algorithm evaluated by NumPy; nothing is written when it is
    wrong. Pictures are u8 0..255 or floats 0..1, as [H, W], [H, W, C] or [C, H, W]; sounds are i16
    or floats -1..1, as [N], [N, C] or [C, N].
    """
    from hbc.cli.files.data import check_writable
    from hbc.cli.files.inputs import choose_example, gather_inputs
    from hbc.cli.files.scalars import parameters
    from hbc.cli.kept_kernels import choose_kept
    from hbc.cli.machine import cpu_count
    from hbc.cli.runs.emulation import for_instructions, runner_for
    from hbc.cli.show.report import progress

    chosen, compile_it = choose_kept(kernel, only, settings, target, schedule, isa, fallback)
    if trace_file is not None and chosen.on_gpu:
        raise click.UsageError(
            "--trace shows the order of loops, and threads of a GPU have none: choose `--target c`"
        )
    runner = runner_for(chosen, emulate, on_cpu)
    p = chosen.pipeline
    files = named_paths("--input", inputs, tuple(parameters(p)))
    written = named_paths("--output", outputs, tuple(o.name for o in p.outputs))
    refuse_one_file_for_several("--output", written)
    check_writable(written, p.outputs)
    with progress() as shown:
        shown.step("compiling")
        compiled = compile_it()
        runner = for_instructions(runner, compiled)
        number = thread_count(threads, cpu_count(), compiled.source.parallel)

        def gathered() -> Run:
            shown.step("reading the inputs")
            return gather_inputs(p, settings, choose_example(p, example), files)

        run, called = _call(compiled, gathered, number, timeout, runner, shown)
        checked = _check(compiled, run, called.outputs, shown) if verify else None
        _write(compiled, run, called.outputs, written)
        traced = None if trace_file is None else _trace(compiled, run, trace_file, shown)
        speed = _speed(compiled, run, called, number, runner, shown)
    if as_json:
        _print_json(compiled, run, called, speed, checked, written, number, runner, traced)
    else:
        _print(compiled, run, called, speed, checked, written, number, runner)
        if traced is not None:
            click.echo(f"  traced    {traced:,} values in the order of the loops: {trace_file}")


def _call(
    compiled: Compiled, gathered: Callable[[], Run], threads: int, timeout: float, runner: Runner,
    shown: Progress,
) -> tuple[Run, Called]:  # fmt: skip
    """The inputs, and what calls on them gave. They are read, which takes NumPy, while the process that
    calls starts."""
    from hbc.cli.compiled import packs_of
    from hbc.cli.prepare import build_for_calls
    from hbc.cli.runs.native import Native, Repeat, output_shapes

    with scratch_folder() as folder:
        shown.step("compiling the C")
        library, _ = build_for_calls(compiled, folder, runner)
        repeat = Repeat(least=1, seconds=MEASURED_SECONDS, most=MOST_CALLS, enough=ENOUGH_CALLS)
        with Native(library, threads, timeout, runner.emulator) as native:
            run = gathered()
            shown.step("running")
            p = compiled.chosen.pipeline
            called = native.call(
                compiled.source.name, list(run.sizes.values()), run.inputs,
                output_shapes(p, run.sizes), repeat, packs=packs_of(compiled), in_place=p.in_place,
            )  # fmt: skip
            return run, called


def _check(compiled: Compiled, run: Run, outputs: Mapping[str, Array], shown: Progress) -> Checked:
    from hbc.cli.runs.checking import check_outputs
    from hbc.cli.runs.instruction_error import expected_outputs

    shown.step("checking against the oracle")
    p = compiled.chosen.pipeline
    expected = expected_outputs(p, run.sizes, run.inputs, compiled.source.instructions)
    checked = check_outputs(outputs, expected)
    if not checked.ok:
        raise MismatchError(
            [Diagnostic(text, hint="nothing was written") for text in checked.mistakes]
        )
    return checked


def _write(
    compiled: Compiled, run: Run, outputs: Mapping[str, Array], written: Mapping[str, Path]
) -> None:
    from hbc.cli.files.data import write_array

    for image in compiled.chosen.pipeline.outputs:
        if image.name in written:
            write_array(written[image.name], image, outputs[image.name], run.rate)


def _trace(compiled: Compiled, run: Run, path: Path, shown: Progress) -> int:
    """Writes what the loops of the schedule compute, by the interpreter: lanes one after the other."""
    from hbc.cli.files.sizes import extents
    from hbc.cli.files.traced import write_trace
    from hbc.frontend.lowering.lower import lower
    from hbc.ir.meaning.numpy_types import poison

    shown.step("writing the trace")
    chosen = compiled.chosen.at(run.sizes)
    p = chosen.pipeline
    kernel = lower(p, chosen.schedule, chosen.target, trace=True)
    shapes = {o.name: (o.element, extents(o, run.sizes)) for o in p.outputs}
    outputs = {name: poison(e, prod(shape)).reshape(shape) for name, (e, shape) in shapes.items()}
    return write_trace(kernel, run.sizes, {**run.inputs, **outputs}, path)


def _speed(
    compiled: Compiled, run: Run, called: Called, threads: int, runner: Runner, shown: Progress
) -> Speed:
    from hbc.cli.roof.roofs import machine_roofs
    from hbc.cli.roof.speed import speed_of
    from hbc.cli.runs.work import count_work

    # The first call faults the pages in: it counts only when there is no other.
    times = called.seconds[1:] or called.seconds
    work = count_work(compiled.chosen.pipeline, run.sizes)
    if runner.gpu is not None:
        from hbc.cli.roof.gpu_roofs import gpu_roofs, measured_again

        return speed_of(called.seconds, work, gpu_roofs(shown, False), shown, measured_again)
    return speed_of(times, work, machine_roofs(threads, shown), shown)


def _print_json(
    compiled: Compiled, run: Run, called: Called, speed: Speed, checked: Checked | None,
    written: Mapping[str, Path], threads: int, runner: Runner, traced: int | None,
) -> None:  # fmt: skip
    from hbc.cli.show.report import print_json

    found: dict[str, Json] = {
        "kernel": compiled.source.name,
        "target": compiled.chosen.target.name,
        "schedule": compiled.chosen.at(run.sizes).schedule_name,
        "threads": threads,
        "gpu": runner.gpu,
        "sizes": dict(run.sizes),
        **speed.as_json(),
        "emulated": None if called.emulated is None else dict(called.emulated),
        "by_functions": list(runner.functions),
        "verified": checked is not None,
        "max_error_over_bound": None if checked is None else checked.max_error_over_bound,
        "outputs": {name: str(path) for name, path in written.items()},
        "traced": traced,
    }
    print_json(found)


def _print(
    compiled: Compiled, run: Run, called: Called, speed: Speed, checked: Checked | None,
    written: Mapping[str, Path], threads: int, runner: Runner,
) -> None:  # fmt: skip
    from hbc.cli.runs.emulation import counts_text
    from hbc.cli.show.report import headline, print_facts

    facts = [("sizes", ", ".join(f"{n} = {v}" for n, v in run.sizes.items()))] if run.sizes else []
    if checked is None:
        facts.append(("checked", "no (--no-verify)"))
    elif checked.max_error_over_bound == 0:
        facts.append(("checked", "equal to the oracle"))
    else:
        share = checked.max_error_over_bound
        facts.append(("checked", f"like the oracle, the largest error is {share:.2g} of its bound"))
    if called.emulated is not None:
        facts.append(("emulated", counts_text(called.emulated)))
    facts += speed.facts()
    facts += [("wrote", str(path)) for path in written.values()]
    print_facts(headline(compiled.chosen.at(run.sizes).title, threads, runner.gpu), facts)

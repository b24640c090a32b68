"""What `Kernel.verify` and `Kernel.bench` find, measured in a child process as the commands do."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbc.cli.files.inputs import Run, choose_example, gather_inputs
from hbc.cli.runs.emulation import runner_for
from hbc.cli.show.options import LONGEST, thread_count
from hbc.cli.show.report import progress
from hbc.ir.ground.diag import Diagnostic, MismatchError
from hbc.ir.ground.record import record

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled
    from hbc.cli.roof.speed import Speed

TIMEOUT = 600.0  # seconds that one call may take, as `hbc bench` has it


@record
class Verification:
    """`trials` sets of sizes and inputs, and the largest error in units of its bound: 0 where all was
    equal to the oracle, at most 1."""

    trials: int
    max_error_over_bound: float

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        worst = self.max_error_over_bound
        said = "equal to the oracle" if worst == 0 else f"largest error {worst:.2g} of its bound"
        return f"verified in {self.trials} trials: {said}"


@record
class Bench:
    """Times of one call in seconds, rates in 10^9 operations and bytes a second, and the share of what
    this machine can do at most (1 is the roof). `facts` has the same as lines for people."""

    seconds: float
    best: float
    calls: int
    gflops: float
    gbytes_per_s: float
    roof_share: float
    sizes: Mapping[str, int]
    facts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join(f"{name:<6} {value}" for name, value in self.facts)


def verified(
    compiled: Compiled, settings: Mapping[str, str], trials: int, on_cpu: bool
) -> Verification:
    """Runs the compiled code on trials. MismatchError with what differs from the oracle, and where."""
    from hbc.cli.commands.verify import native_stage

    runner = runner_for(compiled.chosen, False, on_cpu, stands_in=True)
    with progress() as shown:
        stage = native_stage(
            compiled, settings, choose_example(compiled.chosen.pipeline, None), trials, 1, TIMEOUT,
            runner, shown,
        )  # fmt: skip
    if stage.mistakes:
        raise MismatchError([Diagnostic(text) for text in stage.mistakes])
    return Verification(stage.trials, stage.worst)


def benched(
    compiled: Compiled, run: Run, threads: int | None, on_cpu: bool, least_seconds: float
) -> Bench:
    """Times the code on these inputs."""
    chosen = compiled.chosen
    runner = runner_for(chosen, False, on_cpu)
    threads = thread_count(threads, 1, compiled.source.parallel)
    with progress(), tempfile.TemporaryDirectory(prefix="hbc-") as folder:
        from hbc.cli.prepare import build_for_calls
        from hbc.cli.runs.native import Native, Repeat, output_shapes

        library, _ = build_for_calls(compiled, Path(folder), runner)
        repeat = Repeat(warmups=2, least=7, seconds=min(least_seconds, LONGEST), most=100_000)
        with Native(library, threads, TIMEOUT, runner.emulator) as native:
            called = native.call(
                compiled.source.name, list(run.sizes.values()), run.inputs,
                output_shapes(chosen.pipeline, run.sizes), repeat,
                in_place=chosen.pipeline.in_place,
            )  # fmt: skip
        speed = _speed(compiled, run, called.seconds, threads, runner.gpu is not None)
    facts = [("sizes", ", ".join(f"{n} = {v}" for n, v in run.sizes.items())), *speed.facts()]
    work = speed.work
    return Bench(
        speed.median, min(speed.times), len(speed.times), work.total / speed.median / 1e9,
        work.bytes / speed.median / 1e9, speed.roof_share, dict(run.sizes), tuple(facts),
    )  # fmt: skip


def inputs_of(
    compiled: Compiled, settings: Mapping[str, str], arrays: Sequence[Any], named: Mapping[str, Any]
) -> Run:
    """Copies of the inputs of a call; where it gives sizes at most, those of the example, or random ones.
    ArgumentError as the call."""
    p = compiled.chosen.pipeline
    if arrays or not named.keys() <= {size.name for size in p.sizes}:
        return copied(compiled, settings, arrays, named)
    from hbc.cli.api.arguments import size_of

    asked = {name: str(size_of(name, value)) for name, value in named.items()}
    return gather_inputs(p, {**settings, **asked}, choose_example(p, None), {})


def copied(
    compiled: Compiled, settings: Mapping[str, str], arrays: Sequence[Any], named: Mapping[str, Any]
) -> Run:
    """The inputs of a call as arrays of NumPy's, and their sizes. ArgumentError as the call."""
    import numpy as np

    from hbc.cli.api.arguments import arrays_in_order, plan_of
    from hbc.cli.api.arrays import view_of
    from hbc.cli.api.int4 import in_bytes
    from hbc.ir.meaning.numpy_types import numpy_dtype

    p = compiled.chosen.pipeline
    arrays, named, shapes = in_bytes(p, arrays, named)
    inputs, sizes = arrays_in_order(p, arrays, named)
    plan = plan_of(p, settings, inputs, (), sizes, view_of, shapes)
    copies = {
        image.name: np.array(array, order="C", copy=None).view(numpy_dtype(image.element))
        for image, array in zip(p.inputs, inputs, strict=True)
    }
    return Run(dict(zip(plan.names, plan.sizes, strict=True)), copies)


def _speed(
    compiled: Compiled, run: Run, times: tuple[float, ...], threads: int, on_gpu: bool
) -> Speed:
    from hbc.cli.roof.roofs import machine_roofs
    from hbc.cli.roof.speed import speed_of
    from hbc.cli.runs.work import count_work

    work = count_work(compiled.chosen.pipeline, run.sizes)
    with progress() as shown:
        if on_gpu:
            from hbc.cli.roof.gpu_roofs import gpu_roofs, measured_again

            return speed_of(times, work, gpu_roofs(shown, False), shown, measured_again)
        return speed_of(times, work, machine_roofs(threads, shown), shown)

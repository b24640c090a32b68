"""`hbc tune` for a GPU: by a model and the compiler where there is none, measured where there is one."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.instruction_set import instructions_of
from hbc.cli.measuring.expected import Expected
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.measured_on import this_machine
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.native import Native, Repeat, output_shapes
from hbc.cli.runs.work import count_work
from hbc.cli.show.arch_option import asked_archs
from hbc.cli.show.report import Json, notice, print_facts, print_json, progress, seconds
from hbc.cli.tuning.gpu_search import Measure, Weighed, said_of, searched
from hbc.cli.tuning.results import plain
from hbc.cli.tuning.tune import Options
from hbc.cli.tuning.written import WIDTH, name_earlier, tuned_name, write_tuned
from hbc.codegen.build.gpu import (
    GpuLibrary,
    find_loader,
    gpu_archs,
    gpu_count,
    gpu_facts,
    usable_there,
)
from hbc.codegen.build.nvcc import build_cuda_cached, find_nvcc
from hbc.codegen.cuda.source import CudaSource
from hbc.frontend.automatic_gpu.device import CLOCK
from hbc.frontend.automatic_gpu.points import gpu_space_of
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError
from hbc.ir.ground.printable import printable
from hbc.ir.ground.record import record
from hbc.ir.lang.target import Target, scheduled_for

TIMEOUT = 60.0  # seconds of the calls of a candidate
WINDOW = 0.05  # seconds of calls of which the quickest counts
NOT_MEASURED = "nothing was measured: there is no GPU here"


@record
class GpuTuning:
    """What of the command line it is about."""

    kernel: Path
    settings: Mapping[str, str]
    write: bool
    example: str | None
    as_json: bool
    options: Options


@record
class Outcome:
    """What came of it. `device`: the GPU that it was measured on, None without one."""

    job: Job
    name: str
    arch: str
    device: str | None
    tried: Sequence[Weighed]
    took: float

    @property
    def best(self) -> Weighed | None:
        good = [w for w in self.tried if not w.reason]
        return min(good, key=lambda w: w.order, default=None)


def tune_for_gpu(s: GpuTuning, p: Pipeline, target: Target, begin: float) -> None:
    """Searches, prints and writes. HbcError where nothing is left; ToolError without nvcc."""
    find_nvcc()
    outcome = _search(s, p, target, begin)
    best = outcome.best
    if best is None:
        reasons = [w.reason for w in outcome.tried if w.reason]
        why = f": {reasons[0]}" if reasons else ""
        raise HbcError(Diagnostic(f"no schedule for `{target.name}` is left{why}"))
    text = _commented(outcome, best)
    if s.as_json:
        _print_json(outcome, best, text)
    else:
        _print(outcome, best, text)
    if outcome.device is None:
        notice(f"note: {NOT_MEASURED}; a model ranks schedules, with what nvcc says of them")
    if s.write:
        write_tuned(s.kernel, p, [(outcome.name, text)], scheduled_for(target))
        notice(f"wrote schedule {outcome.name} into {s.kernel}")
        name_earlier(p, scheduled_for(target), [outcome.name])


def _search(s: GpuTuning, p: Pipeline, target: Target, begin: float) -> Outcome:
    device = gpu_facts().name if gpu_count() else None
    arch = gpu_facts().arch if device is not None else gpu_archs(asked_archs())[0]
    run = gather_inputs(p, s.settings, choose_example(p, s.example), {})
    job = Job(p, target, s.settings, run, count_work(p, run.sizes), 1, this_machine())
    name = tuned_name(scheduled_for(target))
    sizes = {**s.settings, **{n: str(v) for n, v in run.sizes.items()}}
    usable = usable_there(instructions_of(target), arch)
    space = gpu_space_of(p, target, sizes, name, usable)
    o = s.options
    with progress() as shown:
        shown.step("compiling" if device is None else "compiling and measuring")
        measure = None if device is None else measured_by(job, arch)
        until = begin + o.seconds
        tried = searched(space, s.settings, arch, o.trials, until, o.processes, measure)
    return Outcome(job, name, arch, device, tried, time.monotonic() - begin)


def measured_by(job: Job, arch: str) -> Measure:
    """Calls of a candidate on the GPU, whose outputs must be those of the oracle."""
    expected = Expected(job)
    shapes = output_shapes(job.pipeline, job.run.sizes)
    repeat = Repeat(warmups=2, least=5, seconds=WINDOW, most=1000)

    def measure(source: CudaSource) -> float | str:
        try:
            library = GpuLibrary(build_cuda_cached(source, arch), find_loader())
            with Native(library, 1, TIMEOUT) as native:
                called = native.call(
                    source.name, list(job.run.sizes.values()), job.run.inputs, shapes, repeat,
                    in_place=job.pipeline.in_place,
                )  # fmt: skip
        except (HbcError, InternalError) as failure:
            return said_of(failure)
        checked = check_outputs(
            called.outputs, expected.outputs(tuple(i.name for i in source.instructions))
        )
        return min(called.seconds) if checked.ok else checked.mistakes[0]

    return measure


def _commented(outcome: Outcome, best: Weighed) -> str:
    """The schedule with where it comes from."""
    head, _, body = best.made.text.partition("{\n")
    today, at = datetime.date.today().isoformat(), f"at {outcome.job.sizes}: "
    if best.seconds is not None:
        lines = [f"Tuned on {outcome.device} on {today}", at + seconds(best.seconds)]
    else:
        lines = [f"Chosen for {outcome.arch} on {today}; {NOT_MEASURED}", at + _said(best)]
    return f"{head}{{\n" + "".join(f"    # {line[:WIDTH]}\n" for line in lines) + body


def _said(w: Weighed) -> str:
    """What is known of a candidate, in a line."""
    said = [] if w.cycles is None else [f"{seconds(w.cycles / CLOCK)} by the model"]
    r = w.resources
    if r is not None:
        said.append(f"{r.registers} registers, {r.spills} bytes spilled")
        said.append(f"{r.blocks} x {r.threads} threads at once")
    return ", ".join(said)


def _print(outcome: Outcome, best: Weighed, text: str) -> None:
    """On stdout."""
    job = outcome.job
    facts = [("sizes", job.sizes)] if job.sizes else []
    took = NOT_MEASURED if best.seconds is None else seconds(best.seconds)
    facts += [("best", best.made.about), ("", f"{took}; {_said(best)}")]
    start = outcome.tried[0]
    if start is not best and not start.reason:
        first = "" if start.seconds is None else f"{seconds(start.seconds)}; "
        facts.append(("auto", f"{first}{_said(start)}"))
    refused = sum(bool(w.reason) for w in outcome.tried)
    facts.append(
        ("tried", f"{len(outcome.tried)}, of which {refused} refused, in {outcome.took:.0f} s")
    )
    print_facts(
        f"{job.pipeline.name} for {job.target.name}, {outcome.device or outcome.arch}", facts
    )
    click.echo()
    click.echo(printable(text.rstrip()))


def _print_json(outcome: Outcome, best: Weighed, text: str) -> None:
    job = outcome.job
    tried: list[Json] = [_as_json(w) for w in outcome.tried]
    print_json(
        {
            "kernel": job.pipeline.name, "target": job.target.name, "schedule": outcome.name,
            "sizes": dict(job.run.sizes), "arch": outcome.arch, "gpu": outcome.device,
            "measured": outcome.device is not None, "seconds": outcome.took,
            "best": {**_as_json(best), "text": text}, "tried": tried,
        }
    )  # fmt: skip


def _as_json(w: Weighed) -> dict[str, Json]:
    r = w.resources
    return {
        "seconds": w.seconds, "cycles": w.cycles, "reason": w.reason or None,
        "registers": None if r is None else r.registers, "spills": None if r is None else r.spills,
        "shared": None if r is None else r.shared, "blocks": None if r is None else r.blocks,
        "occupancy": None if r is None else r.occupancy, "limit": None if r is None else r.limit,
        "point": {k: plain(v) for k, v in w.made.point.items()}, "about": w.made.about,
    }  # fmt: skip

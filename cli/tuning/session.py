"""What `hbc tune` does with its arguments: a tuning, or one for each row of a table; then says and writes."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path

from hbc.cli.asked_machine import asked_costs, tuning_costs
from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.files.one_kernel import one_kernel
from hbc.cli.fleet.fleet import Fleet, fleet_at
from hbc.cli.machine import target_named
from hbc.cli.measuring.builder import Builders
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.measured_on import Machine, this_machine
from hbc.cli.measuring.track import Track, here
from hbc.cli.measuring.trial import State, Trial
from hbc.cli.pipeline import load_pipeline
from hbc.cli.prepare import require_runnable
from hbc.cli.roof.roofs import Roofs, machine_roofs
from hbc.cli.runs.work import count_work
from hbc.cli.show.report import notice, progress, seconds
from hbc.cli.tuning.by_row import schedules_of
from hbc.cli.tuning.journal import Journal
from hbc.cli.tuning.layers import conditions, rows_of
from hbc.cli.tuning.plot import check_plot, draw
from hbc.cli.tuning.results import Result, print_results
from hbc.cli.tuning.search import DESERTED, INTERRUPTED
from hbc.cli.tuning.tune import CUT_SHORT, Options, Tuned, tune
from hbc.cli.tuning.watching import Watching, share_of
from hbc.cli.tuning.written import check_file, commented, name_earlier, tuned_name, write_tuned
from hbc.codegen.build.cross import is_foreign
from hbc.frontend.costs.machine_costs import MachineCosts
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import Diagnostic, HbcError, ToolError, UsageError
from hbc.ir.ground.record import record
from hbc.ir.lang.target import GPU, Target, scheduled_for

Tracks = Callable[[Job], AbstractContextManager[Track]]


@record
class Session:
    """The command line. `workers`: the scheduler of a fleet that measures, None for this machine."""

    kernel: Path
    only: str | None
    settings: Mapping[str, str]
    isa: tuple[Path, ...]
    target: str | None
    journal: Path | None
    write: bool
    layers: Path | None
    threads: int
    example: str | None
    as_json: bool
    options: Options
    plot: Path | None = None
    workers: str | None = None


def run_session(s: Session) -> None:
    """Tunes, prints and writes. HbcError where nothing can be tuned; KeyboardInterrupt, after all was
    said and written, where it was interrupted; ToolError where no worker was left."""
    begin = time.monotonic()
    if s.write:
        check_file(s.kernel)
    if s.plot is not None:
        check_plot(s.plot)
    program = one_kernel(s.kernel, s.only)
    p = load_pipeline(program, s.settings)
    if s.target is not None and target_named(s.target).machine == GPU:
        _for_gpu(s, p, replace(target_named(s.target), isa=s.isa), begin)
        return
    rows = [None] if s.layers is None else rows_of(s.layers, p)
    results: list[Result] = []
    with ExitStack() as owned:
        fleet = None if s.workers is None else owned.enter_context(fleet_at(s.workers))
        machine = this_machine() if fleet is None else fleet.machine
        target = _target(s, p, machine)
        tracks = _tracks(s, p, target, fleet, owned)
        s = replace(s, options=replace(s.options, costs=_costs(s, target)))
        for number, row in enumerate(rows, start=1):
            name = tuned_name(scheduled_for(target), None if row is None else number)
            settings = {**s.settings, **(row.settings if row is not None else {})}
            tuned_pipeline = p if row is None else load_pipeline(program, settings)
            found = _tuned(s, tuned_pipeline, tracks, machine, target, settings, name, begin)
            results.append(replace(found, row=row))
            begin = time.monotonic()
            if found.tuned.stopped in CUT_SHORT:
                break
    print_results(results, s.as_json)
    if s.plot is not None and draw(results, s.plot):
        notice(f"wrote {s.plot}")
    best = [r for r in results if r.text is not None]
    if s.write and best:
        _write(s, p, target, best)
    if results and results[-1].tuned.stopped == INTERRUPTED:
        raise KeyboardInterrupt
    if results and results[-1].tuned.stopped == DESERTED:
        hint = "what is printed is the best until then" if best else None
        raise ToolError(Diagnostic(f"no worker of `{s.workers}` is left", hint=hint))
    if not best:
        raise HbcError(_nothing(results))


def _for_gpu(s: Session, p: Pipeline, target: Target, begin: float) -> None:
    """The same for a GPU. UsageError for options of tunings on processors."""
    from hbc.cli.tuning.gpu_tune import GpuTuning, tune_for_gpu

    others = {
        "--layers": s.layers,
        "--plot": s.plot,
        "--workers": s.workers,
        "--journal": s.journal,
    }
    for option, value in others.items():
        if value is not None:
            raise UsageError(Diagnostic(f"{option} is for tunings on processors"))
    given = GpuTuning(s.kernel, s.settings, s.write, s.example, s.as_json, s.options)
    tune_for_gpu(given, p, target, begin)


def _tracks(
    s: Session, p: Pipeline, target: Target, fleet: Fleet | None, owned: ExitStack
) -> Tracks:
    """Where candidates race: on this machine, whose compilers begin to start now, or those of a fleet."""
    if fleet is not None:
        return lambda job: fleet.track(job, s.example)
    builders = owned.enter_context(Builders(p.source, target, s.options.processes))
    return lambda job: here(job, builders.serving(job.settings, job.run.sizes))


def _write(s: Session, p: Pipeline, target: Target, best: Sequence[Result]) -> None:
    """What is sound, into the file; and what there is to say of it."""
    held = [r for r in best if r.tuned.sound]
    if len(held) < len(best):
        notice("note: what was not compared at other sizes is not written")
    if not held:
        return
    tests = conditions([r.row for r in held], [size.name for size in p.sizes])
    written = schedules_of(held, tests)
    write_tuned(s.kernel, p, written, scheduled_for(target) if s.layers is None else None)
    names = [name for name, _ in written]
    notice(f"wrote schedule {', '.join(names)} into {s.kernel}")
    bare = [r.name for r, test in zip(held, tests, strict=True) if r.row is not None and not test]
    if bare:
        notice(
            f"note: {', '.join(bare)}: no sizes tell these rows from others, so that none is taken of itself:"
            f" `--schedule {bare[0]}`"
        )
    name_earlier(p, scheduled_for(target), names)


def _target(s: Session, p: Pipeline, machine: Machine) -> Target:
    """That of the command line, else the one that `auto` takes. The machine must run it."""
    from hbc.cli.automatic import best_for

    def runs(target: Target) -> bool:
        return target.name in machine.runs

    found = target_named(s.target, runs)
    if s.target is None:
        found = best_for(p, found, s.settings, runs)
    if is_foreign(found.machine) and s.workers is None:
        hint = "`hbc compile --schedule auto` makes a schedule without measuring"
        what = f"tuning measures on this processor, which is not one for `{found.name}`"
        raise UsageError(Diagnostic(what, hint=hint))
    if s.workers is None:
        require_runnable(found)
    elif not runs(found):
        hint = f"use --target with one of: {', '.join(machine.runs)}"
        raise ToolError(Diagnostic(f"the workers cannot run `{found.name}` code", hint=hint))
    return replace(found, isa=s.isa)


def _costs(s: Session, target: Target) -> MachineCosts | None:
    """What the model goes by; with a line that says so."""
    if target.machine == GPU:
        return None
    costs = tuning_costs() if s.workers is None else asked_costs()
    if costs is not None:
        notice(f"note: the model goes by what {costs.processor} costs, as it was measured")
    return costs


def _tuned(
    s: Session, p: Pipeline, tracks: Tracks, machine: Machine, target: Target,
    settings: Mapping[str, str], name: str, begin: float,
) -> Result:  # fmt: skip
    """One tuning, whose time counts since `begin`."""
    run = gather_inputs(p, settings, choose_example(p, s.example), {})
    work = count_work(p, run.sizes)
    job = Job(p, target, settings, run, work, s.threads, machine)
    with ExitStack() as stack:
        journal = None if s.journal is None else Journal(s.journal, job)
        if journal is not None:
            stack.callback(journal.close)
        shown = stack.enter_context(progress())
        roofs = _roofs(s.threads, shown) if s.workers is None else None
        watching = Watching(shown, work, roofs)
        track = stack.enter_context(tracks(job))
        tuned = tune(job, track, name, s.options, begin, journal, shown, watching)
    for note in tuned.notes:
        notice(note)
    share = None
    text = None
    if tuned.best is not None and tuned.best.seconds is not None:
        share = share_of(roofs, work, tuned.best.seconds)
        text = _text(job, tuned, tuned.best.seconds, share, s.threads)
    roof = None if roofs is None else roofs.seconds(work)
    return Result(job, name, tuned, share, text, roof=roof)


def _roofs(threads: int, shown: object) -> Roofs | None:
    from hbc.cli.show.report import Progress

    assert isinstance(shown, Progress)
    try:
        return machine_roofs(threads, shown)
    except ToolError:
        return None


def _text(job: Job, tuned: Tuned, took: float, share: float | None, threads: int) -> str:
    """The schedule with where it comes from."""
    assert tuned.best is not None
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    rate = job.work.total / took / 1e9
    unit = "GFLOP/s" if job.work.floating else "Gop/s"
    of = f", {share:.0%} of the roof" if share is not None and share <= 1 else ""
    several = f"{threads} threads" if threads > 1 else "one thread"
    lines = [
        f"at {job.sizes or 'no sizes'}, {several}: {seconds(took)}, {rate:.3g} {unit}{of};",
        f"the best of {len(tuned.trials)} schedules, from {tuned.best.candidate.about}",
    ]
    return commented(tuned.best.candidate.text, job.machine.cpu, date, lines)


def _nothing(results: list[Result]) -> Diagnostic:
    """Why there is no schedule to show."""
    trials: list[Trial] = [t for r in results for t in r.tuned.trials]
    reasons = [t.reason for t in trials if t.state is not State.MEASURED]
    why = f": the first of {len(trials)} was {trials[0].state}: {reasons[0]}" if reasons else ""
    return Diagnostic(f"no schedule could be measured{why}", hint="more --time, or smaller sizes")

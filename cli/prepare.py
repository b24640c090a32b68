"""From the arguments of a command to a lowered kernel, its C and its library, with their times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.asked_machine import asked_costs, runs_there
from hbc.cli.best_target import best_target, fitting, outdone
from hbc.cli.compiled import NO_SCHEDULE, Chosen, Compiled, Runner
from hbc.cli.machine import target_named
from hbc.cli.show.report import notice, show_diagnostics
from hbc.codegen.build.cross import emulator, is_foreign
from hbc.codegen.build.gpu import GpuLibrary, find_loader, gpu_facts
from hbc.codegen.build.processor import can_run, missing_features
from hbc.codegen.build.program import Program, build_callable
from hbc.codegen.build.toolchain import Compiler, Output, build, find_compiler, openmp_note
from hbc.codegen.c.source import CSource
from hbc.codegen.cuda.source import CudaSource
from hbc.frontend.program.by_size import is_open, several
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.ground.diag import Diagnostic, InternalError, ToolError
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, TARGETS, X86, Target

if TYPE_CHECKING:
    from hbc.cli.automatic import Automatic

AUTO = "auto"  # --schedule auto: one that hbc makes
PLAIN = "c"  # the target of code that any processor can run


def choose(
    kernel: Path | Source, settings: Mapping[str, str], target: str | None, schedule: str | None,
    isa: tuple[Path, ...] = (), fallback: str = "error", fix_sizes: bool = False,
) -> Chosen:  # fmt: skip
    """Reads and checks the file, or a text that is none. `isa` are files that describe instructions.
    HbcError for the user's mistakes, UsageError for names that do not exist."""
    from hbc.cli.pipeline import choose_schedule, load_pipeline

    costs = asked_costs()
    runs = runs_there(costs)
    chosen_target = target_named(target, runs)
    pipeline = load_pipeline(kernel, settings, fix_sizes)
    plain_loops = fallback == "scalar"
    if schedule == NO_SCHEDULE and NO_SCHEDULE not in [s.name for s in pipeline.schedules]:
        return Chosen(pipeline, replace(chosen_target, isa=isa), None, plain_loops)
    asked = schedule == AUTO
    if target is None and (asked or not pipeline.schedules):
        from hbc.cli.automatic import best_for

        chosen_target = best_for(pipeline, chosen_target, settings, runs)
    elif target is None:
        chosen_target = best_target(pipeline, chosen_target, schedule, isa, runs)
    chosen_target = replace(chosen_target, isa=isa)
    chosen = None if asked else choose_schedule(pipeline, chosen_target.name, schedule)
    made = None
    if chosen is not None and target is None and schedule is None and chosen_target.machine == X86:
        chosen = fitting(pipeline, chosen)
    if chosen is not None and target is None and schedule is None and not isa:
        better = _better(pipeline, chosen, chosen_target, settings, fix_sizes, runs)
        if better is not None:
            chosen_target, made = better
            return Chosen(pipeline, chosen_target, made.schedule, plain_loops, made)
    if chosen is not None and is_open(chosen):
        chosen = _closed(pipeline, chosen, chosen_target, settings, fix_sizes)
    elif chosen is None:
        made = _made(pipeline, chosen_target, settings, fix_sizes)
        chosen = None if made is None else made.schedule
    return Chosen(pipeline, chosen_target, chosen, plain_loops, made)


def _better(
    p: Pipeline, own: Schedule, target: Target, settings: Mapping[str, str], fix_sizes: bool,
    runs: Callable[[Target], bool],
) -> tuple[Target, Automatic] | None:  # fmt: skip
    """A schedule of hbc's own making, with the tensor instructions of a target that runs here, where the
    schedule of the file was made for a target without any; with a line on stderr that says so."""
    if not outdone(p, own, target, runs):
        return None
    from hbc.cli.automatic import automatic, best_for

    best = best_for(p, target, settings, runs)
    made = automatic(p, best, settings, fix_sizes) if best.instruction_sets else None
    if made is None or not made.kernel.instructions:
        return None
    found = made.kernel.instructions[0].name
    notice(
        f"note: schedule auto for `{best.name}`{made.by}: its `{found}` does products that `{own.name}`"
        f" of the file, for `{', '.join(own.targets)}`, leaves to plain vectors (`--schedule {own.name}`"
        " takes that)"
    )
    return best, made


def _closed(
    p: Pipeline, chosen: Schedule, target: Target, settings: Mapping[str, str], fix_sizes: bool
) -> Schedule:
    """With one of hbc's own making for sizes that no schedule of the file is for, and a line that says so."""
    from hbc.cli.automatic import automatic

    *own, _ = chosen.choices
    made = automatic(p, target, settings, fix_sizes)
    names = " and ".join(f"`{s.name}`" for s in own)
    what = "schedule auto" if made is not None else _plain(target)
    where = f"at sizes that {names} {'is' if len(own) == 1 else 'are'} not for"
    about = _unsuited(p, target) if made is None else made.about
    where += "" if made is None else made.by
    notice(f"note: {what} for `{target.name}` {where}: {about}")
    return chosen if made is None else several((*own, made.schedule), target.name)


def _plain(target: Target) -> str:
    """What loops become that no schedule speaks of."""
    from hbc.frontend.directives.gpu_default import THREADS_A_BLOCK

    return f"plain blocks of {THREADS_A_BLOCK} threads" if target.machine == GPU else "plain loops"


def _unsuited(p: Pipeline, target: Target) -> str:
    """Why there is no schedule, and what that means on a GPU."""
    text = "no automatic schedule suits this kernel"
    if target.machine != GPU:
        return text
    text += ": a thread for each element, without shared memory and tensor cores"
    return f"{text}{_alone(p, None)}"


def _alone(p: Pipeline, schedule: Schedule | None) -> str:
    """What one thread of a GPU does."""
    from hbc.frontend.directives.gpu_default import one_thread_steps
    from hbc.frontend.directives.schedule import apply_schedule

    alone = one_thread_steps(apply_schedule(p, schedule, True)[1])
    steps = " and ".join(f"`{s}`" for s in alone)
    return f"; one thread does all of {steps}, along reductions alone" if alone else ""


def _made(
    p: Pipeline, target: Target, settings: Mapping[str, str], fix_sizes: bool
) -> Automatic | None:
    """A schedule of hbc's own making, named in a line on stderr."""
    from hbc.cli.automatic import automatic

    made = automatic(p, target, settings, fix_sizes)
    if made is None:
        notice(f"note: {_plain(target)} for `{target.name}`: {_unsuited(p, target)}")
    else:
        idle = f"; plain vectors: {made.idle}" if made.idle else ""
        if target.machine == GPU:
            idle = _alone(p, made.schedule)
        notice(f"note: schedule auto for `{target.name}`{made.by}: {made.about}{idle}")
    return made


def compile_chosen(
    chosen: Chosen,
    after: Callable[[str, Kernel], None] | None = None,
    timings: dict[str, float] | None = None,
) -> Compiled:
    """Lowers and prints the C. `after` sees the kernel after each pass, `timings` takes seconds."""
    # Late: the passes and the printers, which a kernel that was kept can do without.
    from hbc.cli.pipeline import features_of, lower_to_kernel
    from hbc.codegen.c.file import emit_c
    from hbc.ir.passes.register_pressure import register_pressure

    start = time.perf_counter()
    made = chosen.made
    if made is not None and after is None and timings is None:
        kernel, start = made.kernel, start - made.seconds
    else:
        kernel = lower_to_kernel(chosen.pipeline, chosen.schedule, chosen.target, after, timings)
    show_diagnostics(register_pressure(kernel, chosen.target))
    plain, needs = None, []
    if chosen.target.machine != GPU:
        needs = features_of(chosen.target)
    if chosen.fallback and (kernel.instructions or needs):
        plain = _plain_kernel(chosen.pipeline, kernel)
    printing = time.perf_counter()
    source: CSource | CudaSource
    if chosen.target.machine == GPU:
        from hbc.codegen.cuda.file import emit_cuda  # imports NumPy

        source = emit_cuda(kernel, chosen.target)
    else:
        source = emit_c(kernel, chosen.target, plain, needs)
    end = time.perf_counter()
    if timings is not None:
        timings["emit"] = end - printing
    return Compiled(chosen, source, end - start, kernel)


def _plain_kernel(p: Pipeline, kernel: Kernel) -> Kernel:
    """The same for any processor: scheduled for `c` if that accepts the same sizes, else plain
    loops."""
    from hbc.cli.pipeline import choose_schedule, lower_to_kernel

    plain = lower_to_kernel(p, choose_schedule(p, PLAIN, None), TARGETS[PLAIN])
    if set(plain.checks) <= set(kernel.checks):
        return plain
    return lower_to_kernel(p, None, TARGETS[PLAIN])


def build_library(
    compiled: Compiled,
    out: Path,
    kind: Output = "so",
    compiler: Compiler | None = None,
    called: str = "",
) -> float:
    """Compiles the C to `out`; the seconds that the C compiler took. `called`: see `build`. ToolError without
    one."""
    if isinstance(compiled.source, CudaSource):
        raise InternalError("build: CUDA is compiled by nvcc")
    target = compiled.chosen.target
    _note_threads(compiled.source, compiler or find_compiler(target.machine))
    start = time.perf_counter()
    build(compiled.source, target, out, kind, compiler=compiler, called=called)
    return time.perf_counter() - start


def _build_cuda(source: CudaSource, folder: Path, on_cpu: bool) -> Path | GpuLibrary:
    """A library with the host's entry points, for the GPU or for the processor alone."""
    if on_cpu:
        from hbc.codegen.build.cuda_cpu import build as build_for_cpu

        out = folder / f"{source.name}.so"
        (folder / f"{source.name}.h").write_text(source.header, encoding="utf-8")
        return build_for_cpu(
            source.text, out, "so", name=source.name, extra=(f"-I{folder}",),
            instructions=source.instructions,
        )  # fmt: skip
    from hbc.codegen.build.nvcc import build_cuda_cached, check_driver

    facts, loader = gpu_facts(), find_loader()
    check_driver(facts.driver)
    return GpuLibrary(build_cuda_cached(source, facts.arch), loader)


def build_for_calls(
    compiled: Compiled, folder: Path, runner: Runner
) -> tuple[Path | Program | GpuLibrary, float]:
    """Compiles the C to what `Native` takes, in `folder`, for a runner; and the seconds that this took.
    ToolError without a compiler, without an emulator for another machine's code, or without what the
    GPU needs."""
    start = time.perf_counter()
    made: Path | Program | GpuLibrary
    if isinstance(compiled.source, CudaSource):
        made = _build_cuda(compiled.source, folder, runner.on_cpu)
    else:
        _note_threads(compiled.source, find_compiler(compiled.chosen.target.machine))
        soft, emulate = bool(runner.functions), runner.emulator is not None
        made = build_callable(
            compiled.source, compiled.chosen.target, folder, soft=soft, emulate=emulate
        )
    took = time.perf_counter() - start
    if isinstance(made, Program):
        notice(f"note: runs under {made.runner[0]}: its times say nothing of a real processor")
    return made, took


def _note_threads(source: CSource, compiler: Compiler) -> None:
    note = openmp_note(source, compiler)
    if note is not None:
        notice(f"note: {note}")


def require_runnable(target: Target) -> None:
    """ToolError unless this processor, or an emulator here, can run the target's code."""
    if is_foreign(target.machine):
        emulator(target.machine)
        find_compiler(target.machine)
    elif not can_run(target):
        able = ", ".join(t.name for t in TARGETS.values() if can_run(t))
        raise ToolError(
            Diagnostic(
                f"this processor cannot run `{target.name}` code: it lacks "
                + ", ".join(missing_features(target)),
                hint=f"use --target with one of: {able}",
            )
        )

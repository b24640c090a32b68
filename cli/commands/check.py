"""`hbc check`: every mistake of the files, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show.options import files_argument, json_option, settings_option
from hbc.cli.show.report import Json, diagnostic_json, notice, print_json, show_diagnostics
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, HbcError, UsageError, distinct

if TYPE_CHECKING:
    from hbc.frontend.program.funcs import Pipeline
    from hbc.ir.ground.source import Source
    from hbc.ir.lang.kernel import Kernel
    from hbc.ir.lang.target import Target


@click.command("check")
@files_argument("files")
@settings_option
@json_option
def command(files: tuple[Path, ...], settings: Mapping[str, str], as_json: bool) -> None:
    """Report every mistake in FILES, kernels and sketches (.sf); compile nothing.

    Each kernel is compiled with each of its schedules, for the targets that it is meant for; without
    one, as plain loops. What is allowed and slow is a warning: it changes no exit code.
    """
    mistakes: list[Diagnostic] = []
    warnings: list[Diagnostic] = []
    for file in files:
        mistakes += _of_file(file, settings, warnings)
    mistakes = distinct(mistakes)
    warnings = distinct(warnings)
    if as_json:
        mistakes_shown: list[Json] = [diagnostic_json(mistake) for mistake in mistakes]
        slow: list[Json] = [diagnostic_json(warning) for warning in warnings]
        print_json(
            {"ok": not mistakes, "files": len(files), "mistakes": mistakes_shown, "warnings": slow}
        )
        click.get_current_context().exit(HbcError.exit_code if mistakes else 0)
    if mistakes:
        raise HbcError(mistakes)
    show_diagnostics(warnings)
    checked = f"{counted(len(files), 'file')} checked, no mistakes"
    warned = f", {counted(len(warnings), 'warning')}" if warnings else ""
    notice(checked + warned)


def _of_file(
    file: Path, settings: Mapping[str, str], warnings: list[Diagnostic]
) -> Sequence[Diagnostic]:
    """The mistakes of all of its kernels; of a file that nobody can read, that."""
    from hbc.cli.files.one_kernel import all_kernels, settings_for

    try:
        programs = all_kernels([file])
    except HbcError as failure:
        return failure.diagnostics
    found: list[Diagnostic] = []
    for program in programs:
        given = settings_for(program, programs, settings) if len(programs) > 1 else settings
        found += _mistakes(program, given, warnings)
    return found


def _mistakes(
    file: Path | Source, settings: Mapping[str, str], warnings: list[Diagnostic]
) -> Sequence[Diagnostic]:
    """Those of the algorithm, else those of every schedule; of a sketch the first. `warnings` takes what is
    allowed and slow."""
    from hbc.cli.advice import Watch, advice, idle
    from hbc.cli.files.read_sketch import check_sketch
    from hbc.cli.once import Once
    from hbc.cli.pipeline import load_pipeline, lower_to_kernel
    from hbc.frontend.expand.expand import check_library, is_library
    from hbc.frontend.text.parse import parse
    from hbc.ir.lang.target import TARGETS
    from hbc.ir.passes.register_pressure import register_pressure

    try:
        if isinstance(file, Path):
            check_sketch(file, settings)
            return []
        tree = parse(file)
        if is_library(tree):
            check_library(tree)
            return ()
        pipeline = load_pipeline(file, settings, False)
        if not pipeline.schedules:
            lower_to_kernel(pipeline, None, TARGETS["c"])
    except UsageError:
        raise
    except HbcError as failure:
        return failure.diagnostics
    warnings += idle(pipeline)
    mistakes: list[Diagnostic] = []
    for schedule in pipeline.schedules:
        once = Once()
        for target in filter(TARGETS.__contains__, schedule.targets):
            try:
                watch = Watch()
                kernel = lower_to_kernel(pipeline, schedule, TARGETS[target], watch, once=once)
                # What is printed knows how many registers and how much memory there are.
                _print(kernel, TARGETS[target])
                warnings += register_pressure(kernel, TARGETS[target])
                warnings += advice(pipeline, schedule, TARGETS[target], watch, kernel)
            except HbcError as failure:
                mistakes += failure.diagnostics
    return mistakes or _by_size(pipeline)


def _by_size(p: Pipeline) -> list[Diagnostic]:
    """Those that only show where several schedules for one target are one function."""
    from hbc.cli.pipeline import choose_schedule, lower_to_kernel
    from hbc.ir.lang.target import TARGETS

    mistakes: list[Diagnostic] = []
    asking = (s for s in p.schedules if s.condition is not None)
    for target in dict.fromkeys(t for s in asking for t in s.targets):
        try:
            schedule = choose_schedule(p, target, None)
            _print(lower_to_kernel(p, schedule, TARGETS[target]), TARGETS[target])
        except HbcError as failure:
            mistakes += failure.diagnostics
    return mistakes


def _print(kernel: Kernel, target: Target) -> None:
    """Its text, for the mistakes that only printing finds."""
    from hbc.ir.lang.target import GPU

    if target.machine == GPU:
        from hbc.codegen.cuda.file import emit_cuda  # imports NumPy

        emit_cuda(kernel, target)
    else:
        from hbc.codegen.c.file import emit_c

        emit_c(kernel, target)

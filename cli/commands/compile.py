"""`hbc compile`: writes C or CUDA, a library or an object, or shows the IR or the loop nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from hbc.cli.files.one_kernel import all_kernels, one_kernel
from hbc.cli.files.read_source import source_name
from hbc.cli.forms.built import Made
from hbc.cli.forms.table import FORMS, STDOUT, default_form, emit
from hbc.cli.show import completion
from hbc.cli.show.bank_report import shared_accesses, show_conflicts
from hbc.cli.show.options import choice_options, fallback_option, json_option
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError, UsageError, did_you_mean
from hbc.ir.ground.printable import printable_line

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled
    from hbc.cli.one_library import Library
    from hbc.codegen.build.nvcc import Resources
    from hbc.ir.ground.source import Source
    from hbc.ir.lang.kernel import Kernel


@click.command("compile")
@click.argument("kernels", nargs=-1, required=True, type=click.Path(path_type=Path))
@choice_options
@fallback_option
@click.option(
    "--targets",
    "several",
    metavar="LIST",
    shell_complete=completion.several_targets,
    help="Compile for several processors, such as c,avx2,avx512: NAME calls the best that the processor has.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to write NAME.c and so on [default: here]; made when absent. `-` shows the text.",
)
@click.option(
    "--name",
    metavar="NAME",
    help="What the library of several kernels is called [default: as their file, or DIR].",
)
@click.option(
    "--emit",
    "emitted",
    type=click.Choice(tuple(FORMS)),
    multiple=True,
    help="What to write; may be repeated [default: c, or cu for `cuda`]. Without -o, `ir` and `loops`"
    " are shown.",
)
@click.option(
    "--arch",
    "archs",
    metavar="ARCHS",
    help="GPU architectures, such as sm_80,sm_90 [default: that of the GPU here, else these two].",
)
@click.option(
    "--triple",
    "named",
    metavar="TRIPLE",
    shell_complete=completion.triples,
    help="The machine that the C is for, such as x86_64-windows-gnu [default: any system; the C compiler's].",
)
@click.option(
    "--dump-after", "dumped", multiple=True, metavar="PASS", help="Show the IR after a pass."
)
@click.option("--time", "timed", is_flag=True, help="Show the seconds of each pass on stderr.")
@click.option(
    "--write", is_flag=True, help="Write the schedule that hbc made (`auto`) into KERNEL, as text."
)
@click.option("--no-check", is_flag=True, help="Do not verify the IR on its way.")
@json_option
def command(
    kernels: tuple[Path, ...], only: str | None, settings: Mapping[str, str], target: str | None,
    schedule: str | None, isa: tuple[Path, ...], fallback: str, several: str | None, folder: Path | None,
    name: str | None, emitted: tuple[str, ...], archs: str | None, named: str | None,
    dumped: tuple[str, ...], timed: bool, write: bool, no_check: bool, as_json: bool,
) -> None:  # fmt: skip
    """Compile KERNELS to NAME.c and NAME.h, a library, the IR or a page to read.

    The files need nothing but a C compiler, or nvcc. --set of a size fixes it in the code. Several kernels,
    in one file or in several, become one library.
    """

    from hbc.cli.advice import advice
    from hbc.cli.forms.archs import check_archs
    from hbc.cli.forms.together import check_forms
    from hbc.cli.launched_copies import launched_copies
    from hbc.cli.machine import target_named
    from hbc.cli.one_library import library, listed_targets
    from hbc.cli.passes import NAMES
    from hbc.cli.prepare import PLAIN, choose, compile_chosen
    from hbc.cli.show.report import progress
    from hbc.codegen.build.triple import check_asks, check_fits, for_triple, triple_named
    from hbc.codegen.c.source import CSource

    _check_passes(dumped, NAMES)
    if as_json and str(folder) == STDOUT:
        raise UsageError(Diagnostic("`-o -` and `--json` both want stdout", hint="name a folder"))
    programs = _programs(kernels, only)
    if several is not None or len(programs) > 1:
        unfit = {"--target": several and target, "--arch": archs, "--triple": named,
                 "--dump-after": dumped, "--time": timed, "--write": write,
                 "--fallback": fallback != "error"}  # fmt: skip
        beside = "several kernels" if several is None else "--targets"
        _refuse_beside(beside, [option for option, given in unfit.items() if given])
        check_forms(folder, emitted)
        called = _library_name(name, kernels, folder, len(programs))
        targets = [target] if several is None else listed_targets(several)
        with progress() as shown:
            shown.step("compiling")
            made_together = library(programs, called, settings, targets, schedule, isa)
        _write_together(made_together, folder, emitted, as_json)
        return
    _library_name(name, kernels, folder, 1)
    triple = None if named is None else triple_named(named)
    if triple is not None:
        target = target or PLAIN  # what its processor has, nobody knows here
        check_fits(target_named(target), triple)
    with progress() as shown:
        shown.step("reading and checking")
        chosen = choose(programs[0], settings, target, schedule, isa, fallback, fix_sizes=True)
    if write:
        from hbc.cli.write_schedule import write_schedule

        write_schedule(kernels[0], chosen)
        if not (emitted or dumped or folder):
            return
    seen = _Seen(dumped, not no_check)
    made = Made()
    try:
        with progress() as shown:
            shown.step("compiling")
            compiled = compile_chosen(chosen, seen.after, made.timings)
    except Exception as e:
        if not isinstance(e, HbcError):
            seen.blame()
        raise
    if archs is not None:
        check_archs(compiled, archs)
    if triple is not None and isinstance(compiled.source, CSource):
        source, at = compiled.source, chosen.target
        check_asks(source, at, triple, chosen.fallback)
        compiled = replace(compiled, source=for_triple(source, at, triple))
    if seen.texts:
        click.echo("\n".join(seen.texts), nl=False)
    # A dump alone is for reading: it leaves no files behind unless some are asked for.
    wanted = emitted or (() if dumped and folder is None else (default_form(compiled),))
    for kind in dict.fromkeys(wanted):
        with progress() as shown:
            shown.step(f"writing {kind}")
            emit(kind, compiled, folder, made, archs, triple)
    warnings = advice(
        chosen.pipeline, chosen.schedule, chosen.target, seen.watch.loops, compiled.kernel
    )
    warnings += launched_copies(seen.watch.unselected, compiled.kernel)
    if as_json:
        _print_json(compiled, made, warnings)
        return
    _show_made(compiled, made, warnings)
    if timed:
        _show_times(made.timings)


def _programs(files: tuple[Path, ...], only: str | None) -> list[Path | Source]:
    """Each kernel that is meant."""
    if only is None:
        return all_kernels(files)
    if len(files) > 1:
        hint = "leave --kernel out, or name one file"
        raise UsageError(
            Diagnostic(f"--kernel is for one file, and there are {len(files)}", hint=hint)
        )
    return [one_kernel(files[0], only)]


def _library_name(
    name: str | None, files: tuple[Path, ...], folder: Path | None, kernels: int
) -> str | None:
    """The name that is given, else as the one file is called that all are in, or as the folder that the
    library goes to; of one kernel none."""
    from hbc.frontend.checks.names import name_of_file

    if kernels == 1:
        if name is not None:
            raise UsageError(Diagnostic("--name is for a library of several kernels"))
        return None
    if name:
        return name
    if len(files) == 1:
        return name_of_file(source_name(files[0]))
    if folder is not None and folder.name:
        return name_of_file(folder.name)
    hint = "write --name NAME, or `-o NAME` for a folder of that name"
    raise UsageError(Diagnostic("the library of several files has no name", hint=hint))


def _refuse_beside(what: str, unfit: Sequence[str]) -> None:
    if unfit:
        alone = "target" if what == "--targets" else "kernel"
        hints = {
            "--target": "name it in --targets",
            "--fallback": "name `c` in --targets: it runs anywhere",
        }
        hint = hints.get(unfit[0], f"use {unfit[0]} for each {alone} by itself")
        verb = "does" if what == "--targets" else "do"
        raise UsageError(Diagnostic(f"{what} {verb} not go with {unfit[0]}", hint=hint))


def _write_together(
    made: Library, folder: Path | None, emitted: tuple[str, ...], as_json: bool
) -> None:
    """The C, a library, or both."""
    from hbc.cli.forms.together import write_together
    from hbc.cli.show.report import notice, print_json, progress

    with progress() as shown:
        shown.step("writing")
        files = write_together(made, folder, tuple(dict.fromkeys(emitted)) or ("c",))
    if as_json:
        print_json(
            {
                "kernel": made.name,
                "kernels": list(made.kernels),
                "targets": list(made.targets),
                "files": [str(f) for f in files],
            }
        )
        return
    if len(made.targets) > 1:
        notice(f"note: tried in this order: {', '.join(made.targets)}")
    for path in files:
        notice(f"wrote {printable_line(str(path))}")


ENDS: Final = ("lower", "simplify-vectors", "barriers")
"""Passes after which the IR is verified: as it comes, before instructions are selected, and at the end.
After each would take a tenth of all the time."""


class _Seen:
    """Looks at the kernel after each pass: keeps the dumps and what advice is about, runs the IR verifier
    where a part of the way ends."""

    def __init__(self, dumped: tuple[str, ...], checked: bool) -> None:
        from hbc.cli.advice import Watch

        self.texts: list[str] = []
        self._dumped = dumped
        self._checked = checked
        self._unchecked: list[tuple[str, Kernel]] = []
        self.watch = Watch()

    def after(self, name: str, kernel: Kernel) -> None:
        from hbc.ir.lang.show import show_kernel

        self.watch(name, kernel)
        if name in self._dumped:
            self.texts.append(f"# after {name}\n{show_kernel(kernel).rstrip()}\n")
        if not self._checked:
            return
        if not self._unchecked or kernel is not self._unchecked[-1][1]:
            self._unchecked.append((name, kernel))
        if name in ENDS:
            self._check()

    def blame(self) -> None:
        """Raises InternalError for the first pass whose result is wrong, of those since the last check."""
        from hbc.ir.meaning.verify import verify

        for name, kernel in self._unchecked:
            verify(kernel, name)

    def _check(self) -> None:
        from hbc.ir.meaning.verify import verify

        name, kernel = self._unchecked[-1]
        try:
            verify(kernel, name)
        except InternalError:
            self.blame()
            raise
        self._unchecked = self._unchecked[-1:]


def _check_passes(dumped: tuple[str, ...], passes: tuple[str, ...]) -> None:
    for name in dumped:
        if name not in passes:
            hint = did_you_mean(name, passes) or f"the passes are {', '.join(passes)}"
            raise UsageError(Diagnostic(f"there is no pass `{name}`", hint=hint))


def _show_made(compiled: Compiled, made: Made, warnings: Sequence[Diagnostic]) -> None:
    """What there is to know of the files, on stderr."""
    from hbc.cli.show.report import notice, show_diagnostics

    show_diagnostics(warnings)
    for path in made.files:
        notice(f"wrote {printable_line(str(path))}")
    _show_resources(made.resources)
    show_conflicts(shared_accesses(compiled.kernel, made.resources))


def _show_resources(resources: Sequence[Resources]) -> None:
    """One line a device function and architecture, on stderr."""
    for r in resources:
        spills = f", {r.spills} bytes spilled{_cure(r)}" if r.spills else ""
        held = f"; {r.blocks} x {r.threads} threads at once, by {r.limit}" if r.blocks else ""
        click.echo(
            f"{r.function} ({r.arch}): {r.registers} registers, {r.shared} bytes of shared memory,"
            f" {r.stack} bytes of stack{spills}{held}",
            err=True,
        )


def _cure(r: Resources) -> str:
    """What gives the threads more registers, if anything does."""
    if r.blocks < 2:
        return ""
    return f" (`at_once({r.blocks // 2})` behind `gpu_blocks` lets a thread have more registers)"


def _print_json(compiled: Compiled, made: Made, warnings: Sequence[Diagnostic]) -> None:
    from hbc.cli.show.report import diagnostic_json, print_json
    from hbc.ir.passes.register_pressure import register_pressure

    print_json(
        {
            "kernel": compiled.source.name,
            "target": compiled.chosen.target.name,
            "schedule": compiled.chosen.schedule_name,
            "files": [str(path) for path in made.files],
            "seconds": dict(made.timings),
            "resources": [asdict(r) for r in made.resources],
            "warnings": [
                diagnostic_json(warning)
                for warning in (
                    *register_pressure(compiled.kernel, compiled.chosen.target),
                    *warnings,
                )
            ],
            "shared_memory": [asdict(u) for u in shared_accesses(compiled.kernel, made.resources)],
        }
    )


def _show_times(timings: Mapping[str, float]) -> None:
    width = max(map(len, timings), default=0)
    for name, spent in [*timings.items(), ("total", sum(timings.values()))]:
        click.echo(f"{name:<{max(width, 5)}}  {spent * 1e3:8.1f} ms", err=True)

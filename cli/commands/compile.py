"""`hbc compile`: writes C or CUDA, a library or an object, or shows the IR or the loop nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbc.cli.files.one_kernel import all_kernels, one_kernel
from hbc.cli.files.read_source import source_name
from hbc.cli.forms.built import Made
from hbc.cli.forms.table import FORMS, STDOUT, default_form, emit
from hbc.cli.show import completion
from hbc.cli.show.arch_option import arch_option
from hbc.cli.show.options import choice_options, fallback_option, files_argument, json_option
from hbc.ir.ground.diag import Diagnostic, HbcError, UsageError, did_you_mean
from hbc.ir.ground.printable import printable_line
from hbc.ir.ground.record import record

if TYPE_CHECKING:
    from hbc.cli.compiled import Chosen, Compiled
    from hbc.cli.dumps import Dumps
    from hbc.cli.one_library import Library
    from hbc.codegen.build.triple import Triple
    from hbc.ir.ground.source import Source

FILE_ENDS = frozenset((".c", ".h", ".cpp", ".hb", *(f".{form}" for form in FORMS)))
"""What a file's name ends with, and a folder's does not."""


@click.command("compile")
@files_argument("kernels")
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
@arch_option(passed=True)
@click.option(
    "--triple",
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
    kernels: tuple[Path, ...], only: str | None, several: str | None, name: str | None, **options: Any
) -> None:  # fmt: skip
    """Compile KERNELS to NAME.c and NAME.h, a library, the IR or a page to read.

    The files need nothing but a C compiler, or nvcc. --set of a size fixes it in the code. Several kernels,
    in one file or in several, become one library.
    """
    asked = Request(**options)
    _check(asked)
    programs = _programs(kernels, only)
    together = several is not None or len(programs) > 1
    if together:
        _check_together(several, asked)
    called = _library_name(name, kernels, asked.folder, len(programs))
    if together:
        _together(programs, called, several, asked)
    else:
        _alone(programs[0], kernels[0], asked)


@record
class Request:
    """What is asked of each kernel, as the options say it."""

    settings: Mapping[str, str]
    target: str | None
    schedule: str | None
    isa: tuple[Path, ...]
    fallback: str
    folder: Path | None
    emitted: tuple[str, ...]
    archs: str | None
    triple: str | None
    dumped: tuple[str, ...]
    timed: bool
    write: bool
    no_check: bool
    as_json: bool


def _check(asked: Request) -> None:
    """UsageError for what cannot be, whatever the kernels are."""
    from hbc.cli.passes import NAMES
    from hbc.frontend.checks.names import name_of_file

    for name in asked.dumped:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES) or f"the passes are {', '.join(NAMES)}"
            raise UsageError(Diagnostic(f"there is no pass `{name}`", hint=hint))
    folder = asked.folder
    if folder is None:
        return
    if asked.as_json and str(folder) == STDOUT:
        raise UsageError(Diagnostic("`-o -` and `--json` both want stdout", hint="name a folder"))
    if folder.suffix in FILE_ENDS and not folder.is_dir():
        raise UsageError(
            Diagnostic(
                f"-o names a folder, and `{printable_line(folder.name)}` looks like a file",
                hint=f"write `-o {folder.parent}`, and `kernel {name_of_file(folder.name)}` on a line of the"
                " kernel's file: files are called as it is",
            )
        )


def _check_together(several: str | None, asked: Request) -> None:
    """UsageError for what does not go with several kernels or targets."""
    from hbc.cli.forms.together import check_forms

    unfit = {"--target": several and asked.target, "--arch": asked.archs,
             "--dump-after": asked.dumped, "--time": asked.timed, "--write": asked.write,
             "--fallback": asked.fallback != "error"}  # fmt: skip
    beside = "several kernels" if several is None else "--targets"
    _refuse_beside(beside, [option for option, given in unfit.items() if given])
    check_forms(asked.folder, asked.emitted)


def _together(
    programs: Sequence[Path | Source], called: str | None, several: str | None, asked: Request
) -> None:
    """Several kernels, or one for several targets, in one library."""
    from hbc.cli.forms.together import write_together
    from hbc.cli.machine import target_named
    from hbc.cli.one_library import library, library_for, listed_targets
    from hbc.cli.prepare import PLAIN
    from hbc.cli.show.report import progress
    from hbc.codegen.build.triple import check_fits, triple_named

    triple = None if asked.triple is None else triple_named(asked.triple)
    alone = asked.target or (PLAIN if triple is not None else None)
    targets = [alone] if several is None else listed_targets(several)
    if triple is not None:
        for target in targets:
            check_fits(target_named(target), triple)
    with progress() as shown:
        shown.step("compiling")
        made = library(programs, called, asked.settings, targets, asked.schedule, asked.isa)
        if triple is not None:
            made = library_for(made, triple)
        shown.step("writing")
        forms = tuple(dict.fromkeys(asked.emitted)) or ("c",)
        files = write_together(made, asked.folder, forms, triple)
    _show_together(made, files, asked.as_json)


def _alone(program: Path | Source, file: Path, asked: Request) -> None:
    """One kernel for one target, in every form that is asked for."""
    from hbc.cli.advice import advice
    from hbc.cli.dumps import Dumps
    from hbc.cli.forms.archs import check_archs
    from hbc.cli.forms.said import print_made, show_made, show_times
    from hbc.cli.launched_copies import launched_copies
    from hbc.cli.machine import target_named
    from hbc.cli.prepare import PLAIN, choose
    from hbc.cli.show.report import progress
    from hbc.codegen.build.triple import check_fits, triple_named

    triple = None if asked.triple is None else triple_named(asked.triple)
    # What the processor of a triple has, nobody knows here.
    target = asked.target or (PLAIN if triple is not None else None)
    if triple is not None:
        check_fits(target_named(target), triple)
    schedule = asked.schedule
    if asked.write:
        from hbc.cli.files.one_kernel import one_kernel
        from hbc.cli.write_schedule import write_schedule

        with progress() as shown:
            shown.step("making a schedule")  # for all sizes, also where some are set
            lasting = choose(program, asked.settings, target, schedule, asked.isa, asked.fallback)
        schedule, target = write_schedule(file, lasting), lasting.target.name
        if not (asked.emitted or asked.dumped or asked.folder):
            return
        program = one_kernel(file, lasting.pipeline.name if lasting.pipeline.source.whole else None)
    with progress() as shown:
        shown.step("reading and checking")
        chosen = choose(
            program, asked.settings, target, schedule, asked.isa, asked.fallback, fix_sizes=True
        )
    dumps, made = Dumps(asked.dumped, not asked.no_check), Made()
    compiled = _compiled(chosen, dumps, made, triple)
    if asked.archs is not None:
        check_archs(compiled, asked.archs)
    if dumps.texts:
        click.echo("\n".join(dumps.texts), nl=False)
    # A dump alone is for reading: it leaves no files behind unless some are asked for.
    usual = () if asked.dumped and asked.folder is None else (default_form(compiled),)
    for kind in dict.fromkeys(asked.emitted or usual):
        with progress() as shown:
            shown.step(f"writing {kind}")
            emit(kind, compiled, asked.folder, made, asked.archs, triple)
    kernel = compiled.kernel
    warnings = advice(chosen.pipeline, chosen.schedule, chosen.target, dumps.watch, kernel)
    warnings += launched_copies(dumps.watch.unselected, kernel)
    if asked.as_json:
        print_made(compiled, made, warnings)
        return
    show_made(compiled, made, warnings)
    if asked.timed:
        show_times(made.timings)


def _compiled(chosen: Chosen, dumps: Dumps, made: Made, triple: Triple | None) -> Compiled:
    """Its code, for the triple where one is named."""
    from hbc.cli.prepare import compile_chosen
    from hbc.cli.show.report import progress
    from hbc.codegen.build.triple import check_asks, for_triple
    from hbc.codegen.c.source import CSource

    try:
        with progress() as shown:
            shown.step("compiling")
            compiled = compile_chosen(chosen, dumps.after, made.timings)
    except Exception as e:
        if not isinstance(e, HbcError):
            dumps.blame()
        raise
    source, at = compiled.source, chosen.target
    if triple is None or not isinstance(source, CSource):
        return compiled
    check_asks(source, at, triple, chosen.fallback)
    return replace(compiled, source=for_triple(source, at, triple))


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


def _show_together(made: Library, files: Sequence[Path], as_json: bool) -> None:
    from hbc.cli.show.report import notice, print_json

    if as_json:
        told = {"kernel": made.name, "kernels": list(made.kernels), "targets": list(made.targets)}
        print_json({**told, "files": [str(f) for f in files]})
        return
    if len(made.targets) > 1:
        notice(f"note: tried in this order: {', '.join(made.targets)}")
    for path in files:
        notice(f"wrote {printable_line(str(path))}")

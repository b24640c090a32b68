"""`hbc compile`: writes C or CUDA, a library or an object, or shows the IR or the loop nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show.bank_report import shared_accesses, show_conflicts
from hbc.cli.show.options import json_option, kernel_options
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.ground.printable import printable_line
from hbc.ir.lang.target import GPU

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled
    from hbc.codegen.build.nvcc import Resources
    from hbc.codegen.build.toolchain import Output
    from hbc.ir.lang.kernel import Kernel

CUDA_EMITTED = ("cu", "ptx", "cubin", "fatbin")
EMITTED = ("c", *CUDA_EMITTED, "so", "a", "obj", "cmake", "ir", "loops", "html")
SHOWN = ("ir", "loops")  # on stdout, unless there is a folder
STDOUT = "-"
SUFFIXES = {"so": ".so", "a": ".a", "obj": ".o", "ir": ".ir", "loops": ".loops", "html": ".html"}


@dataclass(slots=True)
class _Made:
    """The files written, what GPUs need for the functions in them, and seconds by step."""

    files: list[Path] = field(default_factory=list)
    resources: list[Resources] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)


@click.command("compile")
@kernel_options
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to write NAME.c and so on [default: here]; made when absent. `-` shows the text.",
)
@click.option(
    "--emit",
    "emitted",
    type=click.Choice(EMITTED),
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
    "--dump-after", "dumped", multiple=True, metavar="PASS", help="Show the IR after a pass."
)
@click.option("--time", "timed", is_flag=True, help="Show the seconds of each pass on stderr.")
@click.option(
    "--write", is_flag=True, help="Write the schedule that hbc made (`auto`) into KERNEL, as text."
)
@click.option("--no-check", is_flag=True, help="Do not verify the IR between passes.")
@json_option
def command(
    kernel: Path, settings: Mapping[str, str], target: str | None, schedule: str | None,
    isa: tuple[Path, ...], fallback: str, folder: Path | None, emitted: tuple[str, ...],
    archs: str | None, dumped: tuple[str, ...], timed: bool, write: bool, no_check: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Compile KERNEL to NAME.c and NAME.h, a library, the IR or a page to read.

    The files need nothing but a C compiler, or nvcc. --set of a size fixes it in the code.
    """

    from hbc.cli.advice import advice
    from hbc.cli.launched_copies import launched_copies
    from hbc.cli.passes import NAMES
    from hbc.cli.prepare import choose, compile_chosen
    from hbc.cli.show.report import show_diagnostics

    _check_passes(dumped, NAMES)
    if as_json and str(folder) == STDOUT:
        raise UsageError(Diagnostic("`-o -` and `--json` both want stdout", hint="name a folder"))
    chosen = choose(kernel, settings, target, schedule, isa, fallback, fix_sizes=True)
    if write:
        from hbc.cli.write_schedule import write_schedule

        write_schedule(kernel, chosen)
        if not (emitted or dumped or folder):
            return
    seen = _Seen(dumped, not no_check)
    made = _Made()
    compiled = compile_chosen(chosen, seen.after, made.timings)
    if archs is not None:
        _check_archs(compiled, archs)
    if seen.texts:
        click.echo("\n".join(seen.texts), nl=False)
    # A dump alone is for reading: it leaves no files behind unless some are asked for.
    wanted = emitted or (() if dumped and folder is None else (_default(compiled),))
    for kind in dict.fromkeys(wanted):
        _emit(kind, compiled, folder, made, archs)
    warnings = advice(
        chosen.pipeline, chosen.schedule, chosen.target, seen.watch.loops, compiled.kernel
    )
    warnings += launched_copies(seen.watch.unselected, compiled.kernel)
    if as_json:
        _print_json(compiled, made, warnings)
        return
    show_diagnostics(warnings)
    for path in made.files:
        click.echo(f"wrote {printable_line(str(path))}", err=True)
    _show_resources(made.resources)
    show_conflicts(shared_accesses(compiled.kernel, made.resources))
    if timed:
        _show_times(made.timings)


class _Seen:
    """Looks at the kernel after each pass: keeps the dumps and what advice is about, runs the IR
    verifier."""

    def __init__(self, dumped: tuple[str, ...], checked: bool) -> None:
        from hbc.cli.advice import Watch

        self.texts: list[str] = []
        self._dumped = dumped
        self._checked = checked
        self._last: Kernel | None = None
        self.watch = Watch()

    def after(self, name: str, kernel: Kernel) -> None:
        from hbc.ir.lang.show import show_kernel
        from hbc.ir.meaning.verify import verify

        self.watch(name, kernel)
        if name in self._dumped:
            self.texts.append(f"# after {name}\n{show_kernel(kernel).rstrip()}\n")
        if self._checked and kernel is not self._last:
            verify(kernel, name)
        self._last = kernel


def _check_passes(dumped: tuple[str, ...], passes: tuple[str, ...]) -> None:
    for name in dumped:
        if name not in passes:
            hint = did_you_mean(name, passes) or f"the passes are {', '.join(passes)}"
            raise UsageError(Diagnostic(f"there is no pass `{name}`", hint=hint))


def _default(compiled: Compiled) -> str:
    return "cu" if compiled.chosen.target.machine == GPU else "c"


def _archs(listed: str | None) -> tuple[str, ...]:
    """Those of --arch, else that of the GPU here, else the usual ones."""
    from hbc.codegen.build.gpu import gpu_arch, gpu_count
    from hbc.codegen.build.nvcc import DEFAULT_ARCHS, checked_archs

    if listed is not None:
        return checked_archs([a.strip() for a in listed.split(",")])
    return (gpu_arch(),) if gpu_count() else DEFAULT_ARCHS


def _check_archs(compiled: Compiled, listed: str) -> None:
    """Whether the code suits those of --arch, which matters for a `.cu` too: somebody compiles it."""
    from hbc.codegen.cuda.limits import check_instructions, check_shared
    from hbc.codegen.cuda.source import CudaSource

    source = compiled.source
    if not isinstance(source, CudaSource):
        name = compiled.chosen.target.name
        raise UsageError(Diagnostic(f"`--arch` is for GPUs, and the target is `{name}`"))
    archs = _archs(listed)
    check_shared(source.shared, archs)
    check_instructions(source.instructions, archs, source.fragments)


def _refuse_kind(kind: str, compiled: Compiled) -> None:
    """CUDA and C have forms of their own."""
    gpu = compiled.chosen.target.machine == GPU
    if (kind in CUDA_EMITTED and not gpu) or (kind in ("c", "a", "obj", "cmake") and gpu):
        name = compiled.chosen.target.name
        forms = (*CUDA_EMITTED, "so") if gpu else ("c", "so", "a", "obj", "cmake")
        hint = f"use --emit with one of: {', '.join(forms)}"
        raise UsageError(Diagnostic(f"`{name}` code has no form `{kind}`", hint=hint))


def _emit(
    kind: str, compiled: Compiled, folder: Path | None, made: _Made, archs: str | None
) -> None:
    from hbc.cli.files.replace_file import make_folder, replace_file, write_text

    source = compiled.source
    _refuse_kind(kind, compiled)
    if str(folder) == STDOUT or (folder is None and kind in SHOWN):
        click.echo(_text(kind, compiled).rstrip())
        return
    if kind in (*SHOWN, "html"):
        paths = [make_folder(folder or Path()) / (source.name + SUFFIXES[kind])]
        write_text(paths[0], _text(kind, compiled))
    elif kind in ("c", "cu", "cmake"):
        beside = make_folder(folder or Path())
        suffix = "cu" if kind == "cu" else "c"
        paths = [beside / f"{source.name}.{suffix}", beside / f"{source.name}.h"]
        with replace_file(paths[0]) as text_file, replace_file(paths[1]) as header_file:
            text_file.write_text(source.text, encoding="utf-8", newline="\n")
            header_file.write_text(source.header, encoding="utf-8", newline="\n")
        if kind == "cmake":
            paths.append(beside / "CMakeLists.txt")
            write_text(paths[-1], _text(kind, compiled))
    elif compiled.chosen.target.machine == GPU:
        paths = _build_cuda(kind, compiled, make_folder(folder or Path()), made, archs)
    else:
        kind_built: Output = "so" if kind == "so" else "a" if kind == "a" else "obj"
        paths = [_build(kind_built, compiled, make_folder(folder or Path()), made.timings)]
    made.files += paths


def _text(kind: str, compiled: Compiled) -> str:
    """What is written as text; of C and CUDA the file that has the code, not its header."""
    from hbc.codegen.c.build_text import cmake_text
    from hbc.codegen.c.source import CSource
    from hbc.frontend.directives.loop_tree import loop_tree
    from hbc.ir.lang.show import show_kernel

    match kind:
        case "ir":
            return show_kernel(compiled.kernel)
        case "loops":
            return loop_tree(compiled.chosen.pipeline, compiled.chosen.schedule)
        case "html":
            return _page(compiled)
        case "c" | "cu":
            return compiled.source.text
        case "cmake" if isinstance(compiled.source, CSource):
            return cmake_text(compiled.source, compiled.chosen.target)
    hint = f"name a folder; `-o {STDOUT}` is stdout"
    raise UsageError(Diagnostic(f"`--emit {kind}` is no text", hint=hint))


def _page(compiled: Compiled) -> str:
    from hbc.cli.show.page import page
    from hbc.frontend.directives.loop_tree import loop_tree

    pipeline, schedule = compiled.chosen.pipeline, compiled.chosen.schedule
    loops = loop_tree(pipeline, schedule)
    text = pipeline.source.text
    return page(
        f"{pipeline.name} for {compiled.chosen.target.name}",
        text,
        schedule,
        loops,
        compiled.source.text,
    )


def _build(kind: Output, compiled: Compiled, folder: Path, timings: dict[str, float]) -> Path:
    from hbc.cli.files.replace_file import replace_file
    from hbc.cli.prepare import build_library

    path = folder / (compiled.source.name + SUFFIXES[kind])
    with replace_file(path) as beside:
        timings[f"C compiler ({kind})"] = build_library(compiled, beside, kind)
    return path


def _build_cuda(
    kind: str, compiled: Compiled, folder: Path, made: _Made, listed: str | None
) -> list[Path]:
    """By nvcc; PTX and cubins are one file for each architecture."""
    import time

    from hbc.cli.files.replace_file import replace_file
    from hbc.codegen.build.nvcc import CUDA_SUFFIX, build_cuda
    from hbc.codegen.cuda.source import CudaSource

    source = compiled.source
    assert isinstance(source, CudaSource)
    archs = _archs(listed)
    form = next(k for k in CUDA_SUFFIX if k == kind)
    groups = [(a,) for a in archs] if kind in ("ptx", "cubin") else [archs]
    paths = []
    for group in groups:
        middle = f".{group[0]}" if len(groups) > 1 else ""
        path = folder / f"{source.name}{middle}{CUDA_SUFFIX[form]}"
        start = time.perf_counter()
        with replace_file(path) as beside:
            made.resources += build_cuda(source, beside, form, group)
        made.timings[f"nvcc ({path.name})"] = time.perf_counter() - start
        paths.append(path)
    return paths


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


def _print_json(compiled: Compiled, made: _Made, warnings: Sequence[Diagnostic]) -> None:
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

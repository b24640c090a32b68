"""`hbc compile`: writes C or CUDA, a library or an object, or shows the IR or the loop nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.bank_report import shared_accesses, show_conflicts
from hbc.cli.options import json_option, kernel_options
from hbc.ir.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.target import GPU

if TYPE_CHECKING:
    from hbc.cli.prepare import Compiled
    from hbc.codegen.nvcc import Resources
    from hbc.codegen.toolchain import Output
    from hbc.ir.kernel import Kernel

CUDA_EMITTED = ("cu", "ptx", "cubin", "fatbin")
EMITTED = ("c", *CUDA_EMITTED, "so", "a", "obj", "ir", "loops", "html")
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
    help="Where to write NAME.c and so on [default: here]; made when absent.",
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

    from hbc.cli.pipeline import PASSES
    from hbc.cli.prepare import choose, compile_chosen

    _check_passes(dumped, PASSES)
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
    if as_json:
        _print_json(compiled, made)
        return
    for path in made.files:
        click.echo(f"wrote {path}", err=True)
    _show_resources(made.resources)
    show_conflicts(shared_accesses(compiled.kernel, made.resources))
    if timed:
        _show_times(made.timings)


class _Seen:
    """Looks at the kernel after each pass: keeps the dumps, runs the IR verifier."""

    def __init__(self, dumped: tuple[str, ...], checked: bool) -> None:
        self.texts: list[str] = []
        self._dumped = dumped
        self._checked = checked
        self._last: Kernel | None = None

    def after(self, name: str, kernel: Kernel) -> None:
        from hbc.ir.show import show_kernel
        from hbc.ir.verify import verify

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
    from hbc.codegen.gpu import gpu_arch, gpu_count
    from hbc.codegen.nvcc import DEFAULT_ARCHS, checked_archs

    if listed is not None:
        return checked_archs([a.strip() for a in listed.split(",")])
    return (gpu_arch(),) if gpu_count() else DEFAULT_ARCHS


def _check_archs(compiled: Compiled, listed: str) -> None:
    """Whether the code suits those of --arch, which matters for a `.cu` too: somebody compiles it."""
    from hbc.codegen.cuda_source import CudaSource
    from hbc.codegen.gpu_limits import check_instructions, check_shared

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
    if (kind in CUDA_EMITTED and not gpu) or (kind in ("c", "a", "obj") and gpu):
        name = compiled.chosen.target.name
        forms = (*CUDA_EMITTED, "so") if gpu else ("c", "so", "a", "obj")
        hint = f"use --emit with one of: {', '.join(forms)}"
        raise UsageError(Diagnostic(f"`{name}` code has no form `{kind}`", hint=hint))


def _emit(
    kind: str, compiled: Compiled, folder: Path | None, made: _Made, archs: str | None
) -> None:
    from hbc.cli.replace_file import make_folder, replace_file, write_text
    from hbc.frontend.loop_tree import loop_tree
    from hbc.ir.show import show_kernel

    source = compiled.source
    _refuse_kind(kind, compiled)
    if kind in ("ir", "loops"):
        if kind == "ir":
            text = show_kernel(compiled.kernel)
        else:
            text = loop_tree(compiled.chosen.pipeline, compiled.chosen.schedule)
        if folder is None:
            click.echo(text.rstrip())
            return
        paths = [make_folder(folder) / (source.name + SUFFIXES[kind])]
        write_text(paths[0], text)
    elif kind == "html":
        paths = [make_folder(folder or Path()) / (source.name + SUFFIXES[kind])]
        write_text(paths[0], _page(compiled))
    elif kind in ("c", "cu"):
        beside = make_folder(folder or Path())
        paths = [beside / f"{source.name}.{kind}", beside / f"{source.name}.h"]
        with replace_file(paths[0]) as text_file, replace_file(paths[1]) as header_file:
            text_file.write_text(source.text, encoding="utf-8", newline="\n")
            header_file.write_text(source.header, encoding="utf-8", newline="\n")
    elif compiled.chosen.target.machine == GPU:
        paths = _build_cuda(kind, compiled, make_folder(folder or Path()), made, archs)
    else:
        kind_built: Output = "so" if kind == "so" else "a" if kind == "a" else "obj"
        paths = [_build(kind_built, compiled, make_folder(folder or Path()), made.timings)]
    made.files += paths


def _page(compiled: Compiled) -> str:
    from hbc.cli.page import page
    from hbc.frontend.loop_tree import loop_tree

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
    from hbc.cli.prepare import build_library
    from hbc.cli.replace_file import replace_file

    path = folder / (compiled.source.name + SUFFIXES[kind])
    with replace_file(path) as beside:
        timings[f"C compiler ({kind})"] = build_library(compiled, beside, kind)
    return path


def _build_cuda(
    kind: str, compiled: Compiled, folder: Path, made: _Made, listed: str | None
) -> list[Path]:
    """By nvcc; PTX and cubins are one file for each architecture."""
    import time

    from hbc.cli.replace_file import replace_file
    from hbc.codegen.cuda_source import CudaSource
    from hbc.codegen.nvcc import CUDA_SUFFIX, build_cuda

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


def _print_json(compiled: Compiled, made: _Made) -> None:
    from hbc.cli.report import print_json

    print_json(
        {
            "kernel": compiled.source.name,
            "target": compiled.chosen.target.name,
            "schedule": compiled.chosen.schedule_name,
            "files": [str(path) for path in made.files],
            "seconds": dict(made.timings),
            "resources": [asdict(r) for r in made.resources],
            "shared_memory": [asdict(u) for u in shared_accesses(compiled.kernel, made.resources)],
        }
    )


def _show_times(timings: Mapping[str, float]) -> None:
    width = max(map(len, timings), default=0)
    for name, spent in [*timings.items(), ("total", sum(timings.values()))]:
        click.echo(f"{name:<{max(width, 5)}}  {spent * 1e3:8.1f} ms", err=True)

"""`hbc compile`: writes C, a library or an object, or shows the IR or the loop nest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.options import kernel_options
from hbc.ir.diag import Diagnostic, UsageError, did_you_mean

if TYPE_CHECKING:
    from hbc.cli.prepare import Compiled
    from hbc.codegen.toolchain import Output
    from hbc.ir.kernel import Kernel

EMITTED = ("c", "so", "a", "obj", "ir", "loops", "html")
SUFFIXES = {"so": ".so", "a": ".a", "obj": ".o", "ir": ".ir", "loops": ".loops", "html": ".html"}


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
    help="What to write; may be repeated [default: c]. Without -o, `ir` and `loops` are shown.",
)
@click.option(
    "--dump-after", "dumped", multiple=True, metavar="PASS", help="Show the IR after a pass."
)
@click.option("--time", "timed", is_flag=True, help="Show the seconds of each pass on stderr.")
@click.option("--no-check", is_flag=True, help="Do not verify the IR between passes.")
def command(
    kernel: Path, settings: Mapping[str, str], target: str | None, schedule: str | None,
    isa: tuple[Path, ...], fallback: str, folder: Path | None, emitted: tuple[str, ...],
    dumped: tuple[str, ...], timed: bool, no_check: bool,
) -> None:  # fmt: skip
    """Compile KERNEL to NAME.c and NAME.h, a library, the IR or a page to read.

    The files need nothing but a C compiler. --set of a size fixes it in the code.
    """

    from hbc.cli.pipeline import PASSES
    from hbc.cli.prepare import choose, compile_chosen

    _check_passes(dumped, PASSES)
    chosen = choose(kernel, settings, target, schedule, isa, fallback, fix_sizes=True)
    seen = _Seen(dumped, not no_check)
    timings: dict[str, float] = {}
    compiled = compile_chosen(chosen, seen.after, timings)
    if seen.texts:
        click.echo("\n".join(seen.texts), nl=False)
    # A dump alone is for reading: it leaves no files behind unless some are asked for.
    wanted = emitted or (() if dumped and folder is None else ("c",))
    for kind in dict.fromkeys(wanted):
        _emit(kind, compiled, folder, timings)
    if timed:
        _show_times(timings)


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


def _emit(kind: str, compiled: Compiled, folder: Path | None, timings: dict[str, float]) -> None:
    from hbc.cli.replace_file import make_folder, replace_file, write_text
    from hbc.frontend.loop_tree import loop_tree
    from hbc.ir.show import show_kernel

    source = compiled.source
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
    elif kind == "c":
        beside = make_folder(folder or Path())
        paths = [beside / f"{source.name}.c", beside / f"{source.name}.h"]
        with replace_file(paths[0]) as text_file, replace_file(paths[1]) as header_file:
            text_file.write_text(source.text, encoding="utf-8", newline="\n")
            header_file.write_text(source.header, encoding="utf-8", newline="\n")
    else:
        kind_built: Output = "so" if kind == "so" else "a" if kind == "a" else "obj"
        paths = [_build(kind_built, compiled, make_folder(folder or Path()), timings)]
    for path in paths:
        click.echo(f"wrote {path}", err=True)


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


def _show_times(timings: Mapping[str, float]) -> None:
    width = max(map(len, timings), default=0)
    for name, spent in [*timings.items(), ("total", sum(timings.values()))]:
        click.echo(f"{name:<{max(width, 5)}}  {spent * 1e3:8.1f} ms", err=True)

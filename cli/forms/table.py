"""The forms by name, and how one is written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.compiled import Compiled
from hbc.cli.files.replace_file import make_folder, replace_file
from hbc.cli.forms import texts
from hbc.cli.forms.built import Made, build_c, build_gpu
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.ground.record import record
from hbc.ir.lang.target import GPU

if TYPE_CHECKING:
    from hbc.codegen.build.triple import Triple

STDOUT = "-"


@record
class Form:
    """One `--emit`. `c`, `gpu`: whether code for processors and for GPUs has it. `files`: its texts by
    file name; `main`: which of them `-o -` shows. `built`: a compiler makes a file besides. `shown`: on
    stdout, unless there is a folder."""

    c: bool
    gpu: bool
    files: Callable[[Compiled], texts.Files] | None = None
    main: int = -1
    built: bool = False
    shown: bool = False


FORMS = {
    "c": Form(True, False, texts.code, main=0),
    "cu": Form(False, True, texts.code, main=0),
    "ptx": Form(False, True, built=True),
    "cubin": Form(False, True, built=True),
    "fatbin": Form(False, True, built=True),
    "so": Form(True, True, built=True),
    "a": Form(True, False, built=True),
    "obj": Form(True, False, built=True),
    "cmake": Form(True, False, texts.cmake),
    "meson": Form(True, False, texts.meson),
    "pkgconfig": Form(True, False, texts.pkgconfig, built=True),
    "hpp": Form(True, False, texts.cpp),
    "rs": Form(True, False, texts.rust),
    "ir": Form(True, True, texts.ir, shown=True),
    "loops": Form(True, True, texts.loops, shown=True),
    "html": Form(True, True, texts.html),
}


def default_form(compiled: Compiled) -> str:
    return "cu" if compiled.chosen.target.machine == GPU else "c"


def emit(
    name: str, compiled: Compiled, folder: Path | None, made: Made, archs: str | None,
    triple: Triple | None = None,
) -> None:  # fmt: skip
    """Writes the files of a form into `folder` (here, when None), or shows it."""
    form, on_gpu = FORMS[name], compiled.chosen.target.machine == GPU
    if not (form.gpu if on_gpu else form.c):
        others = [n for n, f in FORMS.items() if (f.gpu if on_gpu else f.c) and not f.shown]
        hint = f"use --emit with one of: {', '.join(others)}"
        target = compiled.chosen.target.name
        raise UsageError(Diagnostic(f"`{target}` code has no form `{name}`", hint=hint))
    if str(folder) == STDOUT or (folder is None and form.shown):
        if form.files is None or form.built:
            hint = f"name a folder; `-o {STDOUT}` is stdout"
            raise UsageError(Diagnostic(f"`--emit {name}` is no text", hint=hint))
        click.echo([*form.files(compiled).values()][form.main].rstrip())
        return
    into = make_folder(folder or Path())
    if form.files is not None:
        made.files += write_all(into, form.files(compiled))
    if form.built:
        if on_gpu:
            build_gpu(name, compiled, into, made, archs)
        else:
            build_c(name, compiled, into, made, triple)


def write_all(folder: Path, files: texts.Files) -> list[Path]:
    """All of them or none."""
    paths = {folder / name: text for name, text in files.items()}
    with ExitStack() as stack:
        for path, text in paths.items():
            beside = stack.enter_context(replace_file(path))
            beside.write_text(text, encoding="utf-8", newline="\n")
    return list(paths)

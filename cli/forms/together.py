"""The forms of several kernels or targets: their C, or one library of all."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hbc.cli.files.replace_file import make_folder, replace_file
from hbc.cli.forms.table import STDOUT, write_all
from hbc.cli.one_library import Library
from hbc.ir.ground.diag import Diagnostic, UsageError

LIBRARIES: dict[str, Literal["so", "a"]] = {"so": "so", "a": "a"}


def check_forms(folder: Path | None, forms: tuple[str, ...]) -> None:
    """UsageError for a form that there is not of several kernels or targets."""
    unfit = next((f for f in forms if f != "c" and f not in LIBRARIES), None)
    if unfit is not None:
        hint = "use --emit with one of: c, so, a"
        raise UsageError(
            Diagnostic(f"of several kernels or targets there is no form `{unfit}`", hint=hint)
        )
    if str(folder) == STDOUT:
        raise UsageError(
            Diagnostic(
                "of several kernels or targets there are several files", hint="name a folder"
            )
        )


def write_together(made: Library, folder: Path | None, forms: tuple[str, ...]) -> list[Path]:
    """The files written, of forms that were checked."""
    from hbc.codegen.build.toolchain import build_together

    into = make_folder(folder or Path())
    files: list[Path] = []
    for form in forms:
        if form == "c":
            files += write_all(into, made.files)
            continue
        path = into / f"{made.name}.{form}"
        with replace_file(path) as beside:
            build_together(made.parts, beside, LIBRARIES[form])
        files.append(path)
    return files

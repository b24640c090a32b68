"""The forms of several kernels or targets: their C, or one library of all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hbc.cli.files.replace_file import make_folder, replace_file
from hbc.cli.forms.table import STDOUT, write_all
from hbc.cli.one_library import Library
from hbc.ir.ground.diag import Diagnostic, UsageError

if TYPE_CHECKING:
    from hbc.codegen.build.triple import Triple

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


def write_together(
    made: Library, folder: Path | None, forms: tuple[str, ...], triple: Triple | None = None
) -> list[Path]:
    """The files written, of forms that were checked. `triple`: the machine that libraries are for; None for
    this one."""
    from hbc.codegen.build.toolchain import build_together
    from hbc.codegen.build.triple import compiler_for, file_name

    into = make_folder(folder or Path())
    files: list[Path] = []
    for form in forms:
        if form == "c":
            files += write_all(into, made.files)
            continue
        output = LIBRARIES[form]
        path = into / file_name(f"{{}}.{form}", made.name, output, triple)
        compiler = None if triple is None else compiler_for(triple)
        with replace_file(path) as beside:
            build_together(made.parts, beside, output, compiler, path.name)
        files.append(path)
    return files

"""The forms of `--targets`: the C of each target and of what calls them, or one library of all."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hbc.cli.files.replace_file import make_folder, replace_file
from hbc.cli.forms.table import STDOUT, write_all
from hbc.cli.several_targets import Several
from hbc.ir.ground.diag import Diagnostic, UsageError

LIBRARIES: dict[str, Literal["so", "a"]] = {"so": "so", "a": "a"}


def write_together(made: Several, folder: Path | None, forms: tuple[str, ...]) -> list[Path]:
    """The files written. UsageError for a form that there is not of several targets."""
    from hbc.codegen.build.toolchain import build_together

    unfit = next((f for f in forms if f != "c" and f not in LIBRARIES), None)
    if unfit is not None:
        hint = "use --emit with one of: c, so, a"
        raise UsageError(Diagnostic(f"of several targets there is no form `{unfit}`", hint=hint))
    if str(folder) == STDOUT:
        raise UsageError(
            Diagnostic("of several targets there are several files", hint="name a folder")
        )
    into = make_folder(folder or Path())
    files: list[Path] = []
    for form in forms:
        if form == "c":
            files += write_all(into, made.files)
            continue
        path = into / f"{made.caller.name}.{form}"
        with replace_file(path) as beside:
            build_together(made.parts, beside, LIBRARIES[form])
        files.append(path)
    return files

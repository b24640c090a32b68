"""`hbc fmt`: formats files in place, or says how they would change."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.printable import printable, printable_line
from hbc.ir.ground.source import Source

UNFORMATTED = 1


@click.command("fmt")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--check", "checked", is_flag=True, help="Change nothing; exit 1 when a file would.")
@click.option("--diff", "diffed", is_flag=True, help="Change nothing; show what would.")
def command(files: tuple[Path, ...], checked: bool, diffed: bool) -> None:
    """Format FILES in place; `-` formats a kernel from stdin to stdout.

    A file with syntax errors is left as it is and reported. Sketches (.sf) keep their columns.
    """
    from hbc.cli.files.read_source import STDIN, is_sketch, read_source
    from hbc.cli.files.read_source import source_name as name_of
    from hbc.cli.files.replace_file import write_text
    from hbc.frontend.sketch.fmt import format_sketch
    from hbc.frontend.text.fmt import format_source

    mistakes: list[Diagnostic] = []
    changed = []
    for file in files:
        try:
            before = read_source(file)
            formatted = format_sketch if is_sketch(file) else format_source
            after = formatted(Source(name_of(file), before))
        except HbcError as failure:
            mistakes += failure.diagnostics
            continue
        if diffed:
            _show_difference(name_of(file), before, after)
        elif not checked and str(file) == STDIN:
            click.echo(after, nl=False)
        elif not checked and after != before:
            write_text(file, after)
        if after != before:
            changed.append(name_of(file))
    if mistakes:
        raise HbcError(mistakes)
    if checked:
        for name in changed:
            click.echo(printable_line(f"would format {name}"), err=True)
    if changed and checked:
        click.get_current_context().exit(UNFORMATTED)


def _show_difference(name: str, before: str, after: str) -> None:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, f"{name} formatted"
    )
    click.echo(printable("".join(lines)), nl=False)

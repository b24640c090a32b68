"""`hbc check`: every mistake of the files, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from hbc.cli.options import settings_option
from hbc.ir.diag import Diagnostic, HbcError


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@settings_option
def command(files: tuple[Path, ...], settings: Mapping[str, str]) -> None:
    """Report every mistake in FILES; compile nothing.

    The algorithm of each file is compiled without a schedule, and with each of its schedules for
    the targets that it is meant for.
    """
    from hbc.cli.pipeline import load_pipeline, lower_to_kernel
    from hbc.ir.target import TARGETS

    mistakes: list[Diagnostic] = []
    for file in files:
        try:
            pipeline = load_pipeline(file, settings, False)
            lower_to_kernel(pipeline, None, TARGETS["c"])
            for schedule in pipeline.schedules:
                for target in schedule.targets:
                    lower_to_kernel(pipeline, schedule, TARGETS[target])
        except HbcError as failure:
            mistakes += failure.diagnostics
    if mistakes:
        raise HbcError(list(dict.fromkeys(mistakes)))
    click.echo(f"{len(files)} file{'s' if len(files) > 1 else ''} checked, no mistakes", err=True)

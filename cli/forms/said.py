"""What `hbc compile` says of the files that it made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from hbc.cli.forms.built import Made
from hbc.cli.show.bank_report import shared_accesses, show_conflicts
from hbc.cli.show.report import diagnostic_json, notice, print_json, show_diagnostics
from hbc.ir.ground.diag import Diagnostic
from hbc.ir.ground.printable import printable_line

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled
    from hbc.codegen.build.nvcc import Resources


def show_made(compiled: Compiled, made: Made, warnings: Sequence[Diagnostic]) -> None:
    """What there is to know of the files, on stderr."""
    show_diagnostics(warnings)
    for path in made.files:
        notice(f"wrote {printable_line(str(path))}")
    _show_resources(made.resources)
    show_conflicts(shared_accesses(compiled.kernel, made.resources))


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


def print_made(compiled: Compiled, made: Made, warnings: Sequence[Diagnostic]) -> None:
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


def show_times(timings: Mapping[str, float]) -> None:
    width = max(map(len, timings), default=0)
    for name, spent in [*timings.items(), ("total", sum(timings.values()))]:
        click.echo(f"{name:<{max(width, 5)}}  {spent * 1e3:8.1f} ms", err=True)

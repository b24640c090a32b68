"""`hbc targets`: the targets, what this processor supports, and which is the default."""

from __future__ import annotations

import click

from hbc.cli.machine import cpu_name, default_target
from hbc.cli.runs.emulation import can_emulate
from hbc.cli.show.options import json_option
from hbc.cli.show.report import Json, print_facts, print_json
from hbc.codegen.build.processor import can_run, missing_features
from hbc.ir.lang.target import TARGETS


@click.command("targets")
@json_option
def command(as_json: bool) -> None:
    """List the targets and which of them this machine can run."""
    default = default_target()
    if as_json:
        rows: list[Json] = [
            {
                "target": target.name,
                "about": target.about,
                "vector_bits": target.vector_bits,
                "runs_here": can_run(target),
                "default": target == default,
                "emulated_here": not can_run(target) and can_emulate(target),
                "missing": list(missing_features(target)),
                "flags": list(target.flags),
            }
            for target in TARGETS.values()
        ]
        print_json({"processor": cpu_name(), "default": default.name, "targets": rows})
        return
    facts = []
    for target in TARGETS.values():
        missing = missing_features(target)
        how = "emulated" if can_emulate(target) else "cannot run"
        here = "runs here" if not missing else f"{how} here: no {', '.join(missing)}"
        facts.append((target.name, f"{target.about}; {here}{_mark(target.name == default.name)}"))
    print_facts(cpu_name(), facts)


def _mark(default: bool) -> str:
    return " (the default, unless the file has a schedule for a better one)" if default else ""

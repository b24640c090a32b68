"""`hbc targets`: the targets, what this processor supports, and which is the default."""

from __future__ import annotations

import click

from hbc.cli.machine import can_run, cpu_features, cpu_name, default_target
from hbc.cli.options import json_option
from hbc.cli.report import Json, print_facts, print_json
from hbc.ir.target import TARGETS


@click.command("targets")
@json_option
def command(as_json: bool) -> None:
    """List the targets and which of them this machine can run."""
    default, features = default_target(), cpu_features()
    if as_json:
        rows: list[Json] = [
            {
                "target": target.name,
                "about": target.about,
                "vector_bits": target.vector_bits,
                "runs_here": can_run(target),
                "default": target == default,
                "missing": [need for need in target.needs if need not in features],
                "flags": list(target.flags),
            }
            for target in TARGETS.values()
        ]
        print_json({"processor": cpu_name(), "default": default.name, "targets": rows})
        return
    facts = []
    for target in TARGETS.values():
        missing = [need for need in target.needs if need not in features]
        here = "runs here" if not missing else f"cannot run here: no {', '.join(missing)}"
        facts.append((target.name, f"{target.about}; {here}{_mark(target.name == default.name)}"))
    print_facts(cpu_name(), facts)


def _mark(default: bool) -> str:
    return " (the default)" if default else ""

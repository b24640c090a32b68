"""`hbc passes`: what happens to a kernel between its schedule and its code, in order."""

from __future__ import annotations

import click

from hbc.cli.passes import PASSES, Pass
from hbc.cli.show import completion
from hbc.cli.show.options import json_option
from hbc.cli.show.report import Json, print_facts, print_json
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.lang.target import TARGETS, Target


@click.command("passes")
@click.option("--target", "name", metavar="NAME", shell_complete=completion.targets,
              help="Only those for this target [default: all].")  # fmt: skip
@json_option
def command(name: str | None, as_json: bool) -> None:
    """List the passes in the order in which they run.

    `hbc compile --dump-after NAME` shows the IR after one of them, `--time` the seconds each takes.
    """
    target = None if name is None else _target(name)
    if as_json:
        rows: list[Json] = [
            {
                "pass": p.name,
                "about": p.says,
                "for": p.when.says or None,
                "runs": None if target is None else p.when.target(target),
            }
            for p in PASSES
        ]
        print_json({"target": name, "passes": rows})
        return
    shown = [p for p in PASSES if target is None or p.when.target(target)]
    title = "The passes, in order" if name is None else f"The passes for {name}, in order"
    print_facts(title, [(p.name, _about(p, target)) for p in shown])


def _about(p: Pass, target: Target | None) -> str:
    """What the pass does; and for what alone, unless the target says so already."""
    told = not p.when.says or (target is not None and p.when.kernel is None)
    return p.says if told else f"{p.says} Only for {p.when.says}."


def _target(name: str) -> Target:
    if name not in TARGETS:
        hint = did_you_mean(name, TARGETS) or f"the targets are {', '.join(TARGETS)}"
        raise UsageError(Diagnostic(f"unknown target `{name}`", hint=hint))
    return TARGETS[name]

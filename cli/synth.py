"""`hbc synth`: completes a sketch, or proves that it cannot be completed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.options import LONGEST, Seconds, json_option, settings_option
from hbc.cli.report import notice, progress
from hbc.ir.diag import Diagnostic, NoSolutionError, UsageError, did_you_mean

if TYPE_CHECKING:
    from hbc.ir.sketch import Sketch
    from hbc.ir.source import Source, Span
    from hbc.synth.solve import Outcome
    from hbc.synth.switches import Switches

PRUNINGS = ("classes", "copies", "pairs")
BYTES_OF_A_MEGABYTE = 1_000_000


@click.command("synth")
@click.argument("sketch", type=click.Path(path_type=Path))
@settings_option
@click.option("--all", "every", is_flag=True, help="Print every solution, the cheapest first.")
@click.option("--count", is_flag=True, help="Print only how many solutions there are.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Print at most N solutions.")
@click.option(
    "--timeout",
    type=Seconds(min=0, min_open=True, max=LONGEST),
    metavar="SECONDS",
    help="Stop after this long, with what has been found.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=16),
    default=400,
    show_default=True,
    metavar="MB",
    help="Room for states and sets; a set that needs more is refused.",
)
@click.option(
    "--prune",
    default="classes,copies",
    show_default=True,
    metavar="LIST",
    help="The tests of unfinished states: classes, copies, pairs; or none.",
)
@click.option("--no-join", is_flag=True, help="Try all pairs of arguments of a fold.")
@click.option("--no-merge", is_flag=True, help="Search equal states separately.")
@click.option("--no-compose", is_flag=True, help="Search every hole by itself.")
@click.option("--no-crowds", is_flag=True, help="Do not compare locations with each other.")
@click.option("--stats", is_flag=True, help="Say what the search did and how long it took.")
@click.option("--explain-cost", is_flag=True, help="Show the instructions of each statement.")
@json_option
def command(
    sketch: Path, settings: Mapping[str, str], every: bool, count: bool, limit: int | None,
    timeout: float | None, memory: int, prune: str, no_join: bool, no_merge: bool, no_compose: bool,
    no_crowds: bool, stats: bool, explain_cost: bool, as_json: bool,
) -> None:  # fmt: skip
    """Fill the holes of SKETCH so that its goals are met.

    Without --all, the cheapest solution is printed. Exit code 5 when there is none: the search has
    then been exhausted, or stopped by --timeout.
    """
    # The matrices are small; more threads only wait for each other. NumPy reads this when it loads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    began = time.monotonic()
    from hbc.cli.synth_report import Shown, print_outcome, print_statistics, summary
    from hbc.synth.solve import solve
    from hbc.synth.watch import Watch

    switches = chosen_switches(prune, no_join, no_merge, no_compose, no_crowds)
    with progress() as bar:
        deadline = None if timeout is None else began + timeout
        watch = Watch(deadline, memory * BYTES_OF_A_MEGABYTE, bar.step)
        watch.phase("read")
        problem = load(sketch, settings)
        try:
            outcome = solve(problem, switches, watch)
        except KeyboardInterrupt:
            watch.phase("")
            notice(summary(watch, began))
            raise
    if outcome.stopped is not None:
        notice(f"stopped by the {outcome.stopped}: there may be more solutions")
    shown = Shown(every, count, limit, explain_cost, stats)
    if as_json:
        print_statistics(outcome, shown, began)
    else:
        print_outcome(outcome, shown, began)
    if not outcome.fragments:
        raise none_found(outcome)


def chosen_switches(
    prune: str, no_join: bool, no_merge: bool, no_compose: bool, no_crowds: bool
) -> Switches:
    from hbc.synth.switches import Switches

    names = [] if prune == "none" else [name.strip() for name in prune.split(",") if name.strip()]
    for name in names:
        if name not in PRUNINGS:
            hint = did_you_mean(name, PRUNINGS) or f"the tests are {', '.join(PRUNINGS)}; or `none`"
            raise UsageError(Diagnostic(f"`--prune {name}` is no test", hint=hint))
    return Switches(
        classes="classes" in names, copies="copies" in names, pairs="pairs" in names,
        crowds="classes" in names and not no_crowds, compose=not no_compose, joins=not no_join,
        merge=not no_merge,
    )  # fmt: skip


def load(file: Path, settings: Mapping[str, str]) -> Sketch:
    """The sketch of a file; imports are looked for beside it."""
    from hbc.cli.read_source import read_source, source_name
    from hbc.frontend.sf_elaborate import load_sketch
    from hbc.ir.diag import error
    from hbc.ir.source import Source

    def reader(path: str, span: Span) -> Source:
        found = file.parent / path
        if not found.is_file():
            raise error(f"there is no `{found}`", span, "imports are looked for beside the sketch")
        return Source(source_name(found), read_source(found))

    return load_sketch(Source(source_name(file), read_source(file)), settings, reader)


def none_found(outcome: Outcome) -> NoSolutionError:
    """Says why there is nothing: stopped, unreachable elements, or exhausted."""
    from hbc.synth.solve import unreachable

    name = outcome.problem.sketch.source.name
    if not outcome.complete:
        return NoSolutionError(
            Diagnostic(f"no solution of {name} was found in the time given", hint="raise --timeout")
        )
    missing = unreachable(outcome.problem)
    if missing:
        places = ", ".join(f"`{node}[{', '.join(map(str, at))}]`" for node, at in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        hint = f"no candidate brings its term to {places}{more}"
    else:
        hint = (
            "every element can be reached by itself, but no choice of gathers reaches all of them"
        )
    message = f"{name} has no solution: all candidates have been searched"
    return NoSolutionError(Diagnostic(message, outcome.problem.sketch.goals[0].span, hint))

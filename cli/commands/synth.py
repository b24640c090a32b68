"""`hbc synth`: completes a sketch, or proves that it cannot be completed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.files.read_sketch import read_sketch
from hbc.cli.show.options import LONGEST, Seconds, json_option, settings_option
from hbc.cli.show.report import notice, print_json, progress
from hbc.ir.ground.diag import Diagnostic, NoSolutionError, UsageError, did_you_mean
from hbc.ir.ground.record import record

if TYPE_CHECKING:
    from hbc.ir.moves.sketch import Sketch
    from hbc.synth.results.cost import Pricing
    from hbc.synth.results.cost_table import CostTable
    from hbc.synth.results.solve import Outcome, Solution
    from hbc.synth.search.switches import Switches

PRUNINGS = ("classes", "copies", "pairs")
BYTES_OF_A_MEGABYTE = 1_000_000
LONGEST_START = 1.0  # seconds


@click.command("synth")
@click.argument("sketch", type=click.Path(path_type=Path), required=False)
@click.option(
    "--spec",
    metavar="TEXT",
    help="Instead of a sketch: a gather of one array, such as `[i in 64] x[i % 8 * 8 + i / 8]`, or a layout"
    " change by name, such as `interleave(k=4, bytes)`.",
)
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
@click.option(
    "--target",
    metavar="NAME",
    help="Whose instructions the cost counts: cuda_sm80, cuda_sm90, cuda_bytes, avx512, avx2, neon, sve256,"
    " hvx; by default what the sketch's parameter `target` says, else cuda_sm80.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the arrays of the cheapest solution, stage by stage: FILE.svg or FILE.png.",
)
@click.option(
    "--proof",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what `hbc check-proof` verifies: solutions, and why there are no others.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write the cheapest solution as code for the target; `-` is stdout.",
)
@click.option(
    "--type", "element", metavar="TYPE", help="The elements in the code: f32, u8, i16, u4, u1, ..."
)
@click.option(
    "--learn",
    is_flag=True,
    help="Add the movements of the --spec, or those that a kernel asks for, to your own library, in which"
    " every compile looks.",
)
@json_option
def command(
    sketch: Path | None, spec: str | None, settings: Mapping[str, str], every: bool, count: bool,
    limit: int | None, timeout: float | None, memory: int, prune: str, no_join: bool, no_merge: bool,
    no_compose: bool, no_crowds: bool, stats: bool, explain_cost: bool, target: str | None,
    picture: Path | None, proof: Path | None, output: Path | None, element: str | None, learn: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Fill the holes of SKETCH so that its goals are met.

    Without --all, the cheapest solution is printed. Exit code 5 when there is none: the search has
    then been exhausted, or stopped by --timeout.
    """
    # The matrices are small; more threads only wait for each other. NumPy reads this when it loads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Python's own start counts too, unless this is a process that has done other things before.
    began = time.monotonic() - min(time.process_time(), LONGEST_START)
    from hbc.cli.sketches.synth_report import Shown, print_outcome, print_statistics
    from hbc.synth.results.cost import make_pricing

    if learn:
        limits = Limits(began, timeout, memory * BYTES_OF_A_MEGABYTE)
        refuse_without_sketch(
            "--learn",
            {"--all": every, "--count": count, "--limit": limit, "--stats": stats, "-o": output,
             "--explain-cost": explain_cost, "--picture": picture, "--proof": proof}
        )  # fmt: skip
        learn_movements(sketch, spec, settings, target, element, limits, as_json)
        return
    if spec is not None or sketch is None:
        if sketch is not None or spec is None:
            raise UsageError(Diagnostic("name a sketch, or a layout change with --spec"))
        refuse_without_sketch(
            "--spec",
            {"--all": every, "--count": count, "--limit": limit, "--stats": stats,
             "--explain-cost": explain_cost, "--picture": picture}
        )  # fmt: skip
        from hbc.cli.sketches.gather_spec import Files
        from hbc.cli.sketches.synth_spec import run_spec

        run_spec(
            spec, settings, target, element, Files(output, proof), timeout,
            memory * BYTES_OF_A_MEGABYTE, as_json,
        )  # fmt: skip
        return
    if sketch.suffix == ".hb":
        hint = f"hbc compile {sketch}"
        raise UsageError(Diagnostic(f"`{sketch}` is a kernel, not a sketch", hint=hint))
    refuse_files(picture, output, proof, element)
    switches = chosen_switches(prune, no_join, no_merge, no_compose, no_crowds)
    limits = Limits(began, timeout, memory * BYTES_OF_A_MEGABYTE)
    outcome, table = searched(sketch, settings, target, switches, limits, as_json)
    if outcome.stopped is not None:
        notice(f"stopped by the {outcome.stopped}: there may be more solutions, and cheaper ones")
    elif not outcome.knows_cheapest() and not count:
        notice("too many solutions to compare all: there may be cheaper ones than the first")
    pricing = make_pricing(outcome.problem, table)
    shown = Shown(every, count, limit, explain_cost, stats, pricing)
    if as_json:
        print_statistics(outcome, shown, began)
    elif output is None or str(output) != "-":  # nothing but the code goes there
        print_outcome(outcome, shown, began)
    if proof is not None and (outcome.fragments or outcome.complete):
        write_sketch_proof(outcome, pricing, settings, limits, proof)
    if not outcome.fragments:
        raise none_found(outcome)
    if output is not None or picture is not None:
        best = next(outcome.solutions(pricing))
        write_files(outcome, best, pricing, target or table.target, output, element, picture)


@record
class Limits:
    """When the search began, in seconds, for how many it may run, and in how many bytes."""

    began: float
    timeout: float | None
    memory: int


def searched(
    sketch: Path, settings: Mapping[str, str], target: str | None, switches: Switches,
    limits: Limits, as_json: bool,
) -> tuple[Outcome, CostTable]:  # fmt: skip
    """What the search finds for a sketch, and the costs that it is told to mind. NoSolutionError where time
    or memory end before it begins."""
    from hbc.cli.sketches.alarm import alarm
    from hbc.cli.sketches.synth_report import nothing_yet, summary
    from hbc.synth.prunings.watch import Stopped, Watch
    from hbc.synth.results.solve import solve

    deadline = None if limits.timeout is None else limits.began + limits.timeout
    watch = Watch(deadline, limits.memory)
    watch.phase("read")
    try:
        with progress() as bar, alarm(deadline):
            watch.tell = bar.step
            problem = read_sketch(sketch, settings)
            table = chosen_table(problem, target)
            return solve(problem, switches, watch), table
    except Stopped:
        if as_json:
            print_json(nothing_yet(watch, limits.began))
        raise too_late(sketch, "raise --timeout: its sets were not even made") from None
    except KeyboardInterrupt:
        watch.phase("")
        notice(summary(watch, limits.began))
        raise


def write_files(
    outcome: Outcome, best: Solution, pricing: Pricing, target: str, output: Path | None,
    element: str | None, picture: Path | None,
) -> None:  # fmt: skip
    """The solution as code and as a picture, where they are asked for."""
    if output is not None:
        from hbc.cli.sketches.synth_code import solution_code, write_code

        notes = [f"{outcome.problem.sketch.source.name}: its cheapest solution."]
        write_code(solution_code(outcome, best, target, element, notes), output)
    if picture is not None:
        from hbc.cli.sketches.synth_report import write_picture

        write_picture(outcome, best, pricing, picture)


def write_sketch_proof(
    outcome: Outcome, pricing: Pricing, settings: Mapping[str, str], limits: Limits, file: Path
) -> None:
    """The proof that belongs to an outcome; says what it does not claim."""
    from hbc.cli.files.replace_file import write_text
    from hbc.cli.proofs.statement import Refused
    from hbc.cli.sketches.proof import sketch_proof, written
    from hbc.synth.prunings.watch import Watch

    deadline = None if limits.timeout is None else limits.began + limits.timeout
    try:
        lines, missing = sketch_proof(outcome, pricing, settings, Watch(deadline).check)
    except Refused as refused:
        notice(f"no proof is written: {refused}")
        return
    write_text(file, written(lines))
    if missing:
        notice(f"the proof does not claim that there are no other solutions: {missing}")


def learn_movements(
    kernel: Path | None, spec: str | None, settings: Mapping[str, str], target: str | None,
    element: str | None, limits: Limits, as_json: bool,
) -> None:  # fmt: skip
    """What a change, a gather or a kernel asks for, into the user's library."""
    from hbc.cli.sketches.learn_spec import learn_kernel, learn_spec
    from hbc.cli.sketches.synth_code import wants_vbmi
    from hbc.cli.sketches.synth_spec import DEFAULT, deadline
    from hbc.synth.prunings.watch import Watch

    watch = Watch(deadline(limits.began, limits.timeout), limits.memory)
    if spec is not None and kernel is None:
        vbmi = wants_vbmi(settings)
        learn_spec(spec, target or DEFAULT, vbmi, element, watch, as_json)
    elif kernel is not None and spec is None and kernel.suffix == ".hb" and element is None:
        learn_kernel(kernel, settings, target, watch, as_json)
    else:
        hint = "name a movement by --spec (with --type), or a kernel, FILE.hb"
        raise UsageError(Diagnostic("`--learn` takes one thing to learn from", hint=hint))


def refuse_without_sketch(instead: str, options: Mapping[str, object]) -> None:
    """UsageError for an option that says nothing about what is asked for instead."""
    for name, value in options.items():
        if value:
            hint = {
                "--spec": "--spec has one answer, which -o and --json write",
                "--learn": "--learn has --json",
            }[instead]
            message = f"`{name}` belongs to a sketch, not to {instead}"
            raise UsageError(Diagnostic(message, hint=hint))


def refuse_files(
    picture: Path | None, output: Path | None, proof: Path | None, element: str | None
) -> None:
    """UsageError for a picture of no known kind, and for a type of code that is not written."""
    if picture is not None and picture.suffix not in (".svg", ".png"):
        hint = "name a file that ends in .svg or .png"
        raise UsageError(Diagnostic(f"`--picture {picture}` is no kind of picture", hint=hint))
    for (one, here), (other, there) in combinations(
        (("`--picture`", picture), ("`-o`", output), ("`--proof`", proof)), 2
    ):
        if here is not None and there is not None and here.resolve() == there.resolve():
            hint = "each needs a file of its own"
            raise UsageError(Diagnostic(f"{one} and {other} are one file, `{here}`", hint=hint))
    if element is not None and output is None:
        raise UsageError(Diagnostic("`--type` says what the code's elements are: add -o FILE"))


def chosen_table(sketch: Sketch, target: str | None) -> CostTable:
    """What moves cost on a target; a sketch may name its own. UsageError for one without a table."""
    from hbc.synth.results.cost_table import DEFAULT, cost_table

    if target is not None:
        return cost_table(target)
    return cost_table(str(sketch.constants.get("target", DEFAULT)), sketch.places.get("target"))


def chosen_switches(
    prune: str, no_join: bool, no_merge: bool, no_compose: bool, no_crowds: bool
) -> Switches:
    from hbc.synth.search.switches import Switches

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


def too_late(name: object, hint: str) -> NoSolutionError:
    return NoSolutionError(
        Diagnostic(f"no solution of {name} was found in the time given", hint=hint)
    )


def none_found(outcome: Outcome) -> NoSolutionError:
    """Says why there is nothing: stopped, unreachable elements, or exhausted."""
    from hbc.synth.results.solve import folds_of_folds, unreachable

    name = outcome.problem.sketch.source.name
    if not outcome.complete:
        return too_late(name, "raise --timeout")
    missing = unreachable(outcome.problem)
    if missing:
        places = ", ".join(f"`{node}[{', '.join(map(str, at))}]`" for node, at in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        hint = f"no candidate brings its term to {places}{more}"
        nested = folds_of_folds(outcome.problem)
        if nested is not None:
            hint += (
                f"; `{nested}` folds what was folded, so that only a goal of nested folds can match: the"
                " order of elements does not matter, their grouping does (associativity is not assumed)."
                " Write it as it is made: `fold(+) [i in 2] fold(+) [j in 2] x[2*i + j]`"
            )
    elif not outcome.problem.holes:
        hint = "there are no holes: what is computed, or the operation of a fold, is not the goal's"
    else:
        hint = (
            "every element can be reached by itself, but no choice of gathers reaches all of them"
        )
    message = f"{name} has no solution: all candidates have been searched"
    return NoSolutionError(Diagnostic(message, outcome.problem.sketch.goals[0].span, hint))

"""How `hbc synth` shows what it found: solutions as formulas, statistics as text or JSON."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import click

from hbc.cli.report import Json, print_facts, print_json, seconds
from hbc.ir.sketch import Apply, Fold, Literal, Statement
from hbc.synth.solve import Outcome, Solution
from hbc.synth.watch import Watch


@dataclass(frozen=True, slots=True)
class Shown:
    """What was asked for."""

    every: bool
    count: bool
    limit: int | None
    costs: bool
    stats: bool


def print_outcome(outcome: Outcome, shown: Shown, began: float) -> None:
    """The solutions as text on stdout."""
    if shown.count:
        click.echo(str(outcome.count()))
    else:
        for number, solution in enumerate(wanted(outcome, shown), 1):
            click.echo(
                f"# solution {number}: {solution.slots:g} issue slots of a warp in the holes"
            )
            for line in listing(outcome, solution):
                click.echo(line)
            if shown.costs:
                print_costs(outcome, solution)
    if shown.stats:
        facts = statistics(outcome, began)
        print_facts("search", [(name, str(value)) for name, value in flat(facts)])


def print_statistics(outcome: Outcome, shown: Shown, began: float) -> None:
    """One JSON object; `solutions` is their number, `found` lists those asked for."""
    listed: list[Json] = []
    if not shown.count:
        listed = [as_json(outcome, solution) for solution in wanted(outcome, shown)]
    value: dict[str, Json] = {"sketch": outcome.problem.sketch.name, **statistics(outcome, began)}
    if not shown.count:
        value["found"] = listed
    print_json(value)


def wanted(outcome: Outcome, shown: Shown) -> Iterator[Solution]:
    """The cheapest one; with --all every one, with --limit so many."""
    most = shown.limit if shown.limit is not None else None if shown.every else 1
    return islice(outcome.solutions(), most)


def statistics(outcome: Outcome, began: float) -> dict[str, Json]:
    """Stable keys; seconds are wall time."""
    watch, problem = outcome.watch, outcome.problem
    oracle = outcome.oracle_states()
    holes: list[Json] = [
        {
            "name": problem.nodes[hole].name,
            "candidates": candidates(outcome, hole),
            "viable": outcome.gathers(hole).size,
            "visited": watch.visited.get(hole, 0),
        }
        for hole in problem.holes
    ]
    phases: dict[str, Json] = {name: round(value, 4) for name, value in watch.phases.items()}
    phases["total"] = round(time.monotonic() - began, 4)
    return {
        "solutions": outcome.count(),
        "complete": outcome.complete,
        "states": watch.states,
        "oracle_states": oracle,
        "ineffectiveness": round(watch.states / oracle, 3) if oracle else None,
        "tried": watch.tried,
        "holes": holes,
        "seconds": phases,
        "peak_mb": round(peak_megabytes(), 1),
    }


def candidates(outcome: Outcome, hole: int) -> int:
    from hbc.synth.problem import Move

    node = outcome.problem.nodes[hole]
    assert isinstance(node, Move)
    return node.gathers.size


def flat(facts: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    """Nested values as lines of their own."""
    for name, value in facts.items():
        if name == "holes" and isinstance(value, list):
            for hole in value:
                if isinstance(hole, dict):
                    counts = [f"{hole[key]} {key}" for key in ("candidates", "viable", "visited")]
                    yield f"?{hole['name']}", ", ".join(counts)
        elif name == "seconds" and isinstance(value, dict):
            for phase, time_ in value.items():
                assert isinstance(time_, int | float)
                yield f"{phase}", seconds(time_)
        else:
            yield name, value


def listing(outcome: Outcome, solution: Solution) -> Iterator[str]:
    """The sketch with its holes filled, one statement a line."""
    numbers = {outcome.problem.nodes[hole].name: (hole, at) for hole, at in solution.choice}
    for statement in outcome.problem.sketch.statements:
        if isinstance(statement, Apply) and statement.name in numbers:
            hole, at = numbers[statement.name]
            formula = named(outcome.gathers(hole).formula(at), statement.arguments)
            yield f"{head(outcome, statement)} = {formula}"
        elif isinstance(statement, Apply | Fold) and "." not in statement.name:
            text = statement.span.text
            yield f"{head(outcome, statement)} = {text.partition('= ')[2] or text}"


def head(outcome: Outcome, statement: Statement) -> str:
    number = [node.name for node in outcome.problem.nodes].index(statement.name)
    shape = outcome.problem.nodes[number].shape
    assert not isinstance(statement, Literal)
    return f"{statement.name}: [{', '.join(map(str, shape))}]"


def named(formula: str, arguments: tuple[str, ...]) -> str:
    """The argument's name where the formula says `a`."""
    return formula.replace("a[", f"{arguments[0]}[") if len(arguments) == 1 else formula


def print_costs(outcome: Outcome, solution: Solution) -> None:
    rows: list[tuple[str, str]] = []
    for name, cost in outcome.costs(solution):
        counted = (
            f"{cost.shuffles} shuffles, {cost.selects} selects, {cost.addresses} lane addresses"
        )
        rows.append((name, f"{counted}: {cost.slots:g}"))
    print_facts("cost in issue slots of a warp", rows)


def as_json(outcome: Outcome, solution: Solution) -> Json:
    problem = outcome.problem
    chosen: dict[str, Json] = {
        problem.nodes[hole].name: outcome.gathers(hole).formula(number)
        for hole, number in solution.choice
    }
    return {"slots": solution.slots, "gathers": chosen}


def summary(watch: Watch, began: float) -> str:
    """One line for who interrupts."""
    elapsed = seconds(time.monotonic() - began)
    return (
        f"interrupted after {elapsed}: {watch.states:,} states, {watch.tried:,} candidates tested"
    )


def peak_megabytes() -> float:
    """The most memory this process has had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6

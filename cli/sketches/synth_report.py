"""How `hbc synth` shows what it found: solutions as formulas, statistics as text or JSON."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import click

from hbc.cli.show.report import Json, print_facts, print_json, print_table, seconds
from hbc.ir.moves.sketch import Apply, Fold, Literal, Statement
from hbc.synth.prunings.watch import Watch
from hbc.synth.results.code import short
from hbc.synth.results.cost import Pricing
from hbc.synth.results.solve import Outcome, Solution

STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Shown:
    """What was asked for."""

    every: bool
    count: bool
    limit: int | None
    costs: bool
    stats: bool
    pricing: Pricing


def print_outcome(outcome: Outcome, shown: Shown, began: float) -> None:
    """The solutions as text on stdout."""
    if shown.count:
        click.echo(str(outcome.count()))
    else:
        for number, solution in enumerate(wanted(outcome, shown), 1):
            cost = f"{solution.cost:.4g} {shown.pricing.table.unit} in the holes"
            click.echo(f"# solution {number}: {cost}")
            for line in listing(outcome, solution):
                click.echo(line)
            if shown.costs:
                print_costs(outcome, solution, shown.pricing)
    if shown.stats:
        facts = statistics(outcome, began)
        print_facts("search", [(name, str(value)) for name, value in flat(facts)])


def print_statistics(outcome: Outcome, shown: Shown, began: float) -> None:
    """One JSON object; `solutions` is their number, `found` lists those asked for."""
    listed: list[Json] = []
    if not shown.count:
        listed = [as_json(outcome, solution, shown) for solution in wanted(outcome, shown)]
    value: dict[str, Json] = {"sketch": outcome.problem.sketch.name, **statistics(outcome, began)}
    if not shown.count:
        value["found"] = listed
    print_json(value)


def nothing_yet(watch: Watch, began: float) -> dict[str, Json]:
    """The statistics of a search that was stopped before it began."""
    watch.phase("")
    phases: dict[str, Json] = {name: round(value, 4) for name, value in watch.phases.items()}
    phases["total"] = round(time.monotonic() - began, 4)
    return {
        "solutions": 0, "complete": False, "states": 0, "oracle_states": 0,
        "ineffectiveness": None, "tried": 0, "holes": [], "seconds": phases,
        "peak_mb": round(peak_megabytes(), 1),
    }  # fmt: skip


def wanted(outcome: Outcome, shown: Shown) -> Iterator[Solution]:
    """The cheapest one; with --all every one, with --limit so many."""
    most = shown.limit if shown.limit is not None else None if shown.every else 1
    return islice(outcome.solutions(shown.pricing), most)


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
    from hbc.synth.prunings.problem import Move

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
    formulas = made_by(outcome, solution)
    for statement in outcome.problem.sketch.statements:
        if statement.name in formulas:
            yield f"{head(outcome, statement)} = {formulas[statement.name]}"


def made_by(outcome: Outcome, solution: Solution) -> dict[str, str]:
    """How each array of the sketch is made, in its order; arrays of known elements are left out."""
    numbers = {outcome.problem.nodes[hole].name: (hole, at) for hole, at in solution.choice}
    formulas: dict[str, str] = {}
    for statement in outcome.problem.sketch.statements:
        if isinstance(statement, Apply) and statement.name in numbers:
            hole, at = numbers[statement.name]
            formula = short(outcome, hole, outcome.gathers(hole).formula(at))
            formulas[statement.name] = named(formula, statement.arguments)
        elif isinstance(statement, Apply | Fold) and "." not in statement.name:
            text = statement.span.text
            formulas[statement.name] = text.partition("= ")[2] or text
    return formulas


def head(outcome: Outcome, statement: Statement) -> str:
    number = [node.name for node in outcome.problem.nodes].index(statement.name)
    shape = outcome.problem.nodes[number].shape
    assert not isinstance(statement, Literal)
    return f"{statement.name}: [{', '.join(map(str, shape))}]"


def named(formula: str, arguments: tuple[str, ...]) -> str:
    """The argument's name where the formula says `a`."""
    return formula.replace("a[", f"{arguments[0]}[") if len(arguments) == 1 else formula


def print_costs(outcome: Outcome, solution: Solution, pricing: Pricing) -> None:
    """One line for each move: how it is made, how many of which instructions, what they cost; then where
    each of these prices comes from."""
    costs = list(outcome.costs(solution, pricing))
    nodes = outcome.problem.nodes
    first = {
        nodes[run[-1]].name: [nodes[n].name for n in run[:-1]] for run in pricing.runs.values()
    }
    names = sorted({name for _, cost in costs for name, _ in cost.counts})
    rows: list[list[str]] = []
    for array, cost in costs:
        counts = dict(cost.counts)
        cells = [str(counts.get(name, "")) for name in names]
        empty = [""] * (len(names) + 1)
        rows += [[before, f"with {array}", *empty] for before in first.get(array, ())]
        rows.append([array, cost.how, *cells, f"{cost.price:.4g}"])
    total = Counter(dict.fromkeys(names, 0))
    for _, cost in costs:
        total.update(dict(cost.counts))
    price = f"{sum(cost.price for _, cost in costs):.4g}"
    rows.append(["total", "", *(str(total[name]) for name in names), price])
    table = pricing.table
    headline = f"cost on {table.target}, in {table.unit}"
    print_table(headline, ["array", "made by", *(f"{name}>" for name in names), "cost>"], rows)
    if names:
        known = {i.name: i for i in table.instructions}
        priced = [[name, f"{known[name].cost:.4g}", known[name].source] for name in names]
        print_table("prices", ["instruction", "one>", "source"], priced)


def as_json(outcome: Outcome, solution: Solution, shown: Shown) -> Json:
    problem = outcome.problem
    chosen: dict[str, Json] = {
        problem.nodes[hole].name: outcome.gathers(hole).formula(number)
        for hole, number in solution.choice
    }
    shown_json: dict[str, Json] = {
        "cost": round(solution.cost, 6), "unit": shown.pricing.table.unit, "gathers": chosen,
    }  # fmt: skip
    if shown.costs:
        shown_json["moves"] = [
            {"array": array, "made_by": cost.how, "instructions": dict(cost.counts),
             "cost": round(cost.price, 6)}
            for array, cost in outcome.costs(solution, shown.pricing)
        ]  # fmt: skip
        used = {
            name for _, cost in outcome.costs(solution, shown.pricing) for name, _ in cost.counts
        }
        shown_json["prices"] = {
            i.name: {"cost": i.cost, "source": i.source}
            for i in shown.pricing.table.instructions
            if i.name in used
        }
    return shown_json


def write_picture(outcome: Outcome, solution: Solution, pricing: Pricing, path: Path) -> None:
    """The arrays of a solution stage by stage, as SVG, or as PNG where the name says so."""
    from hbc.cli.files.replace_file import replace_file
    from hbc.cli.sketches.drawing import png, svg
    from hbc.cli.sketches.synth_picture import draw_solution

    unit = pricing.table.unit
    costs = {
        array: f"{', '.join(f'{count} {name}' for name, count in cost.counts)}: {cost.price:.4g} {unit}"
        if cost.counts
        else cost.how
        for array, cost in outcome.costs(solution, pricing)
    }
    drawing = draw_solution(outcome, solution, made_by(outcome, solution), costs)
    text = svg(drawing).encode() if path.suffix == ".svg" else png(drawing)
    with replace_file(path) as beside:
        beside.write_bytes(text)


def summary(watch: Watch, began: float) -> str:
    """For who interrupts: what has been done, and what took the time."""
    elapsed = seconds(time.monotonic() - began)
    phases = ", ".join(f"{name} {seconds(value)}" for name, value in watch.phases.items())
    done = f"{watch.states:,} states, {watch.tried:,} candidates tested"
    return f"interrupted after {elapsed}: {done}\n{phases}; {peak_megabytes():,.0f} MB"


def peak_megabytes() -> float:
    """The most memory this process has had; 0 where the system does not say."""
    if STATUS.exists():  # what getrusage says includes, on Linux, the process that started this one
        peak_line = re.search(r"VmHWM:\s*(\d+) kB", STATUS.read_text(encoding="ascii"))
        if peak_line is not None:
            return int(peak_line[1]) * 1024 / 1e6
    try:
        import resource
    except ImportError:  # Windows, which counts it elsewhere
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6

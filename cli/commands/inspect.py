"""`hbc inspect`: for each update all mappings of its loops to the instructions of a target, ranked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show import completion
from hbc.cli.show.machine_option import machine_option
from hbc.cli.show.options import json_option, kernel_argument, kernel_option, settings_option
from hbc.ir.ground.printable import printable

if TYPE_CHECKING:
    from hbc.cli.compiled import Chosen
    from hbc.cli.show.report import Json
    from hbc.eqsat.inspecting.mapping import Inspected
    from hbc.eqsat.inspecting.mapping import Mapping as Found

MOST_SHOWN = 5  # mappings of a statement
MOST_NAMED = 6  # instructions that are refused for one reason
HEADINGS = ("", "instruction", "loops along its rows", "operands", "cycles", "per point")


@click.command("inspect")
@settings_option
@machine_option("as described")
@click.option(
    "--isa", multiple=True, metavar="FILE", type=click.Path(path_type=Path),
    help="Use the instructions that this file describes too; may be repeated.",
)  # fmt: skip
@click.option(
    "--target", metavar="NAME", shell_complete=completion.targets,
    help="Whose instructions [default: of those that run here, the best that the file has a schedule"
    " for].",
)  # fmt: skip
@click.option("--all", "show_all", is_flag=True, help="Show every mapping, and not the first few.")
@kernel_option
@kernel_argument
@json_option
def command(
    kernel: Path, only: str | None, settings: Mapping[str, str], target: str | None, isa: tuple[Path, ...],
    show_all: bool, as_json: bool,
) -> None:  # fmt: skip
    """Say which instructions could do the updates of KERNEL, whatever its schedules say.

    Per update, before any loop is split: which loop would run along which row of an instruction,
    how its operands would come to it (direct: as they lie; broadcast, shuffled: in registers; packed:
    through a copy in its order), and estimated cycles of the whole statement, the cheapest first. The
    plain vector form is one of them. Then what is refused, and why.
    """
    from hbc.cli.asked_machine import asked_costs
    from hbc.cli.compiled import NO_SCHEDULE
    from hbc.cli.files.one_kernel import one_kernel
    from hbc.cli.prepare import choose
    from hbc.cli.show.report import print_json, progress

    # No schedule is looked at. Without a target the schedules say which is meant.
    program = one_kernel(kernel, only)
    with progress() as shown:
        shown.step("reading and checking")
        chosen = choose(program, settings, target, None if target is None else NO_SCHEDULE, isa)
        sizes = _sizes(chosen, settings)
        shown.step("mapping loops to instructions")
        updates = inspected(chosen, sizes)
    costs = asked_costs()
    if as_json:
        statements: list[Json] = [_as_json(s) for s in updates]
        print_json(
            {
                "kernel": chosen.pipeline.name,
                "target": chosen.target.name,
                "costs": None if costs is None else costs.processor,
                "sizes": dict(sizes),
                "statements": statements,
            }
        )
        return
    click.echo(printable("\n".join(_lines(chosen, sizes, updates, show_all))))


def inspected(chosen: Chosen, sizes: Mapping[str, int]) -> list[Inspected]:
    """The statements of a program without a schedule."""
    from hbc.cli.asked_machine import asked_costs
    from hbc.cli.automatic import machine_with
    from hbc.cli.instruction_set import instructions_of
    from hbc.cli.prepare import PLAIN
    from hbc.eqsat.inspecting.inspect import inspect
    from hbc.frontend.costs.machine_costs import with_costs
    from hbc.frontend.lowering.lower import lower
    from hbc.ir.lang.target import TARGETS

    kernel = lower(chosen.pipeline, None, TARGETS[PLAIN])  # whose loops are whole also for GPUs
    costs = asked_costs()
    known = with_costs(instructions_of(chosen.target), costs)
    adds = machine_with(chosen.target, costs).multiply_adds
    return inspect(kernel, known, chosen.target, sizes, adds)


def described(chosen: Chosen) -> list[str]:
    """The lines of the text, for the sizes of the first example."""
    sizes = _sizes(chosen, {})
    return _lines(chosen, sizes, inspected(chosen, sizes), False)


def _sizes(chosen: Chosen, settings: Mapping[str, str]) -> dict[str, int]:
    """The numbers of sizes: those that are given, else those of the first example, else a guess."""
    from hbc.eqsat.inspecting.nests import NOMINAL

    p = chosen.pipeline
    example = dict(p.examples[0].sizes) if p.examples else {}
    given = {name: int(text) for name, text in settings.items() if text.isdecimal()}
    return {
        s.name: given.get(s.name, s.fixed if s.fixed is not None else example.get(s.name, NOMINAL))
        for s in p.sizes
    }


def _lines(
    chosen: Chosen, sizes: Mapping[str, int], updates: Sequence[Inspected], show_all: bool
) -> list[str]:
    from hbc.cli.asked_machine import asked_costs

    at = ", ".join(f"{name} = {n}" for name, n in sizes.items())
    costs = asked_costs()
    by = "" if costs is None else f", by what {costs.processor} costs"
    lines = [f"{chosen.pipeline.name} for {chosen.target.name}{f', at {at}' if at else ''}{by}"]
    if not updates:
        return [*lines, "  nothing is computed: there are copies and numbers alone"]
    for s in updates:
        lines += _statement(s, show_all)
    return lines


def _statement(s: Inspected, show_all: bool) -> Iterator[str]:
    where = f"line {s.span.line}: " if s.span else ""
    written = _written(s)
    part = f" (product {s.part} of {s.parts})" if s.parts > 1 else ""
    yield ""
    yield f"{where}{written}{part}"
    loops = ", ".join(f"{x.name} {x.extent}{' summed' if x.reduced else ''}" for x in s.loops)
    yield f"  loops: {loops or 'none'}"
    feasible = [m for m in s.mappings if not m.reason]
    shown = feasible if show_all else feasible[:MOST_SHOWN]
    rows = [HEADINGS] + [_row(rank, m, s.points) for rank, m in enumerate(shown, 1)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if shown:
        for row in rows:
            cells = [
                cell.rjust(w) if n in (0, 4, 5) else cell.ljust(w)
                for n, (cell, w) in enumerate(zip(row, widths, strict=True))
            ]
            yield f"  {'  '.join(cells)}".rstrip()
    else:
        yield "  nothing does it but one element after the other"
    if len(shown) < len(feasible):
        yield f"  and {len(feasible) - len(shown)} more: --all"
    reasons: dict[str, list[str]] = {}
    for m in s.mappings:
        if m.reason:
            reasons.setdefault(m.reason.replace(f"`{m.instruction}`", "it"), []).append(
                m.instruction
            )
    for reason, names in reasons.items():
        known = list(dict.fromkeys(names))
        listed = ", ".join(known if show_all else known[:MOST_NAMED])
        more = len(known) - MOST_NAMED
        yield f"  not {listed}{f' and {more} more' if more > 0 and not show_all else ''}: {reason}"


def _written(s: Inspected) -> str:
    """The text of the statement: of a definition, of which a name is known, the line."""
    if s.span is None:
        return s.stage
    text = s.span.text
    whole = s.span.source.line(s.span.line) if text.isidentifier() else text
    return " ".join(whole.partition("#")[0].split())


def _row(rank: int, m: Found, points: int) -> tuple[str, ...]:
    loops = ", ".join(f"{a.row}={' '.join(a.loops)} ({a.extent})" for a in m.rows if a.loops)
    operands = ", ".join(f"{name} {how}" for name, how in m.operands)
    each = f"{m.cycles / max(points, 1):.3g}"
    return str(rank), m.instruction, loops, operands, f"{m.cycles:,.0f}", each


def _as_json(s: Inspected) -> Json:
    """Stable keys."""
    mappings: list[Json] = [_mapping_json(m) for m in s.mappings]
    return {
        "line": s.span.line if s.span else None,
        "text": _written(s),
        "stage": s.stage,
        "part": s.part,
        "parts": s.parts,
        "loops": [{"name": x.name, "extent": x.extent, "summed": x.reduced} for x in s.loops],
        "mappings": mappings,
    }


def _mapping_json(m: Found) -> Json:
    refused = bool(m.reason)
    return {
        "instruction": m.instruction,
        "loops": {a.row: list(a.loops) for a in m.rows},
        "extents": {a.row: a.extent for a in m.rows},
        "operands": [{"array": name, "access": how} for name, how in m.operands],
        "count": None if refused else m.count,
        "cycles": None if refused else m.cycles,
        "waste": None if refused else m.waste,
        "reason": m.reason or None,
        "edit": m.edit or None,
    }

"""`hbc machine`: measures what this processor's instructions and memory cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show.options import json_option

if TYPE_CHECKING:
    from hbc.cli.show.report import Json
    from hbc.frontend.costs.machine_costs import Level, MachineCosts
    from hbc.ir.lang.instruction import Instruction

COLUMNS = ("instruction", "cycles>", "per cycle>", "as described>")
MEMORY = ("memory", "holds>", "read>", "written>")


@click.command("machine")
@click.option(
    "-o", "--output", "file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write what was measured as a machine file, for `--machine FILE`.",
)  # fmt: skip
@json_option
def command(file: Path | None, as_json: bool) -> None:
    """Measure what instructions and memory cost on this processor, for automatic schedules.

    Each described instruction that the processor has is executed as kernels have it: `cycles` until its
    result can be used, and how many begin in a cycle. Of caches and memory: bytes that one thread reads
    and writes in a cycle. What is measured is kept: `--machine here` chooses by it.
    """
    from hbc.cli.asked_machine import costs_text
    from hbc.cli.files.replace_file import write_text
    from hbc.cli.roof.costs import here, measured_costs
    from hbc.cli.show.report import notice, print_json, print_table, progress

    with progress() as shown:
        costs = measured_costs(shown)
    instructions = here()
    if file is not None:
        write_text(file, costs_text(costs))
    if as_json:
        print_json(_as_json(costs, instructions))
        return
    names = {name for name, _ in costs.instructions}
    print_table(costs.processor, COLUMNS, _rows(costs, instructions))
    click.echo()
    print_table("bytes in a cycle", MEMORY, [_level(level) for level in costs.levels])
    missed = [i.name for i in instructions if i.name not in names]
    if missed:
        notice(f"note: as described, since no time was seen twice: {', '.join(missed)}")
    if file is not None:
        notice(f"wrote {file}")


def _rows(costs: MachineCosts, instructions: Sequence[Instruction]) -> list[list[str]]:
    found = []
    measured = dict(costs.instructions)
    for i in instructions:
        if i.name in measured:
            own = measured[i.name]
            other = "" if own == i.cost else f"{i.cost.latency:g}, {i.cost.per_cycle:g}"
            found.append([i.name, f"{own.latency:g}", f"{own.per_cycle:g}", other])
    return found


def _level(level: Level) -> list[str]:
    size = f"{level.bytes / 1024:g} KiB" if level.bytes else ""
    return [level.name, size, f"{level.loads:g}", f"{level.stores:g}"]


def _as_json(costs: MachineCosts, instructions: Sequence[Instruction]) -> Json:
    """Stable keys. What could not be measured has costs of null."""
    measured = dict(costs.instructions)
    rows: list[Json] = []
    for i in instructions:
        own = measured.get(i.name)
        rows.append(
            {
                "name": i.name,
                "latency": None if own is None else own.latency,
                "per_cycle": None if own is None else own.per_cycle,
                "described": {"latency": i.cost.latency, "per_cycle": i.cost.per_cycle},
            }
        )
    levels: list[Json] = [
        {"level": x.name, "bytes": x.bytes or None, "loads": x.loads, "stores": x.stores}
        for x in costs.levels
    ]
    return {
        "processor": costs.processor,
        "features": list(costs.features),
        "instructions": rows,
        "memory": levels,
    }

"""Which kinds of memory a target has: a schedule that asks for another is refused."""

from __future__ import annotations

from hbc.frontend.program.funcs import Schedule
from hbc.ir.ground.diag import error
from hbc.ir.lang.target import GPU, Target
from hbc.ir.lang.types import FRAGMENTS, TILES, Memory


def refuse_memories(schedule: Schedule | None, target: Target) -> None:
    """HbcError for a `store_in` that the target has no place for."""
    for d in (d for line in (() if schedule is None else schedule.lines) for d in line.directives):
        if d.name != "store_in":
            continue
        if d.args[0] in TILES and d.args[0] not in target.tiles:
            raise error(
                f"`store_in({d.args[0]})`: this target has no {_TILES[Memory(str(d.args[0]))]}",
                d.span, _own_tiles(target) or "use `store_in(registers)`, or a target with tiles",
            )  # fmt: skip
        if d.args[0] == Memory.SHARED and target.machine != GPU:
            raise error(
                f"`store_in({Memory.SHARED})` is the memory of a GPU's block, which this target has "
                "not", d.span, "use `store_in(stack)`, or put this schedule `for cuda`",
            )  # fmt: skip


def _own_tiles(target: Target) -> str:
    names = " or ".join(f"`store_in({m})`" for m in target.tiles)
    return f"sums of products on {target.name} have {names}" if names else ""


_TILES = {Memory.AMX_TILE: "tile registers", **dict.fromkeys(FRAGMENTS, "fragments")}

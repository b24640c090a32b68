"""What instructions and memory cost on one processor, as it was measured there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hbc.ir.ground.record import record
from hbc.ir.lang.instruction import Cost, Instruction


@record
class Level:
    """A cache, or the memory beyond all caches: `bytes` that it holds (0: all), and how many of them one
    thread reads and writes in a cycle when what it works on lies there."""

    name: str
    bytes: int
    loads: float
    stores: float


@record
class MachineCosts:
    """A processor: its features as /proc/cpuinfo spells them, the costs of described instructions by name,
    and the levels of its memory, the nearest first. What it says nothing of costs what is described."""

    processor: str
    features: tuple[str, ...]
    instructions: tuple[tuple[str, Cost], ...] = ()
    levels: tuple[Level, ...] = ()


def with_costs(
    instructions: Iterable[Instruction], costs: MachineCosts | None
) -> list[Instruction]:
    """The instructions with what they cost on that processor."""
    measured = {} if costs is None else dict(costs.instructions)
    return [replace(i, cost=measured[i.name]) if i.name in measured else i for i in instructions]

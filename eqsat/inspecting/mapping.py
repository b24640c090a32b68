"""Mappings as data: which loops of a statement run along which loops of an instruction, at what cost."""

from __future__ import annotations

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span

PLAIN, SCALAR, THREADS = "vectors", "scalar", "threads"
"""The forms of plain code, beside the names of instructions."""


@record
class Loop:
    """A whole loop: its extent at the sizes that were assumed, and whether it is summed over."""

    name: str
    extent: int
    reduced: bool


@record
class Along:
    """What runs along a row of an instruction: `extent` steps of loops, the outermost first. More than one
    loop shares a row; of a convolution `x + r` slides."""

    row: str
    loops: tuple[str, ...]
    extent: int


@record
class Mapping:
    """One way to do a statement. `operands`: how each array comes to the instruction. `count`: how often it
    runs, `cycles` what the whole statement takes, `waste` how many points are computed for one that
    is wanted. Where `reason` is not empty the instruction is refused, and all else is empty; `edit` says
    what to change."""

    instruction: str
    rows: tuple[Along, ...] = ()
    operands: tuple[tuple[str, str], ...] = ()
    count: int = 0
    cycles: float = 0.0
    waste: float = 1.0
    reason: str = ""
    edit: str = ""


@record
class Inspected:
    """A statement: its place in the text, the buffer that it stores to, its loops, and all mappings, the
    cheapest first and those that are refused last. `part`: the product, of the `parts` that it adds."""

    span: Span | None
    stage: str
    loops: tuple[Loop, ...]
    mappings: tuple[Mapping, ...]
    part: int = 1
    parts: int = 1

    @property
    def points(self) -> int:
        """How many times its innermost statement is executed."""
        total = 1
        for loop in self.loops:
            total *= loop.extent
        return total

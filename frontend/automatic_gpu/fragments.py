"""Which products the tensor cores do: the described instructions whose sums are fragments."""

from __future__ import annotations

from collections.abc import Iterable

from hbc.frontend.costs.dot import Dot
from hbc.frontend.program.constants import evaluate
from hbc.ir.lang.instruction import Instruction, Kind
from hbc.ir.lang.types import FRAGMENTS


def tensor_dots(instructions: Iterable[Instruction]) -> tuple[Dot, ...]:
    """One for each memory, types and shape, in the order of the descriptions."""
    found: dict[object, Dot] = {}
    for i in instructions:
        if (d := _dot(i)) is not None:
            found.setdefault((d.tile, d.sum, d.factors, d.depth, d.rows, d.columns), d)
    return tuple(found.values())


def _dot(i: Instruction) -> Dot | None:
    memory = i.place.memory
    if memory not in FRAGMENTS or len(i.factors) != 2 or len(i.shared) == 1:
        return (
            None  # one factor in registers, the other not: for what a product before has left there
        )
    counts = {Kind.I: 1, Kind.J: 1, Kind.K: 1}
    for row in i.rows:
        extent = evaluate(row.extent)
        if row.kind not in counts or extent is None:
            return None
        counts[row.kind] *= int(extent)
    a, b = (i.operands[f].element for f in i.factors)
    return Dot(
        i.name, i.operands[i.accumulator].element, (a, b), counts[Kind.K], memory, counts[Kind.I],
        counts[Kind.J], i.cost.per_cycle, i.cost.latency,
    )  # fmt: skip

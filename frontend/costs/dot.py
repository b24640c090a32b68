"""An instruction that adds several products to a sum, as schedules see it."""

from __future__ import annotations

from hbc.ir.ground.record import record
from hbc.ir.lang.types import DType, Memory


@record
class Dot:
    """What an instruction does with a step of the reduction: `depth` products into each sum. In tiles
    there are `rows` by `columns` of these."""

    instruction: str
    sum: DType
    factors: tuple[DType, DType]
    depth: int
    tile: Memory | None
    rows: int
    columns: int
    rate: float  # products in a cycle

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
    per_cycle: float  # how many begin in a cycle
    latency: float  # cycles until a sum can be added to again

    @property
    def rate(self) -> float:
        """Products in a cycle."""
        return self.rows * self.columns * self.depth * self.per_cycle

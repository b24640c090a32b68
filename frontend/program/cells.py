"""The cells of a table."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.ir.ground.record import record

Number = int | float | bool


@record
class Cells:
    """Row-major values over a shape. `ends`: the least and the greatest of numbers."""

    shape: tuple[int, ...]
    values: tuple[Number, ...]
    ends: tuple[Number, Number]

    def get(self, point: Sequence[int]) -> Number | None:
        """The value at a point; None outside of the table."""
        at = 0
        for i, n in zip(point, self.shape, strict=True):
            if not 0 <= i < n:
                return None
            at = at * n + i
        return self.values[at]


def cells_of(shape: tuple[int, ...], values: Sequence[Number]) -> Cells:
    """Those of a table."""
    return Cells(shape, tuple(values), (min(values), max(values)))

"""Fragments that `ldmatrix` loads: 8 x 8 matrices of 16-bit elements from rows in shared memory.

    tile[..] = s[ramp(ramp(b, 1, 16), x16(40), 16)]
->  lane l gives the address b + 40 * (l % 16) + 8 * (l / 16) of a row; matrix m is register m

Matrix m has the rows that lanes 8 m to 8 m + 7 give, 16 bytes each, aligned to that. Lane l gets the
32 bits at place l % 4 of row l / 4; transposed, elements 2 (l % 4) and the next of column l / 4 (PTX ISA,
"Warp-level matrix load instruction: ldmatrix").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hbc.codegen.fragments.fragment_kinds import FragmentKind
from hbc.ir.algebra.alignment import alignment
from hbc.ir.algebra.bounds import Facts, constant_bounds
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, floordiv, mod, mul
from hbc.ir.meaning.fragment_layout import Numbers
from hbc.ir.vectors.lane_offsets import lane_offsets

ROW_BYTES, ROWS, WORD = 16, 8, 4
COUNTS = (1, 2, 4)
LANE_BITS = 5
"""Of the number of a lane in its warp."""


@record
class MatrixLoad:
    """`count` matrices of `buffer`. The first of the `run` elements of row r of matrix m is
    `base + at[m][r]`."""

    buffer: str
    transposed: bool
    count: int
    run: int
    base: ir.Expr
    at: tuple[tuple[int, ...], ...]

    def is_inside(self, extent: int, facts: Facts) -> bool:
        """Whether all rows are within so many elements of the buffer."""
        low, high = constant_bounds(self.base, facts)
        starts = np.array(self.at)
        if low is None or high is None:
            return False
        return bool(low + starts.min() >= 0 and high + starts.max() + self.run <= extent)

    def address(self, lane: ir.Expr) -> ir.Expr | None:
        """Where the row is that a lane gives; None where that is no sum of its digits."""
        starts = np.array(self.at).ravel()
        steps = [int(starts[1 << b] - starts[0]) for b in range(len(starts).bit_length() - 1)]
        numbers = np.arange(len(starts))
        made = sum((numbers >> b & 1) * step for b, step in enumerate(steps))
        if not np.array_equal(starts[0] + made, starts):
            return None
        index: ir.Expr = add(self.base, int(starts[0]))
        for first, width, step in _runs(steps):
            digit = floordiv(lane, 1 << first) if first else lane
            if first + width < LANE_BITS:
                digit = mod(digit, 1 << width)
            index = add(index, mul(digit, step))
        return index


def _runs(steps: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Bits of a lane's number whose steps are those of one digit: which is the first, how many they are, and
    the step. The highest, which says which half of four matrices, stands for itself."""
    b = 0
    while b < len(steps):
        width = 1
        while b + width < min(len(steps), LANE_BITS - 1) and steps[b + width] == steps[b] << width:
            width += 1
        yield b, width, steps[b]
        b += width


def matrix_load(value: ir.Expr, kind: FragmentKind) -> MatrixLoad | None:
    """How a fragment is loaded from an array in shared memory; None where its elements do not lie
    so. What a mask leaves out is loaded too."""
    if not isinstance(value, ir.Load):
        return None
    known = lane_offsets(value.index)
    if known is None:
        return None
    base, offsets = known
    size = kind.element.bytes
    per, count = WORD // size, kind.count * size // WORD
    if size > WORD or count not in COUNTS:
        return None
    places = np.array(offsets, np.int64)[kind.elements].reshape(-1, count, per)
    modulus, remainder = alignment(base)
    run = ROW_BYTES // size
    for transposed in (False, True) if size == 2 else (False,):
        at = _transposed(places) if transposed else _straight(places, per)
        if at is None or (modulus % run or remainder % run or (at % run).any()):
            continue
        rows = tuple(tuple(int(x) for x in row) for row in at)
        load = MatrixLoad(value.buffer, transposed, count, run, base, rows)
        if load.address(base) is not None:
            return load
    return None


def _straight(places: Numbers, per: int) -> Numbers | None:
    """[matrix, row]: where rows begin; None where a lane's word is not where it would come from."""
    lanes = np.arange(len(places))
    starts = places[:: len(places) // ROWS, :, 0].T  # of lanes 0, 4, 8, ...
    wanted = starts[:, lanes // 4].T[:, :, None] + (lanes % 4 * per)[:, None, None] + np.arange(per)
    return starts if np.array_equal(places, wanted) else None


def _transposed(places: Numbers) -> Numbers | None:
    """The same for elements that stand in columns."""
    lanes, both = np.arange(len(places)), np.arange(2)
    starts = places[:4].transpose(1, 0, 2).reshape(places.shape[1], ROWS)  # of column 0
    rows = (lanes % 4 * 2)[:, None] + both
    wanted = starts[:, rows].transpose(1, 0, 2) + (lanes // 4)[:, None, None]
    return starts if np.array_equal(places, wanted) else None

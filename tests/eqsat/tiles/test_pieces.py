"""Which parts of tiles lanes can compute from each other: what they hold under the same numbers."""

from __future__ import annotations

import pytest

from hbc.eqsat.tensors.points import whole_box
from hbc.eqsat.tensors.tensor import Dim, Read
from hbc.eqsat.tiles.pieces import holders, piece_of
from hbc.eqsat.tiles.tiles import Tile, TileBuffer
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, floordiv, mod, mul
from hbc.ir.lang.types import F32, Memory
from hbc.ir.vectors.lane_offsets import constant_lanes

LANE, ELEMENT = ir.Var("lane"), ir.Var("element")
ROW = floordiv(LANE, 4)
COLUMNS = add(mul(mod(LANE, 4), 2), ELEMENT)
TURNED = add(mul(mod(LANE, 4), 2), mod(add(LANE, ELEMENT), 2))  # the other way around in odd lanes
OTHERS = mod(add(COLUMNS, 2), 8)  # of the lane behind
LEFT = add(mul(mod(LANE, 4), 2), mod(ELEMENT, 2))
WIDE = add(LEFT, mul(floordiv(ELEMENT, 2), 8))


def tile(column: ir.Expr, columns: int = 8) -> Tile:
    """8 rows of a buffer whose rows have 16 elements."""
    addresses = tuple(16 * row + c for row in range(8) for c in range(columns))
    return Tile("t", F32, addresses, (8, columns), 8, Memory.MMA, (ROW, column))


def read(first: int = 0) -> tuple[Read, tuple[Dim, Dim]]:
    dims = Dim("i", 8), Dim("j", 8)
    strides = (dims[0], ir.const_index(16)), (dims[1], ir.const_index(1))
    return Read("b", F32, ir.const_index(first), strides), dims


@pytest.mark.parametrize(
    ("column", "columns", "first"),
    [(COLUMNS, 8, 0), (WIDE, 16, 0), (WIDE, 16, 8), (TURNED, 8, 0), (OTHERS, 8, 0)],
)
def test_pieces(column: ir.Expr, columns: int, first: int) -> None:
    """Half of a wide tile is one; not what odd lanes have under other numbers, or other lanes have."""
    held = tile(column, columns)
    x, dims = read(first)
    piece = piece_of(
        TileBuffer("b", F32, 128, Memory.MMA, {held.addresses: held}),
        x,
        whole_box(dims),
        tile(COLUMNS),
    )
    if column in (COLUMNS, WIDE):
        assert piece is not None
        places = constant_lanes(piece.index)
        assert places == tuple(columns * row + c + first for row in range(8) for c in range(8))
    else:
        assert piece is None


def test_lanes_that_hold_elements() -> None:
    assert holders(tile(COLUMNS)) == holders(tile(TURNED))
    assert holders(tile(COLUMNS)) == tuple(4 * row + c // 2 for row in range(8) for c in range(8))

"""Tiles of a buffer, and where they are in the box of a statement that reads or writes it."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest

from hbc.eqsat.tensors.points import address
from hbc.eqsat.tensors.tensor import Dim, Read
from hbc.eqsat.tiles.tiles import Tile, points_of
from hbc.ir.lang.nodes import Var, const_index
from hbc.ir.lang.types import F32, INDEX
from hbc.ir.vectors.lane_offsets import constant_lanes


def tile(extents: tuple[int, ...], strides: tuple[int, ...], base: int, rows: int) -> Tile:
    """The elements that lie at these strides."""
    lanes = product(*(range(n) for n in extents))
    addresses = tuple(
        base + sum(s * i for s, i in zip(strides, lane, strict=True)) for lane in lanes
    )
    return Tile("t", F32, addresses, extents, rows)


def read(*dims: tuple[int, int], base: int = 0) -> tuple[Read, tuple[Dim, ...]]:
    """A buffer read along dimensions of these extents and strides."""
    outputs = tuple(Dim(f"d{n}", extent) for n, (extent, _) in enumerate(dims))
    strides = tuple((d, const_index(s)) for d, (_, s) in zip(outputs, dims, strict=True))
    return Read("acc", F32, const_index(base), strides), outputs


FOUND = [
    # A quarter of 32 x 32, in a box of rows and columns, or of one dimension for both.
    (tile((16, 16), (32, 1), 16, 16), read((32, 32), (32, 1))),
    (tile((16, 16), (32, 1), 528, 16), read((32, 32), (32, 1))),
    (tile((16, 16), (32, 1), 16, 16), read((2, 512), (16, 32), (2, 16), (16, 1))),
    # Columns in the order of the buffer, rows in that of the box, and the other way round.
    (tile((8, 4), (1, 8), 0, 8), read((4, 8), (8, 1))),
    (tile((4, 8), (8, 1), 0, 4), read((8, 1), (4, 8))),
    # Groups of two rows interleaved.
    (tile((8, 4, 2), (8, 2, 1), 0, 8), read((8, 8), (2, 1), (4, 2))),
    # One row; a store that starts elsewhere.
    (tile((1, 16), (0, 1), 32, 1), read((4, 16), (16, 1), base=16)),
]


@pytest.mark.parametrize(("t", "where"), FOUND)
def test_the_points_have_the_addresses(t: Tile, where: tuple[Read, tuple[Dim, ...]]) -> None:
    x, outputs = where
    at = points_of(t, x, outputs)
    assert at is not None
    assert at.lanes == t.lanes == prod(t.extents)
    assert constant_lanes(address(x, at)) == t.addresses
    for d in outputs:
        place = at.places[d]
        lanes = np.indices(t.extents).reshape(len(t.extents), -1)
        stands = sum(s * g for s, g in zip(place.steps, lanes, strict=True))
        assert place.extent == d.extent
        assert np.all(stands < d.extent)


NOT_FOUND = [
    # Not all of it is in the box.
    (tile((16, 16), (32, 1), 24, 16), read((32, 32), (32, 1))),
    (tile((16, 16), (16, 1), 0, 16), read((8, 16), (16, 1))),
    # Elements that the box does not have.
    (tile((4, 4), (4, 1), 1, 4), read((4, 4), (4, 2))),
]


@pytest.mark.parametrize(("t", "where"), NOT_FOUND)
def test_what_is_not_in_the_box(t: Tile, where: tuple[Read, tuple[Dim, ...]]) -> None:
    assert points_of(t, *where) is None


def test_places_that_are_not_known() -> None:
    x = Read("acc", F32, Var("x", INDEX), ())
    assert points_of(tile((4,), (1,), 0, 1), x, (Dim("d0", 4),)) is None

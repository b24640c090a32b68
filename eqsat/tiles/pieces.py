"""Elements of a tile that a statement touches: all of them, or those of a smaller tile.

weight[16 x 32 of bytes]  =  two pieces, each computed from 16 x 16 sums
"""

from __future__ import annotations

from functools import cache

from hbc.eqsat.tensors.points import Points, address
from hbc.eqsat.tensors.tensor import Read
from hbc.eqsat.tiles.tiles import Addresses, Tile, TileBuffer
from hbc.ir.algebra.layout import Layout, normal, to_index
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import FRAGMENT_LANES
from hbc.ir.vectors.lane_offsets import constant_lanes


@record
class Piece:
    """The elements of a tile at the places of the index."""

    tile: Tile
    index: ir.Expr

    def load(self) -> ir.Load:
        """Their values."""
        return ir.Load(self.tile.name, self.index, self.tile.element(self.index.type.lanes))


def piece_of(b: TileBuffer, x: Read, at: Points, like: Tile) -> Piece | None:
    """What the buffer is at the points that `like` has the elements of; None where it is not in one tile,
    or where other lanes than those of `like` hold it."""
    addresses = constant_lanes(address(x, at))
    if addresses is None:
        return None
    tile = b.tiles.get(addresses)
    if tile is not None:
        alike = _same_places(tile, like) or holders(tile) == holders(like) is not None
        return Piece(tile, tile.index()) if alike else None
    tile = around(b, addresses)
    if tile is None or not tile.of_lanes:
        return None
    numbers = {a: n for n, a in enumerate(tile.addresses)}
    places = tuple(numbers[a] for a in addresses)
    index, lanes = _index(places, at.extents), holders(tile)
    if index is None or lanes is None or tuple(lanes[n] for n in places) != holders(like):
        return None
    return Piece(tile, index)


def around(b: TileBuffer, addresses: Addresses) -> Tile | None:
    """The larger tile that has all of these elements."""
    wanted = set(addresses)
    return next((t for t in b.tiles.values() if wanted < set(t.addresses)), None)


def holders(tile: Tile) -> tuple[int, ...] | None:
    """The lane that holds each element of a tile; None where that is not known."""
    if not tile.of_lanes or len(tile.fragment) != 2:
        return None
    return _holders(tile.fragment, tile.rows, tile.lanes, FRAGMENT_LANES[tile.memory])


@cache
def _holders(
    fragment: tuple[ir.Expr, ...], rows: int, elements: int, lanes: int
) -> tuple[int, ...] | None:
    from hbc.ir.meaning.fragment_layout import held  # imports NumPy

    numbers = held(fragment, (rows, elements // rows), lanes)
    if numbers is None:
        return None
    lane_of = [0] * elements
    for lane, own in enumerate(numbers.tolist()):
        for n in own:
            lane_of[n] = lane
    return tuple(lane_of)


def _same_places(a: Tile, b: Tile) -> bool:
    """Whether each lane has the same elements of both, in the same order."""
    return (a.memory, a.extents, a.rows, a.fragment) == (b.memory, b.extents, b.rows, b.fragment)


def _index(places: tuple[int, ...], extents: tuple[int, ...]) -> ir.Expr | None:
    """The places as a vector of these extents; None where they do not lie so."""
    inner, dims = len(places), list[tuple[int, ir.Expr]]()
    for extent in extents:
        inner //= extent
        step = places[inner] - places[0] if extent > 1 else 0
        dims.append((extent, ir.const_index(step)))
    index = to_index(normal(Layout(ir.const_index(places[0]), tuple(dims))))
    return index if constant_lanes(index) == places else None

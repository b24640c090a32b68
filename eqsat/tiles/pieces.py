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
    if tile is not None and _same_places(tile, like):
        return Piece(tile, tile.index())
    tile = tile or around(b, addresses)
    if tile is None:
        return None
    numbers = {a: n for n, a in enumerate(tile.addresses)}
    places = tuple(numbers[a] for a in addresses)
    index = _index(places, at.extents)
    return Piece(tile, index) if index and _in_same_lanes(tile, places, like) else None


def around(b: TileBuffer, addresses: Addresses) -> Tile | None:
    """The larger tile that has all of these elements."""
    wanted = set(addresses)
    return next((t for t in b.tiles.values() if wanted < set(t.addresses)), None)


def holders(tile: Tile) -> tuple[int, ...] | None:
    """The lane that holds each element of a tile; None where that is not known."""
    slots = _slots_of(tile)
    return None if slots is None else tuple(lane for lane, _ in slots)


Slots = tuple[tuple[int, int], ...]
"""Of each element of a tile the lane that holds it, and the number that it has there."""


def _slots_of(tile: Tile) -> Slots | None:
    if not tile.of_lanes or len(tile.fragment) != 2:
        return None
    return _slots(tile.fragment, tile.rows, tile.lanes, FRAGMENT_LANES[tile.memory])


@cache
def _slots(fragment: tuple[ir.Expr, ...], rows: int, elements: int, lanes: int) -> Slots | None:
    from hbc.ir.meaning.fragment_layout import held  # imports NumPy

    numbers = held(fragment, (rows, elements // rows), lanes)
    if numbers is None:
        return None
    slots = [(0, 0)] * elements
    for lane, own in enumerate(numbers.tolist()):
        for element, n in enumerate(own):
            slots[n] = lane, element
    return tuple(slots)


def _in_same_lanes(tile: Tile, places: tuple[int, ...], like: Tile) -> bool:
    """Whether the elements of a tile at these places are in the lanes that hold those of the other, under
    numbers that are the same in all lanes: registers have no addresses."""
    own, others = _slots_of(tile), _slots_of(like)
    if own is None or others is None:
        return False
    numbers: dict[int, int] = {}
    return all(
        own[p][0] == lane and numbers.setdefault(element, own[p][1]) == own[p][1]
        for p, (lane, element) in zip(places, others, strict=True)
    )


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

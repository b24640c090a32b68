"""Buffers in tile memory that no product touches, but that are computed element by element with others:
they have the same tiles.

    all[i, e] = f[i] * all[i, e] + part[i, e]     part: sums of products    ->    all: tiles of those rows
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.tensors.points import address
from hbc.eqsat.tensors.tensor import Read, reads
from hbc.eqsat.tiles.agreement import Options, Tiles
from hbc.eqsat.tiles.maps import bare
from hbc.eqsat.tiles.tiles import TileBuffer, TileShapeError, points_of
from hbc.ir.ground.record import record
from hbc.ir.lang.types import TILES_OF_ELEMENTS
from hbc.ir.vectors.lane_offsets import constant_lanes


@record
class Link:
    """A statement that is no product, and the tile buffers that it touches, by name: which of those in
    `Tiles` each is."""

    options: Options
    scope: Mapping[str, int]


def with_followers(links: Sequence[Link], tiles: Tiles) -> Tiles:
    """The tiles, and those of buffers that had none and are computed with others. Raises TileShapeError
    where two statements want them otherwise."""
    all_tiles = [replace(b, tiles=dict(b.tiles)) for b in tiles]
    free = {n for n, b in enumerate(tiles) if not b.tiles and b.memory in TILES_OF_ELEMENTS}
    while free:
        got = [
            _follow(link, all_tiles, free) for link in links
        ]  # each of them, and not up to the first
        if not any(got):
            break
    return tuple(all_tiles)


def _follow(link: Link, tiles: Sequence[TileBuffer], free: Collection[int]) -> bool:
    """Whether buffers that are `free` to have any tiles got some in the statement."""
    buffers = {name: tiles[n] for name, n in link.scope.items()}
    more = False
    for statement in dict.fromkeys((link.options.statement, link.options.uncut)):
        statement = bare(statement, buffers)
        touched = [x for x in (statement.dest, *reads(statement.value)) if x.buffer in buffers]
        for x in (x for x in touched if link.scope[x.buffer] in free):
            for like in touched:
                if buffers[x.buffer].memory is buffers[like.buffer].memory:
                    more |= _add(statement, buffers[like.buffer], like, buffers[x.buffer], x)
    return more


def _add(s: Statement, reference: TileBuffer, like: Read, b: TileBuffer, x: Read) -> bool:
    """Whether the buffer that `x` reads or writes got tiles: at the points where those that `like`
    reads or writes are, as far as the statement goes."""
    before = len(b.tiles)
    for tile in list(reference.tiles.values()):
        at = points_of(tile, like, s.outputs)
        addresses = None if at is None else constant_lanes(address(x, at))
        if addresses is None or addresses in b.tiles or len(set(addresses)) < len(addresses):
            continue
        name = f"{b.name}_{len(b.tiles)}" if len(addresses) < b.extent else b.name
        new = replace(tile, name=name, element=b.element, addresses=addresses)
        overlapping = [t for t in b.tiles.values() if not set(t.addresses).isdisjoint(addresses)]
        for old in overlapping:
            smaller, larger = sorted((set(old.addresses), set(addresses)), key=len)
            if not smaller < larger:
                raise TileShapeError(b.name, old, new)
        if not overlapping:  # else it is computed piece by piece
            b.tiles[addresses] = new
    return len(b.tiles) > before

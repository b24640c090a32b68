"""Sums whose columns change places, so that each lane has what it wants of the factors that they become.

    weight[i, l] = i8(score[i, l])    weight: a factor, score: sums, whose lanes have other columns of a row
->  the product that makes `score` has its columns in the order that `weight` wants

What is computed element by element with such sums goes along with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.eqsat.tensors.points import address
from hbc.eqsat.tensors.tensor import Read, reads
from hbc.eqsat.tiles.agreement import Mapped, Tiles, Use, agreement
from hbc.eqsat.tiles.column_order import Order, column_order, with_columns
from hbc.eqsat.tiles.followers import Link, with_followers
from hbc.eqsat.tiles.maps import bare
from hbc.eqsat.tiles.pieces import holders
from hbc.eqsat.tiles.tiles import TileBuffer, TileShapeError, points_of
from hbc.ir.lang.types import TILES_OF_LANES
from hbc.ir.vectors.lane_offsets import constant_lanes

Mappings = tuple[Mapped, ...]


def with_moved_columns(
    uses: Sequence[Use], links: Sequence[Link], tiles: Tiles, mappings: Mappings
) -> tuple[Tiles, Mappings]:
    """The tiles and choices, where sums have their columns in the order in which lanes want them, as far as
    there is one. What no order serves stays as it is: it goes through memory."""
    done: set[int] = set()
    while True:
        wish = next((w for w in _wishes(links, tiles) if w[0] not in done), None)
        if wish is None:
            return tiles, mappings
        together = _together(wish[0], links, tiles)
        done |= together
        made = _moved(uses, links, tiles, mappings, together, wish[1])
        if made is not None:
            tiles, mappings = made


def _moved(
    uses: Sequence[Use],
    links: Sequence[Link],
    tiles: Tiles,
    mappings: Mappings,
    together: set[int],
    order: Order,
) -> tuple[Tiles, Mappings] | None:
    """With the columns of the sums of these buffers in that order; None where a product cannot have them."""
    fixed: list[Use] = []
    for use, (statement, choice) in zip(uses, mappings, strict=True):
        if use.scope.get(statement.dest.buffer) in together:
            instruction = with_columns(choice.plan.instruction, order)
            if instruction is None:
                return None
            choice = replace(choice, plan=replace(choice.plan, instruction=instruction))
        options = replace(use.options, mappings=((statement, choice),))
        fixed.append(replace(use, options=options))
    empty = tuple(replace(b, tiles={}) for b in tiles)
    try:
        agreed, mapped = agreement(fixed, empty)
        return with_followers(links, agreed), mapped
    except TileShapeError:
        return None


def _pairs(links: Sequence[Link], tiles: Tiles) -> Iterator[tuple[Link, Read, int, Read, int]]:
    """Buffers of which lanes know their elements, and those that they are computed from, with both reads."""
    for link in links:
        buffers = {name: tiles[n] for name, n in link.scope.items()}
        statement = bare(link.options.statement, buffers)
        to = link.scope.get(statement.dest.buffer)
        if to is None or tiles[to].memory not in TILES_OF_LANES:
            continue
        for x in reads(statement.value):
            n = link.scope.get(x.buffer)
            if n is not None and n != to and tiles[n].memory is tiles[to].memory:
                yield link, statement.dest, to, x, n


def _wishes(links: Sequence[Link], tiles: Tiles) -> Iterator[tuple[int, Order]]:
    """The sums that lanes want in another order, to compute factors from them."""
    wanted: dict[int, dict[int, int]] = {}  # by the buffer of sums, the lane that wants an address
    for link, dest, to, x, n in _pairs(links, tiles):
        if not any(t.is_sum for t in tiles[to].tiles.values()):
            wanted.setdefault(n, {}).update(_lanes_of(link, dest, tiles[to], x, tiles[n]))
    for n, lane_of in wanted.items():
        order = _order(tiles[n], lane_of)
        if order is not None and order != tuple(range(len(order))):
            yield n, order


def _lanes_of(
    link: Link, dest: Read, factor: TileBuffer, x: Read, sums: TileBuffer
) -> Iterator[tuple[int, int]]:
    """Addresses of sums, and the lanes that have what is computed from them."""
    lane_of: dict[int, int] = {}
    for tile in factor.tiles.values():
        lane_of |= dict(zip(tile.addresses, holders(tile) or (), strict=False))
    for b, own in ((factor, dest), (sums, x)):
        for tile in b.tiles.values():
            at = points_of(tile, own, link.options.statement.outputs)
            places = None if at is None else [constant_lanes(address(r, at)) for r in (x, dest)]
            if places is not None and None not in places:
                for of_sum, of_factor in zip(*(p or () for p in places), strict=True):
                    if of_factor in lane_of:
                        yield of_sum, lane_of[of_factor]


def _order(sums: TileBuffer, lane_of: Mapping[int, int]) -> Order | None:
    """The one for all tiles whose elements have lanes that want them; None where there is none."""
    orders: set[Order | None] = set()
    for tile in sums.tiles.values():
        have = holders(tile)
        if have is None or not tile.is_sum:
            return None
        if all(a in lane_of for a in tile.addresses):
            wanted = [lane_of[a] for a in tile.addresses]
            orders.add(column_order(have, wanted, tile.lanes // tile.rows))
    return orders.pop() if len(orders) == 1 else None


def _together(first: int, links: Sequence[Link], tiles: Tiles) -> set[int]:
    """The buffers whose sums lie as those of the first do, and are computed with them."""
    found = {first}
    while True:
        more = {
            m
            for _, _, to, _, n in _pairs(links, tiles)
            for m, other in ((to, n), (n, to))
            if other in found and _alike(tiles[m], tiles[other])
        }
        if more <= found:
            return found
        found |= more


def _alike(a: TileBuffer, b: TileBuffer) -> bool:
    """Whether both are sums, in tiles whose lanes have the same elements."""
    kinds = [{(t.is_sum, t.rows, t.lanes, t.fragment) for t in x.tiles.values()} for x in (a, b)]
    return kinds[0] == kinds[1] and len(kinds[0]) == 1 and next(iter(kinds[0]))[0]

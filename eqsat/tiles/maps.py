"""Statements that do the same to every element of whole tiles, where the tiles stay.

    C[i, j] = max(acc[i, j] + bias[j], 0)    ->    r = max(acc + b, 0); C = r        for a tile r

Such a statement reads tiles whose elements are at the same points, numbers, and arrays that fill tiles
of the same shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.operands.operand import has_rows
from hbc.eqsat.tensors.points import Points, address, exists, given, raw_layout, value
from hbc.eqsat.tensors.steps import Fresh
from hbc.eqsat.tensors.tensor import Apply, Masked, Read, Tensor, Uniform, map_parts, parts, reads
from hbc.eqsat.tiles.pieces import Piece, piece_of
from hbc.eqsat.tiles.steps import is_elementwise, is_whole, save
from hbc.eqsat.tiles.tiles import Tile, TileBuffer, points_of
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_
from hbc.ir.lang.types import TILES_OF_ELEMENTS, TILES_OF_LANES, Memory
from hbc.ir.lang.walk import block

TileBuffers = Mapping[str, TileBuffer]


@record
class Change:
    """Elements computed from those of tiles, at the points that `tile` has the elements of. `own`: the part
    of a tile that gets them; `dest`: the array that they are stored to where that is None. `tiles` and
    `filled`: what each read of the value is, the name of its read being the number in both together. `mask`:
    where all of this holds."""

    tile: Tile
    value: Tensor
    at: Points
    own: Piece | None
    dest: Read | None
    tiles: tuple[tuple[str, Piece], ...]
    filled: tuple[tuple[str, Read], ...]
    mask: tuple[Tensor, ...] = ()


def changes(s: Statement, buffers: TileBuffers) -> list[Change] | None:
    """What the statement does to each tile of its box; None where it is no such statement."""
    read = list(dict.fromkeys(r for x in (s.value, *s.mask) for r in reads(x)))
    inside = [r for r in read if r.buffer in buffers]
    own = s.dest.buffer in buffers
    if not own and not inside:
        return None
    x = s.dest if own else inside[0]
    b = buffers[x.buffer]
    if b.memory not in TILES_OF_LANES:
        s = bare(s, buffers)
    if b.memory not in TILES_OF_ELEMENTS or not _may_change(s, inside, b.memory, own):
        return None
    if b.memory not in TILES_OF_LANES and any(r.element != b.element for r in (*read, s.dest)):
        return None
    if b.memory in TILES_OF_LANES:
        alike = (r for r in (x, *inside) if buffers[r.buffer].memory is b.memory)
        x = min(alike, key=lambda r: _tile_size(buffers[r.buffer]))
    changed: list[Change] = []
    for tile in buffers[x.buffer].tiles.values():
        at = points_of(tile, x, s.outputs)
        if at is None:
            continue
        change = _change(s, tile, at, read, buffers)
        if change is None:
            return None
        changed.append(change)
    points = prod(d.extent for d in s.outputs)
    return changed if sum(c.tile.lanes for c in changed) == points else None


def _tile_size(b: TileBuffer) -> int:
    return max((t.lanes for t in b.tiles.values()), default=0)


def _alike(x: Tensor) -> bool:
    """Whether it is arithmetic on reads and numbers, the same for each element."""
    return isinstance(x, Read | Uniform | Apply) and all(map(_alike, parts(x)))


def _may_change(s: Statement, inside: Sequence[Read], memory: Memory, own: bool) -> bool:
    """Whether elements in such memory can be computed by a statement that reads these tiles, and
    stores them to its `own` or elsewhere."""
    if memory in TILES_OF_LANES:
        return all(is_elementwise(x) for x in (s.value, *s.mask))
    return not (own and s.mask) and bool(inside) and _alike(s.value)


def bare(s: Statement, buffers: TileBuffers) -> Statement:
    """The statement with tiles read also where its mask does not hold: all that they have may be."""

    def read(x: Tensor) -> Tensor:
        match x:
            case Masked(condition=c, value=v):
                inner = read(v)
                is_tile = isinstance(inner, Read) and inner.buffer in buffers
                return inner if is_tile and c in s.mask else Masked(c, inner)
            case _:
                return map_parts(x, read)

    return replace(s, value=read(s.value)) if s.mask else s


def _change(
    s: Statement, tile: Tile, at: Points, read: Sequence[Read], buffers: TileBuffers
) -> Change | None:
    tiles: list[tuple[str, Piece]] = []
    filled: list[tuple[str, Read]] = []
    own: Piece | None = None
    if s.dest.buffer in buffers:
        own = piece_of(buffers[s.dest.buffer], s.dest, at, tile)
        if own is None:
            return None
    x, mask = s.value, s.mask
    for n, r in enumerate(read):
        if r.buffer not in buffers and tile.of_lanes:
            continue  # each lane reads what it wants
        x = _named(x, r, name := f"read {n}")
        mask = tuple(_named(c, r, name) for c in mask)
        if r.buffer in buffers:
            other = piece_of(buffers[r.buffer], r, at, tile)
            if other is None:
                return None
            tiles.append((name, other))
        elif _fills(r, at, tile):
            filled.append((name, r))
        else:
            return None
    outside = own is None and not tile.of_lanes
    if outside and not (has_rows(raw_layout(s.dest, at), tile.rows) or is_whole(tile, s.dest, at)):
        return None
    dest = s.dest if own is None else None
    return Change(tile, x, at, own, dest, tuple(tiles), tuple(filled), mask)


def _fills(x: Read, at: Points, tile: Tile) -> bool:
    """Whether what is read can be loaded as a tile."""
    inside = exists(tuple(d for d, _ in x.strides), at) is None
    return inside and is_whole(tile, x, at)


def _named(x: Tensor, r: Read, name: str) -> Tensor:
    """`x` with this read by another name."""
    return replace(r, buffer=name) if x == r else map_parts(x, lambda p: _named(p, r, name))


def changed(change: Change, fresh: Fresh, op: ir.Op | None = None) -> ir.Stmt:
    """The statements: tiles filled from arrays, the new elements, and where they go. With `op` they
    update that atomically."""
    at, tile = change.at, change.tile
    values: dict[str, ir.Expr] = {name: p.load() for name, p in change.tiles}
    loaded = [(replace(tile, name=fresh(f"{r.buffer}_tile")), r) for _, r in change.filled]
    for (name, _), (t, _) in zip(change.filled, loaded, strict=True):
        values[name] = t.load()
    points = at
    for name, e in values.items():
        points = given(points, name, e)
    if tile.of_lanes:
        return _by_lanes(change, points, op)
    to = tile if change.dest is None else replace(tile, name=fresh(f"{tile.name}_result"))
    result = ir.Store(to.name, to.index(), value(change.value, points))
    fills = [ir.Store(t.name, t.index(), value(r, at)) for t, r in loaded]
    if change.dest is None:
        body = block(*fills, result)
    else:
        body = block(*fills, result, save(to, change.dest, at, fresh, _mask(change, points), op))
    for t in _new(to, change, [t for t, _ in loaded]):
        body = ir.Allocate(t.name, t.element, ir.const_index(t.lanes), tile.memory, body)
    return body


def _by_lanes(change: Change, points: Points, op: ir.Op | None) -> ir.Stmt:
    """The one statement, each lane of which knows where its elements go."""
    dest, own = change.dest, change.own
    if own is not None:
        to, where = own.tile.name, own.index
    else:
        assert dest is not None
        to, where = dest.buffer, address(dest, points)
    return ir.Store(to, where, value(change.value, points), _mask(change, points), atomic=op)


def _mask(change: Change, points: Points) -> ir.Expr | None:
    """Where elements are stored; None: everywhere."""
    conditions = [value(c, points) for c in change.mask]
    if change.dest is not None:
        inside = exists(tuple(d for d, _ in change.dest.strides), points)
        conditions += [] if inside is None else [inside]
    return and_(*conditions) if conditions else None


def _new(to: Tile, change: Change, loaded: Sequence[Tile]) -> Iterator[Tile]:
    yield from loaded
    if change.dest is not None:
        yield to

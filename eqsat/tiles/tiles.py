"""Buffers in tile memory as tiles: which elements each tile holds, in which order.

A buffer has one unknown layout. Every instruction that accumulates in it or takes an operand from it
says which elements it wants together, and in which order: those are its tiles. All other statements
follow: they fill whole tiles from memory and save them there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field, replace
from itertools import product

from hbc.eqsat.operands.choice import Choice, Statement
from hbc.eqsat.operands.operand import points, starts_of
from hbc.eqsat.operands.perform import accumulated, output_points
from hbc.eqsat.tensors.plan import Plan
from hbc.eqsat.tensors.points import Place, Points, address
from hbc.eqsat.tensors.steps import Fresh, Index
from hbc.eqsat.tensors.tensor import Dim, Dims, Read
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import TILES_OF_LANES, DType, Memory
from hbc.ir.lang.walk import nodes_of
from hbc.ir.meaning.contraction import shape
from hbc.ir.vectors.lane_offsets import constant_lanes

Addresses = tuple[int, ...]


def all_lanes(lanes: int) -> ir.Expr:
    """The places of that many elements from the first."""
    return ir.Ramp(ir.const_index(0), ir.const_index(1), lanes) if lanes > 1 else ir.const_index(0)


@record
class Tile:
    """`addresses`: the elements of the buffer that it holds, in its row-major order; `rows` of them.
    `fragment`: which lane has which of them, where that is known (see `ir/meaning/fragment_layout.py`).
    `is_sum`: it is no factor of a product."""

    name: str
    element: DType
    addresses: Addresses
    extents: tuple[int, ...]
    rows: int
    memory: Memory = Memory.AMX_TILE
    fragment: tuple[ir.Expr, ...] = ()
    is_sum: bool = False

    @property
    def of_lanes(self) -> bool:
        """Whether its elements can be touched one by one."""
        return self.memory in TILES_OF_LANES

    @property
    def lanes(self) -> int:
        return len(self.addresses)

    def index(self) -> ir.Expr:
        """Of all its elements."""
        return all_lanes(self.lanes)

    def load(self) -> ir.Load:
        """All of it."""
        return ir.Load(self.name, self.index(), self.element(self.lanes))


@mutable
class TileBuffer:
    """The tiles of a buffer, by the elements they hold."""

    name: str
    element: DType
    extent: int
    memory: Memory
    tiles: dict[Addresses, Tile] = field(default_factory=dict)

    def named(self, fresh: Fresh, again: bool) -> TileBuffer:
        """With names of their own for its tiles, where there are several, or where there were others
        of this name in another scope."""
        tiles = {
            at: t if t.name == self.name and not again else replace(t, name=fresh(t.name))
            for at, t in self.tiles.items()
        }
        return TileBuffer(self.name, self.element, self.extent, self.memory, tiles)


class MovingTileError(Exception):
    """Which tile of a buffer a statement accesses depends on loops."""

    def __init__(self, buffer: str, statement: ir.Store, loops: Sequence[str]) -> None:
        super().__init__(buffer)
        self.buffer = buffer
        self.statement = statement
        self.loops = tuple(loops)


class TileShapeError(Exception):
    """Two statements want the elements of one buffer in different tiles."""

    def __init__(self, buffer: str, first: Tile, second: Tile) -> None:
        super().__init__(buffer)
        self.buffer = buffer
        self.first = first
        self.second = second


def moving_loops(x: Read) -> tuple[str, ...]:
    """The loops outside of the statement on which depends which elements it reads."""
    used = (n.name for e in (x.base, *(s for _, s in x.strides)) for n in nodes_of(e, ir.Var))
    return tuple(dict.fromkeys(used))


def add_tiles(b: TileBuffer, x: Read, plan: Plan, operand: int) -> None:
    """The tiles that an operand of the plan wants of the buffer that `x` reads. Raises
    TileShapeError when they overlap others."""
    for index in _steps(plan, x):
        at = points(plan, operand, starts_of(plan, index))
        addresses = constant_lanes(address(x, at))
        i = plan.instruction
        rows = shape(i, operand, dict(plan.sizes))[0]
        fragment = i.fragments[operand] if i.fragments else ()
        tile = None if addresses is None else b.tiles.get(addresses)
        if addresses is None or (tile and (tile.rows, tile.fragment) == (rows, fragment)):
            continue
        number = len(b.tiles)
        name = f"{b.name}_{number}" if len(addresses) < b.extent else b.name
        is_sum = operand == i.accumulator
        new = Tile(name, b.element, addresses, at.extents, rows, b.memory, fragment, is_sum)
        for old in b.tiles.values():
            if not set(old.addresses).isdisjoint(addresses):
                raise TileShapeError(b.name, old, new)
        b.tiles[addresses] = new


def with_rest(b: TileBuffer, wanted: Collection[int]) -> TileBuffer:
    """With tiles of the elements that are wanted though no product touches them, as where its condition is
    false for all: others of it, further on. Raises TileShapeError where none of these fits."""
    if not b.tiles:
        return b
    rest = replace(b, tiles=dict(b.tiles))
    taken = {a for at in b.tiles for a in at}
    like = next(iter(b.tiles.values()))
    for first in sorted(set(wanted)):
        if first in taken:
            continue
        for t in b.tiles.values():
            at = tuple(a - t.addresses[0] + first for a in t.addresses)
            if taken.isdisjoint(at):
                break
        else:
            at = tuple(a - like.addresses[0] + first for a in like.addresses)
            raise TileShapeError(b.name, like, replace(like, addresses=at))
        rest.tiles[at] = replace(t, name=f"{b.name}_{len(rest.tiles)}", addresses=at)
        taken |= set(at)
    return rest


def _steps(plan: Plan, x: Read) -> list[Index]:
    """The steps of the plan's loops that move `x`, all others at 0."""
    moved = {d for d, _ in x.strides}
    loops = [p for p in plan.outer if p.dim in moved]
    return [
        {p.dim: ir.const_index(n) for p, n in zip(loops, steps, strict=True)}
        for steps in product(*(range(p.extent) for p in loops))
    ]


def tile_of(b: TileBuffer, x: Read, at: Points) -> Tile | None:
    """The tile that is the buffer at these points."""
    addresses = constant_lanes(address(x, at))
    return None if addresses is None else b.tiles.get(addresses)


def accumulators(b: TileBuffer, s: Statement, choice: Choice) -> list[tuple[Index, Tile]]:
    """The tile at each step of the plan's loops over outputs."""
    steps = []
    for at in output_points(choice.plan):
        tile = tile_of(b, s.dest, accumulated(choice.plan, at))
        assert tile is not None
        steps.append((at, tile))
    return steps


def points_of(tile: Tile, x: Read, outputs: Dims) -> Points | None:
    """Where the elements of a tile are in the box of a statement that accesses its buffer as `x`; None
    where they are not affine in the tile's lanes, or not all there."""
    strides = {d: const_value(s) for d, s in x.strides}
    base = const_value(x.base)
    if base is None or None in strides.values():
        return None
    by_stride = sorted(
        ((int(s), d) for d, s in strides.items() if s is not None), key=lambda p: -p[0]
    )
    places: dict[Dim, Place] = {d: Place(ir.const_index(0), (), d.extent) for d in outputs}
    start = _digits(tile.addresses[0] - int(base), by_stride)
    if start is None:
        return None
    steps: dict[Dim, list[int]] = {d: [] for d in outputs}
    inner = tile.lanes
    for extent in tile.extents:
        inner //= extent
        step = tile.addresses[inner] - tile.addresses[0] if extent > 1 else 0
        along = _digits(step, by_stride)
        if along is None:
            return None
        for d in outputs:
            steps[d].append(along.get(d, 0))
    for d in outputs:
        places[d] = Place(ir.const_index(start.get(d, 0)), tuple(steps[d]), d.extent)
    at = Points(tile.extents, places)
    inside = all(
        int(const_value(q.start) or 0)
        + sum((n - 1) * s for n, s in zip(tile.extents, q.steps, strict=True))
        < d.extent
        for d, q in places.items()
    )
    return at if inside and constant_lanes(address(x, at)) == tile.addresses else None


def _digits(offset: int, by_stride: list[tuple[int, Dim]]) -> dict[Dim, int] | None:
    """How far each dimension goes for an offset, the longest strides first."""
    digits: dict[Dim, int] = {}
    for stride, d in by_stride:
        if stride <= 0:
            return None
        digits[d], offset = divmod(offset, stride)
    return digits if offset == 0 and all(n >= 0 for n in digits.values()) else None

"""Statements on whole tiles: products, fills from memory and saves to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.eqsat.operands.choice import Choice, Statement
from hbc.eqsat.operands.fragments import may_be_fragment
from hbc.eqsat.operands.operand import has_columns, has_rows, points, starts_of
from hbc.eqsat.operands.perform import Packed, operand
from hbc.eqsat.operands.placement import Frames
from hbc.eqsat.tensors.plan import Plan
from hbc.eqsat.tensors.points import Points, address, exists, raw_layout, value
from hbc.eqsat.tensors.steps import Fresh, Index, nest
from hbc.eqsat.tensors.tensor import Band, Read, Reduce, Tensor, Uniform, parts
from hbc.eqsat.tiles.across import loaded_across
from hbc.eqsat.tiles.tile_starts import may_begin_unknown
from hbc.eqsat.tiles.tiles import Tile, TileBuffer, accumulators, all_lanes, tile_of
from hbc.ir.algebra.layout import layout
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const, const_value
from hbc.ir.lang.types import FRAGMENTS, DType, Memory
from hbc.ir.lang.walk import block

TileBuffers = Mapping[str, TileBuffer]


@record
class Product:
    """One instruction on tiles. `operands`: of each factor the tile it is in, or the load from memory
    that is to fill one."""

    plan: Plan
    accumulator: Tile
    operands: tuple[Tile | ir.Expr, ...]


def products(
    choice: Choice, s: Statement, buffers: TileBuffers, frames: Frames
) -> ir.Stmt | list[Product]:
    """The instructions of a statement that accumulates in tiles: as they are, or with the loops that
    are summed around them."""
    fresh, plan = frames.fresh, choice.plan
    own = accumulators(buffers[s.dest.buffer], s, choice)
    summed = [p for p in plan.outer if p.dim.reduced]

    def at_step(index: Index) -> list[Product]:
        return [
            Product(plan, tile, _operands(choice, {**at, **index}, buffers, frames))
            for at, tile in own
        ]

    if not summed:
        return at_step({})
    return nest(summed, fresh, lambda index: executed(at_step(index), fresh))


def _operands(
    choice: Choice, index: Index, buffers: TileBuffers, frames: Frames
) -> tuple[Tile | ir.Expr, ...]:
    plan, c = choice.plan, choice.candidate
    operands: list[Tile | ir.Expr] = []
    first, second = plan.instruction.factors
    for n, x, with_n, other in ((first, c.a, second, c.b), (second, c.b, first, c.a)):
        if isinstance(x, Read) and x.buffer in buffers:
            tile = tile_of(buffers[x.buffer], x, points(plan, n, starts_of(plan, index)))
            assert tile is not None
            operands.append(tile)
        else:
            across = loaded_across(x, n, other, with_n, plan, index, frames)
            operands.append(across or operand(x, plan, n, index, frames.packed))
    return tuple(operands)


def executed(steps: Sequence[Product], fresh: Fresh) -> ir.Stmt:
    """The instructions in an order in which few tiles are live: the operands of the side that has
    fewer are loaded once and kept, those of the other come one after the other."""
    sides = [_loads(steps, n) for n in (0, 1)]
    kept, streamed = (0, 1) if len(sides[0]) <= len(sides[1]) else (1, 0)
    names = {e: fresh(_name(e)) for e in (*sides[0], *sides[1])}
    memory = steps[0].plan.instruction.place.memory
    groups: list[ir.Stmt] = []
    for e in dict.fromkeys(p.operands[streamed] for p in steps):
        inner = block(*(_execute(p, names) for p in steps if p.operands[streamed] == e))
        groups.append(
            inner if isinstance(e, Tile) or e not in names else _loaded(e, names, memory, inner)
        )
    body = block(*groups)
    for e in reversed(sides[kept]):
        body = _loaded(e, names, memory, body)
    return body


def _loads(steps: Sequence[Product], side: int) -> list[ir.Expr]:
    """The distinct loads from memory to tiles of one side."""
    operands = (p.operands[side] for p in steps if not _is_shared(p, side))
    return list(dict.fromkeys(e for e in operands if not isinstance(e, Tile)))


def _is_shared(p: Product, side: int) -> bool:
    """Whether the instruction itself reads that operand from shared memory."""
    return p.plan.instruction.factors[side] in p.plan.instruction.shared


def _name(e: ir.Expr) -> str:
    return f"{e.buffer}_tile" if isinstance(e, ir.Load) else "tile"


def _loaded(e: ir.Expr, names: Mapping[ir.Expr, str], memory: Memory, body: ir.Stmt) -> ir.Stmt:
    """The body with a tile that holds the value."""
    n, t = e.type.lanes, e.type.element
    fill = ir.Store(names[e], all_lanes(n), e)
    return ir.Allocate(names[e], t, ir.const_index(n), memory, block(fill, body))


def _execute(p: Product, names: Mapping[ir.Expr, str]) -> ir.Stmt:
    i = p.plan.instruction
    args: dict[int, ir.Expr] = {i.accumulator: p.accumulator.load()}
    for n, e in zip(i.factors, p.operands, strict=True):
        if isinstance(e, Tile):
            args[n] = e.load()
        else:
            args[n] = ir.Load(names[e], all_lanes(e.type.lanes), e.type) if e in names else e
    t = p.accumulator.element(p.accumulator.lanes)
    done = ir.Instruct(i.name, p.plan.sizes, tuple(args[n] for n in sorted(args)), t)
    return ir.Store(p.accumulator.name, p.accumulator.index(), done)


def fill(tile: Tile, x: Tensor, at: Points, packed: Packed, fresh: Fresh) -> ir.Stmt:
    """The tile with the value at the points: zero, from rows in memory, or from where they are made."""
    if isinstance(x, Uniform) and const_value(x.value) == 0:
        return ir.Store(tile.name, tile.index(), const(0, tile.element(tile.lanes)))
    if tile.of_lanes and is_elementwise(x):
        return ir.Store(tile.name, tile.index(), value(x, at))
    inside = isinstance(x, Read) and exists(tuple(d for d, _ in x.strides), at) is None
    if isinstance(x, Read) and inside and is_whole(tile, x, at):
        return ir.Store(tile.name, tile.index(), value(x, at))
    made = packed(x, at, (), {}, "as rows of a tile")
    if _is_rows(made, tile.rows):
        return ir.Store(tile.name, tile.index(), made)
    name = fresh(f"{tile.name}_rows")  # one value for a row, or for all
    rows = ir.Load(name, tile.index(), tile.element(tile.lanes))
    filled = block(ir.Store(name, tile.index(), made), ir.Store(tile.name, tile.index(), rows))
    return in_memory(name, tile.element, tile.lanes, filled)


def is_elementwise(x: Tensor) -> bool:
    """Whether it is arithmetic on reads, positions and numbers, point by point."""
    return not isinstance(x, Reduce | Band) and all(map(is_elementwise, parts(x)))


def is_whole(tile: Tile, x: Read, at: Points) -> bool:
    """Whether the tile is moved from or to an array at these points as it is."""
    if tile.of_lanes:
        return True
    raw = raw_layout(x, at)
    columns = tile.lanes // tile.rows
    if not may_be_fragment(x.buffer, raw, columns, x.element.bytes, tile.memory):
        return False
    by_columns = tile.is_sum and tile.memory is Memory.WMMA and has_columns(raw, tile.rows)
    return by_columns or has_rows(raw, tile.rows)


def _is_rows(e: ir.Expr, rows: int) -> bool:
    """Whether a value is loaded as so many rows of adjacent elements."""
    at = layout(e.index) if isinstance(e, ir.Load) and e.mask is None else None
    if at is None:
        return False
    strides = [const_value(stride) for _, stride in at.dims]
    return strides == [1] or has_rows(at, rows)


def save(
    tile: Tile,
    dest: Read,
    at: Points,
    fresh: Fresh,
    mask: ir.Expr | None = None,
    op: ir.Op | None = None,
) -> ir.Stmt:
    """Stores the tile, through memory where the destination has no rows or not all is stored. With
    `op` it updates the destination atomically."""
    where = address(dest, at)
    if mask is None and op is None and is_whole(tile, dest, at):
        return ir.Store(dest.buffer, where, tile.load())
    if tile.of_lanes:
        return ir.Store(dest.buffer, where, tile.load(), mask, atomic=op)
    name = fresh(f"{tile.name}_rows")
    rows = ir.Load(name, all_lanes(tile.lanes), tile.element(tile.lanes))
    body = block(
        ir.Store(name, all_lanes(tile.lanes), tile.load()),
        ir.Store(dest.buffer, where, rows, mask, atomic=op),
    )
    return ir.Allocate(name, tile.element, ir.const_index(tile.lanes), Memory.STACK, body)


def allocated(b: TileBuffer, body: ir.Stmt, of: ir.Allocate) -> ir.Stmt:
    """The body with the tiles of the buffer that `of` allocates."""
    zeros = [
        ir.Store(tile.name, tile.index(), const(0, tile.element(tile.lanes)))
        for tile in b.tiles.values()
        # What threads hold of a fragment that they did not fill stays theirs: nobody copies it.
        if b.memory not in FRAGMENTS and may_begin_unknown(body, tile.name)
    ]
    body = block(*zeros, body)
    for tile in reversed(b.tiles.values()):
        extent = ir.const_index(tile.lanes)
        body = ir.Allocate(tile.name, tile.element, extent, b.memory, body, of.note, of.span)
    return body


def in_memory(name: str, element: DType, extent: int, body: ir.Stmt) -> ir.Stmt:
    """The body with a copy of a tile buffer in memory."""
    note = "a copy of tiles, for what tiles cannot do"
    return ir.Allocate(name, element, ir.const_index(extent), Memory.STACK, body, note)

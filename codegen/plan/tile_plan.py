"""Which register each tile has, and where the tile registers are configured: the plan for a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from hbc.codegen.fragments.in_no_product import neighbours
from hbc.codegen.plan.tile_lives import Lives
from hbc.codegen.plan.tile_regions import Planner, Region, Shape, TileError, func_of
from hbc.codegen.plan.tile_reloads import load_again
from hbc.codegen.plan.tile_steps import Fill, Product, Save, accesses, distinct, tiles_of
from hbc.codegen.plan.tile_streams import streamed
from hbc.ir.algebra.layout import layout
from hbc.ir.ground.diag import Diagnostic, InternalError
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import TILES
from hbc.ir.meaning.contraction import shape


@record
class TilePlan:
    """A kernel's body, in which each tile has a name of its own, and its regions by the id of their
    statement, which stands once in the body. `streams`: tiles that are loaded past the first cache."""

    body: ir.Stmt
    tiles: Mapping[str, ir.Allocate]
    shapes: Mapping[str, Shape]
    regions: Mapping[int, Region]
    streams: frozenset[str] = frozenset()


NO_SHAPE: Shape = (0, 0)
NO_TILES = TilePlan(ir.Block(()), {}, {}, {})


def plan_tiles(
    body: ir.Stmt, instructions: Sequence[Instruction], usual: Mapping[str, int] | None = None
) -> TilePlan:
    """The plan for a kernel's body. TileError when it needs more registers than there are, when a tile
    has two shapes, or is carried into or out of a parallel loop. `usual`: the sizes of most calls."""
    if not tiles_of(body):
        return replace(NO_TILES, body=body)
    body = distinct(body)
    body = load_again(body, min(i.place.count for i in instructions if i.place.memory in TILES))
    tiles = tiles_of(body)
    shapes, registers = _shapes(body, tiles, {i.name: i for i in instructions})
    lives = Lives(tiles)
    top = lives.place(body)
    if top is None:
        return TilePlan(body, tiles, shapes, {})
    planner = Planner(tiles, shapes, lives.lives, registers)
    planner.refuse_too_many()
    planner.refuse_shared(top)
    body = planner.place(top, threaded=False)
    regions = {id(r.stmt): r for r in planner.regions}
    return TilePlan(body, tiles, shapes, regions, streamed(body, tiles, usual))


def _shapes(
    body: ir.Stmt, tiles: Mapping[str, ir.Allocate], known: Mapping[str, Instruction]
) -> tuple[dict[str, Shape], int]:
    """The shape of each tile, from the operand that it is, and how many registers there are. What is in no
    product has the rows that it is moved by; those that touch may be the rows of another tile."""
    shapes: dict[str, Shape] = {}
    moved: dict[str, Shape] = {}
    count = 0
    for step in accesses(body, tiles):
        if isinstance(step, Fill | Save):
            moved |= _moved(step, tiles[step.tile])
        if not isinstance(step, Product):
            continue
        i, sizes = known[step.instruct.name], dict(step.instruct.sizes)
        count = i.place.count
        if step.tiles[i.accumulator] != step.tile or len(set(step.tiles)) < len(step.tiles):
            raise InternalError(f"codegen: `{i.name}` on {', '.join(step.tiles)}")
        for n, tile in enumerate(step.tiles):
            rows, *row = shape(i, n, sizes)
            wanted = (rows, prod(row) * i.operands[n].element.bytes)
            if shapes.setdefault(tile, wanted) != wanted:
                raise _two_shapes(tiles[tile], shapes[tile], wanted)
    others = {tile: shapes[like] for tile, like in neighbours(tiles.values(), shapes).items()}
    for tile, a in tiles.items():
        if shapes.setdefault(tile, moved.get(tile) or others.get(tile) or NO_SHAPE) == NO_SHAPE:
            raise InternalError(f"codegen: the tile `{tile}` is in no product")
        if prod(shapes[tile]) != int(const_value(a.extent) or 0) * a.element.bytes:
            raise InternalError(f"codegen: the tile `{tile}` is no operand's size")
    return shapes, count


def _moved(step: Fill | Save, a: ir.Allocate) -> dict[str, Shape]:
    """The rows in memory that a tile is loaded from or stored to, if they do not touch."""
    at = layout(step.source.index if isinstance(step, Fill) else step.target.index)
    if at is None or len(at.dims) != 2:
        return {}
    return {step.tile: (at.dims[0][0], at.dims[1][0] * a.element.bytes)}


def _two_shapes(a: ir.Allocate, one: Shape, other: Shape) -> TileError:
    def text(s: Shape) -> str:
        return f"{s[0]} rows of {s[1] // a.element.bytes}"

    return TileError(
        Diagnostic(
            f"a tile of `{func_of(a.buffer)}` is used as {text(one)} and as {text(other)} elements",
            a.span,
            "give its loops the same tile sizes wherever it is used, or store it in two Funcs",
        )
    )

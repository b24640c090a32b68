"""What a statement does with tile registers, and the statements of a kernel that do anything.

Tiles are buffers in tile memory. Only whole tiles are touched, in five ways: set to zero, loaded
from rows in memory, added to by a product of two others, changed element by element, and stored to
rows in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import copysign

from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import broadcast, const_value
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import map_children, map_stmt, nodes, nodes_of, operands, statements


@record
class Zero:
    tile: str


@record
class Fill:
    """From memory."""

    tile: str
    source: ir.Load


@record
class Product:
    """`tiles` are the operands in the order of the instruction, the accumulator among them."""

    tile: str
    instruct: ir.Instruct
    tiles: tuple[str, ...]


@record
class Save:
    """To memory."""

    tile: str
    target: ir.Store


@record
class Change:
    """`value` is arithmetic on whole `tiles` and numbers, the same for each element."""

    tile: str
    value: ir.Expr
    tiles: tuple[str, ...]


TileStep = Zero | Fill | Product | Change | Save


def tile_step(s: ir.Stmt, tiles: Mapping[str, ir.Allocate]) -> TileStep | None:
    """What the statement itself does with one of these tiles. InternalError when it is no step."""
    if not isinstance(s, ir.Store):
        return None
    read = _whole_tile(s.value, tiles)
    if s.buffer not in tiles:
        if read is not None:
            return Save(read, s)
        if any(isinstance(n, ir.Load) and n.buffer in tiles for n in nodes(s.value)):
            raise InternalError(f"codegen: a part of a tile is read for `{s.buffer}`")
        return None
    if s.mask is None and _is_whole(s.index, tiles[s.buffer]):
        match s.value:
            case value if _is_zero(value):
                return Zero(s.buffer)
            case ir.Load(mask=None) if s.value.buffer not in tiles:
                return Fill(s.buffer, s.value)
            case ir.Broadcast(value=ir.Load(mask=None) as row, lanes=n) if row.buffer not in tiles:
                all_rows = broadcast(row.index, n)  # the same row again and again
                return Fill(s.buffer, ir.Load(row.buffer, all_rows, s.value.type, None, row.span))
            case ir.Instruct(args=args):
                of = tuple(t for a in args if (t := _whole_tile(a, tiles)) is not None)
                if len(of) == len(args) and s.buffer in of:
                    return Product(s.buffer, s.value, of)
            case value if _is_elementwise(value, tiles):
                used = (_whole_tile(n, tiles) for n in nodes_of(value, ir.Load))
                return Change(s.buffer, value, tuple(dict.fromkeys(t for t in used if t)))
    raise InternalError(f"codegen: no instruction does this to the tile `{s.buffer}`")


def reads_of(step: TileStep) -> tuple[str, ...]:
    """The tiles whose contents the step uses."""
    match step:
        case Product(tiles=tiles) | Change(tiles=tiles):
            return tiles
        case Save(tile=tile):
            return (tile,)
        case _:
            return ()


def tiles_of(s: ir.Stmt) -> dict[str, ir.Allocate]:
    """The allocations of tiles in `s` by name; the last of several."""
    return {
        n.buffer: n
        for n in statements(s)
        if isinstance(n, ir.Allocate) and n.memory is Memory.AMX_TILE
    }


def parts(s: ir.Stmt) -> tuple[ir.Stmt, ...]:
    """The statements directly inside `s`."""
    match s:
        case ir.Block(body=body):
            return body
        case ir.For(body=one) | ir.LetStmt(body=one) | ir.Allocate(body=one):
            return (one,)
        case ir.If(then=then, otherwise=other):
            return (then,) if other is None else (then, other)
        case _:
            return ()


def with_parts(s: ir.Stmt, new: tuple[ir.Stmt, ...]) -> ir.Stmt:
    """`s` with other statements directly inside it."""
    match s:
        case ir.Block():
            return replace(s, body=new)
        case ir.For() | ir.LetStmt() | ir.Allocate():
            return replace(s, body=new[0])
        case ir.If():
            return replace(s, then=new[0], otherwise=new[1] if len(new) > 1 else None)
        case _:
            return s


def distinct(s: ir.Stmt) -> ir.Stmt:
    """`s` with a name of its own for every allocation of a tile: `acc`, `acc#1`, ..."""
    count: dict[str, int] = {}

    def below(s: ir.Stmt, names: Mapping[str, str]) -> ir.Stmt:
        if isinstance(s, ir.Allocate) and s.memory is Memory.AMX_TILE:
            number = count.setdefault(s.buffer, 0)
            count[s.buffer] += 1
            name = f"{s.buffer}#{number}" if number else s.buffer
            names = {**names, s.buffer: name}
            return replace(s, buffer=name, body=below(s.body, names))
        if isinstance(s, ir.Store):
            s = renamed_tiles(s, names)
        return map_stmt(s, lambda e: e, lambda c: below(c, names))

    return below(s, {})


def renamed_tiles(s: ir.Store, names: Mapping[str, str]) -> ir.Store:
    """The statement on tiles of other names."""
    return replace(s, buffer=names.get(s.buffer, s.buffer), value=_renamed(s.value, names))


def label(tile: str) -> str:
    """The name that the tile had before `distinct`."""
    return tile.partition("#")[0]


def _renamed(e: ir.Expr, names: Mapping[str, str]) -> ir.Expr:
    if isinstance(e, ir.Load) and e.buffer in names:
        return replace(e, buffer=names[e.buffer])
    return map_children(e, lambda c: _renamed(c, names))


def _whole_tile(e: ir.Expr, tiles: Mapping[str, ir.Allocate]) -> str | None:
    """The tile that `e` is all of."""
    match e:
        case ir.Load(buffer=buffer, mask=None) if buffer in tiles and _is_whole(
            e.index, tiles[buffer]
        ):
            return buffer
        case _:
            return None


def _is_elementwise(e: ir.Expr, tiles: Mapping[str, ir.Allocate]) -> bool:
    """Whether `e` is arithmetic on whole tiles and on numbers that are not in any."""
    match e:
        case ir.Load():
            return _whole_tile(e, tiles) is not None
        case ir.Const():
            return True
        case ir.Broadcast(value=value):
            in_tiles = (isinstance(n, ir.Load) and n.buffer in tiles for n in nodes(value))
            return value.type.lanes == 1 and not any(in_tiles)
        case ir.Cast() | ir.Binary() | ir.Unary() | ir.Select() | ir.Call():
            return all(_is_elementwise(c, tiles) for c in operands(e))
        case _:
            return False


def _is_whole(index: ir.Expr, a: ir.Allocate) -> bool:
    match index:
        case ir.Ramp(base=base, stride=stride, lanes=lanes):
            dense = const_value(base) == 0 and const_value(stride) == 1
            return dense and lanes == const_value(a.extent)
        case _:  # a tile of one element
            return const_value(index) == 0 and const_value(a.extent) == 1


def _is_zero(e: ir.Expr) -> bool:
    number = const_value(e)
    return number == 0 and copysign(1.0, float(number)) > 0


def accesses(s: ir.Stmt, tiles: Mapping[str, ir.Allocate]) -> Iterator[TileStep]:
    """Every step in `s`, in order."""
    for n in nodes(s):
        if isinstance(n, ir.Store) and (step := tile_step(n, tiles)) is not None:
            yield step

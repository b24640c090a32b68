"""Tile registers in C: their configuration, and what statements do with them.

enum { ACC_0, A_0, B_0 };  // tile registers
static const struct tile_config tiles = { .palette = 1, .rows = {16, 16, 16}, ... };
_tile_loadconfig(&tiles);
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hbc.codegen.plan.tile_regions import Region, Shape
from hbc.codegen.plan.tile_steps import (
    Change,
    Fill,
    Product,
    Save,
    TileStep,
    Zero,
    label,
    tile_step,
)
from hbc.codegen.text.instruction_text import rows_statement, statement
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import ADD, Unit
from hbc.ir.algebra.layout import layout
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import mul
from hbc.ir.lang.instruction import Place
from hbc.ir.lang.types import DType, Memory

RELEASE = "_tile_release();"

CONFIG = """\
/* What `ldtilecfg` reads: rows, and bytes of a row, of each tile register. */
struct tile_config {
    uint8_t palette, start_row, unused[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};
"""


@contextmanager
def configured(region: Region, unit: Unit) -> Iterator[None]:
    """Around the statement of a region: names and configures its registers, releases them."""
    names = _names(region, unit)
    unit.prelude.add("tile_config", CONFIG)
    unit.out.line(f"enum {{ {', '.join(_enumerators(region, names))} }};")
    config = unit.scope.fresh("tiles")
    with unit.out.braces(f"static const _Alignas(64) struct tile_config {config} ="):
        unit.out.line(".palette = 1,")
        unit.out.line(f".rows = {{{', '.join(str(rows) for rows, _ in region.shapes)}}},")
        unit.out.line(f".row_bytes = {{{', '.join(str(width) for _, width in region.shapes)}}},")
    unit.out.lines[-1] += ";"
    unit.out.line(f"_tile_loadconfig(&{config});")
    before, unit.tile_names = unit.tile_names, names
    yield
    unit.tile_names = before
    unit.out.line(RELEASE)


@contextmanager
def of_a_thread(region: Region, unit: Unit) -> Iterator[None]:
    """The same around a parallel loop, for all iterations that a thread has: to configure and to release
    takes 110 ns on a Xeon with AMX, as long as a dozen products."""
    with configured(region, unit):
        unit.tiles_of_thread = True
        yield
        unit.tiles_of_thread = False


def _names(region: Region, unit: Unit) -> dict[str, str]:
    """The enumerator of each tile: its buffer in capitals. Tiles that had one name and share a
    register share it."""
    names: dict[tuple[str, int], str] = {}
    for tile, register in region.registers.items():
        key = label(tile), register
        if key not in names:
            names[key] = unit.scope.fresh(label(tile).upper())
    return {tile: names[label(tile), r] for tile, r in region.registers.items()}


def _enumerators(region: Region, names: dict[str, str]) -> list[str]:
    """Those whose value is one more than the last one's need not say it."""
    texts: dict[str, str] = {}
    expected = 0
    by_register = sorted(region.registers.items(), key=lambda item: item[1])
    for tile, register in by_register:
        name = names[tile]
        if name not in texts:
            texts[name] = name if register == expected else f"{name} = {register}"
            expected = register + 1
    return list(texts.values())


def tile_statement(s: ir.Store, unit: Unit) -> bool:
    """Prints what the statement does with tiles; False when it does nothing with any."""
    step = tile_step(s, unit.tiles.tiles)
    if step is None:
        return False
    place = _place(unit)
    unit.out.line(_text(step, place, unit))
    return True


def _place(unit: Unit) -> Place:
    """The register file of the tiles."""
    return next(i.place for i in unit.instructions.values() if i.place.memory is Memory.AMX_TILE)


def _text(step: TileStep, place: Place, unit: Unit) -> str:
    register = unit.tile_names[step.tile]
    match step:
        case Zero():
            return f"_tile_zero({register});"
        case Fill(source=source):
            where = _rows(source.buffer, source.index, step, unit)
            load = place.stream if step.tile in unit.tiles.streams else ""
            return rows_statement(load or place.load, register, *where)
        case Save(target=target):
            if target.mask is not None:
                raise InternalError(f"codegen: a masked store of the tile `{step.tile}`")
            where = _rows(target.buffer, target.index, step, unit)
            return rows_statement(place.store, register, *where)
        case Product(instruct=instruct, tiles=tiles):
            i = unit.instructions[instruct.name]
            names = {o.name: unit.tile_names[t] for o, t in zip(i.operands, tiles, strict=True)}
            return statement(i, "gcc", names)
        case Change():
            raise InternalError(f"codegen: no instruction does this to the tile `{step.tile}`")


def _rows(buffer: str, index: ir.Expr, step: TileStep, unit: Unit) -> tuple[str, str]:
    """Where the first row lies, and how many bytes further the next one."""
    place = unit.buffers[buffer]
    base, stride = rows_in_memory(index, unit.tiles.shapes[step.tile], place.element)
    offset = scalar(base, unit)
    pointer = place.text if offset.text == "0" else f"{place.text} + {offset.at(ADD)}"
    return pointer, str(scalar(simplify(mul(stride, place.element.bytes)), unit))


def rows_in_memory(index: ir.Expr, shape: Shape, element: DType) -> tuple[ir.Expr, ir.Expr]:
    """The first element of a tile's place in memory, and the elements from row to row. InternalError
    unless each row is contiguous and the rows lie equally far apart."""
    rows, columns = shape[0], shape[1] // element.bytes
    place = layout(index)
    if place is None or place.lanes != rows * columns:
        raise InternalError("codegen: the rows of a tile lie irregularly in memory")
    left: list[tuple[int, ir.Expr]] = list(place.dims)
    reached = 1  # elements of a row that are known to be contiguous
    while reached < columns:
        extent, stride = left.pop() if left else (0, ir.const_index(0))
        wanted = columns // reached
        if stride != ir.const_index(reached) or (extent % wanted and wanted % extent):
            raise InternalError("codegen: a row of a tile is not contiguous in memory")
        if extent > wanted:
            left.append((extent // wanted, mul(stride, wanted)))
        reached *= min(extent, wanted)
    if len(left) > 1:
        raise InternalError("codegen: the rows of a tile do not lie equally far apart")
    return place.base, left[0][1] if left else ir.const_index(columns)

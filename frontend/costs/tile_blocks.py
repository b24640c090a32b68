"""How many tiles of sums, of how many rows, stay in the tile registers while a reduction runs.

Measured on a Xeon with AMX (Emerald Rapids, bytes, one thread): a product takes 16 cycles where its tile of
columns is another than that of the product before, else as many as it has rows, ten at least. A tile is
loaded in half a cycle a row from the first cache and 1.5 or more for a row that ends in another line of it
than it begins in, in 26 cycles a KiB from the second, in 83 from the third. Sums that follow each
other in one tile do not wait.
"""

from __future__ import annotations

from collections.abc import Iterator

from hbc.ir.ground.record import record

REGISTERS = 8  # tiles
# Cycles of products: with another tile of columns, of few rows.
COLUMNS_CHANGE, SHORTEST = 16.0, 10.0
BETWEEN, CHANGE = 1.0, 2.0  # cycles from one product to the next, and more with other columns
ROW_LOAD, CROSSED, LINE = 0.5, 1.5, 64  # cycles, cycles more of a row in two lines of so many bytes
FIRST, SECOND = 32 << 10, 1280 << 10  # bytes that are at home in a cache beside others
FROM_SECOND, FROM_THIRD = 26.0, 83.0  # cycles for a KiB
# How much longer rows take, which lie apart, so that no processor asks for them ahead; and beside columns.
APART, BESIDE = 1.5, 0.55
EXPOSED = 0.06  # of loads although they hide behind products
BEGIN, STORED = 24.0, 16.0  # cycles of a block, and of a tile of sums in it, besides the reduction
MOST_BESIDE = 6
MOST_TILES = 40  # of a variable, up to which tiles of fewer rows are looked at
KEPT_BLOCKS = 12  # that are offered


@record
class TileBlock:
    """`down` tiles of `high` rows along the variable of the rows, at each of `beside` values of another
    one, by `across` tiles of columns."""

    high: int
    down: int
    beside: int
    across: int

    @property
    def rows(self) -> int:
        """Values of the variable of the rows."""
        return self.high * self.down


@record
class TileSides:
    """Extents of the variable of the rows, of the one `beside` (1 without one), of the columns; of a tile the
    most rows and columns, and the bytes of a row of an operand, which begins at multiples of `aligned` bytes;
    steps of the reduction; bytes of all operands of the columns, and of those of the rows: for one value
    `beside`, and for each further one. `inside`: the loop over columns does not become the outermost, since
    its blocks come in groups, or rows are copied where the reduction leaves something over."""

    rows: int
    beside: int
    columns: int
    most_rows: int
    wide: int
    row_bytes: int
    aligned: int
    steps: int
    columns_bytes: int
    rows_bytes: int
    next_bytes: int
    inside: bool


@record
class Costed:
    """A block with the cycles of all blocks; `panels`: the loop over columns is the outermost."""

    block: TileBlock
    cycles: float
    panels: bool


def ranked_tile_blocks(sides: TileSides) -> list[Costed]:
    """The blocks that fit, the quickest first."""
    costed = [min(_costs(b, sides), key=lambda c: c.cycles) for b in _blocks(sides)]
    return sorted(costed, key=lambda c: round(c.cycles, 3))[:KEPT_BLOCKS]


def _blocks(sides: TileSides) -> Iterator[TileBlock]:
    least = -(-sides.rows // sides.most_rows)
    heights = {-(-sides.rows // n) for n in range(least, min(2 * least, MOST_TILES) + 1)}
    if least > MOST_TILES:
        heights = {sides.most_rows}
    for high in sorted(heights, reverse=True):
        for down in range(1, REGISTERS):
            if down > 1 and high * down > sides.rows:
                break
            for beside in range(1, min(MOST_BESIDE, sides.beside) + 1):
                for across in range(1, REGISTERS):
                    if across > 1 and (across - 1) * sides.wide >= sides.columns:
                        break
                    block = TileBlock(high, down, beside, across)
                    if _registers(block) <= REGISTERS:
                        yield block


def _registers(b: TileBlock) -> int:
    """Tiles of sums, one of columns, and the rows that meet each of them."""
    rows = b.down * b.beside
    return rows * b.across + 1 + (rows if b.across > 1 else 1)


def _costs(b: TileBlock, sides: TileSides) -> Iterator[Costed]:
    rows = b.down * b.beside
    bands = -(-sides.rows // b.rows) * -(-sides.beside // b.beside)
    panels = -(-sides.columns // (b.across * sides.wide))
    product = (max(COLUMNS_CHANGE, rows * max(SHORTEST, b.high + BETWEEN)) + CHANGE) * b.across
    crossing = max(sides.row_bytes - sides.aligned, 0) / LINE
    loads = ROW_LOAD * b.across * sides.most_rows + (ROW_LOAD + CROSSED * crossing) * rows * b.high
    column_kib = b.across * sides.most_rows * sides.row_bytes / 1024
    row_kib = rows * b.high * sides.row_bytes / 1024
    again = BEGIN + STORED * rows * b.across
    for outermost in (False,) if sides.inside else (False, True):
        columns = sides.columns_bytes / panels if outermost else sides.columns_bytes
        values = sides.beside if outermost else b.beside
        part = 1.0 if outermost else min(b.rows / sides.rows, 1.0)
        image = part * (sides.rows_bytes + (values - 1) * sides.next_bytes)
        far = column_kib * _rate(columns)
        far += row_kib * _rate(image) * (BESIDE if far else APART)
        step = max(product, loads, far) + EXPOSED * (far + loads)
        yield Costed(b, bands * panels * (sides.steps * step + again), outermost)


def _rate(size: float) -> float:
    """Cycles for a KiB of what so many bytes are read again and again of."""
    return 0.0 if size <= FIRST else FROM_SECOND if size <= SECOND else FROM_THIRD

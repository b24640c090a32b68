"""How many tiles of sums, of how many rows, stay in the tile registers while a reduction runs.

Fitted to 186 measurements on a Xeon with AMX (Emerald Rapids, bytes, one thread): 148 convolutions, and up
to five other blocks for thirteen of them, within 12 % (root mean square). Cycles are of 2.25 GHz. A product
takes 16 where its tile of columns is another than that of the product before, else as many as it has rows,
but twelve at least. What is loaded hides behind products but for a seventh. Operands of the columns, which
lie in the order in which they are read, come from the second cache as fast as from the first; rows, which lie
apart, do not. For another machine what was measured there takes the place of what it says.
"""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.machine import Machine
from hbc.ir.ground.record import record

REGISTERS = 8  # tiles
# Cycles of products: with another tile of columns, of few rows.
COLUMNS_CHANGE, SHORTEST = 16.0, 12.3  # where one begins every 16 cycles
BETWEEN, CHANGE = 1.0, 2.0  # cycles from one product to the next, and more with other columns
ROW_LOAD, CROSSED, LINE = 0.7, 1.5, 64  # cycles, cycles more of a row in two lines of so many bytes
FIRST, SECOND = 46 << 10, 1280 << 10  # bytes that are at home in a cache beside others
FIRST_PART, SECOND_PART = 46 / 48, 1280 / 2048  # of the caches
ROWS_FROM_SECOND, FROM_THIRD = 19.0, 46.0  # cycles for a KiB
EXPOSED = 0.15  # of loads although they hide behind products
BEGIN, STORED = 4.0, 4.5  # cycles of a block, and of a row of its sums, besides the reduction
ALONE = 2.4  # times as long where sums of a row are one line, of which others come a panel later
# Cycles more for such a line where all sums take more than this part of the second cache: one of a pair of
# lines. Seven layers of 0.8 to 4.8 MB are 3 to 22 % faster in blocks of 2 x 2 tiles than of 4 x 1.
LONE, LONE_FROM = 1.5, 1 / 2
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
    steps of the reduction; bytes of all operands of the columns, of those of the rows for one value
    `beside` and for each further one, and of all sums. `inside`: the loop over columns does not become the
    outermost, since blocks come in groups, or rows are copied where the reduction leaves something over."""

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
    sums_bytes: int = 0


@record
class TileCosts:
    """`pace`: how much longer a product takes than there; bytes that are at home in the first two caches;
    cycles for a KiB of rows from the second, and of whatever from the third."""

    pace: float = 1.0
    first: float = FIRST
    second: float = SECOND
    rows_from_second: float = ROWS_FROM_SECOND
    from_third: float = FROM_THIRD


@record
class Costed:
    """A block with the cycles of all blocks; `panels`: the loop over columns is the outermost."""

    block: TileBlock
    cycles: float
    panels: bool


XEON = TileCosts()


def tile_costs(machine: Machine, dot: Dot) -> TileCosts:
    """Those of a machine, as far as they were measured there."""
    if not machine.measured:
        return XEON
    first, second, third = (machine.level(name) for name in ("L1", "L2", "L3"))
    return TileCosts(
        1 / (COLUMNS_CHANGE * dot.per_cycle),
        FIRST if first is None else first.bytes * FIRST_PART,
        SECOND if second is None else second.bytes * SECOND_PART,
        ROWS_FROM_SECOND if second is None else 1024 / second.loads,
        FROM_THIRD if third is None else 1024 / third.loads,
    )


def ranked_tile_blocks(sides: TileSides, costs: TileCosts = XEON) -> list[Costed]:
    """The blocks that fit, the quickest first."""
    costed = [min(_costs(b, sides, costs), key=lambda c: c.cycles) for b in _blocks(sides)]
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


def _costs(b: TileBlock, sides: TileSides, costs: TileCosts) -> Iterator[Costed]:
    rows = b.down * b.beside
    bands = -(-sides.rows // b.rows) * -(-sides.beside // b.beside)
    panels = -(-sides.columns // (b.across * sides.wide))
    product = (max(COLUMNS_CHANGE, rows * max(SHORTEST, b.high + BETWEEN)) + CHANGE) * b.across
    product *= costs.pace
    crossing = max(sides.row_bytes - sides.aligned, 0) / LINE
    loads = ROW_LOAD * b.across * sides.most_rows + (ROW_LOAD + CROSSED * crossing) * rows * b.high
    column_kib = b.across * sides.most_rows * sides.row_bytes / 1024
    row_kib = rows * b.high * sides.row_bytes / 1024
    panel = sides.columns_bytes / panels
    band = min(b.rows / sides.rows, 1.0) * (sides.rows_bytes + (b.beside - 1) * sides.next_bytes)
    image = sides.rows_bytes + (sides.beside - 1) * sides.next_bytes
    for outermost in (False,) if sides.inside else (False, True):
        # What is read between one reading of an operand and the next: all of it, and a piece of the other.
        columns_again = band + (panel if outermost else sides.columns_bytes)
        rows_again = panel + (image if outermost else band)
        far = column_kib * _rate(columns_again, 0.0, costs)
        far += row_kib * _rate(rows_again, costs.rows_from_second, costs)
        step = max(product, loads, far) + EXPOSED * (far + loads)
        stored = STORED * rows * b.high * b.across
        if b.across == 1 and outermost:
            stored *= ALONE
        elif b.across == 1 and sides.sums_bytes > LONE_FROM * costs.second:
            stored += LONE * rows * b.high
        yield Costed(b, bands * panels * (sides.steps * step + BEGIN + stored), outermost)


def _rate(again: float, from_second: float, costs: TileCosts) -> float:
    """Cycles for a KiB of what is read again after so many bytes."""
    if again <= costs.first:
        return 0.0
    return from_second if again <= costs.second else costs.from_third

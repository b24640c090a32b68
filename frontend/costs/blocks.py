"""How many rows and vectors of sums stay in registers while a reduction runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from hbc.frontend.costs.machine import Machine
from hbc.frontend.costs.moves import Move
from hbc.ir.ground.record import record


@record
class Block:
    """`rows` values of the row variable by `vectors` vectors of lanes. `shared` values of a reduction
    are done together, so that what they read in common is loaded once."""

    rows: int
    vectors: int
    shared: int = 1


@record
class Operand:
    """How one operand of the sums moves along the rows and along the lanes; `slides`: its rows at one
    step of a reduction are those at another; `overlaps`: its vectors are."""

    rows: Move
    lanes: Move
    slides: bool = False
    overlaps: bool = False


TOGETHER = 4  # steps of a convolution that share what they load
LOOP = 1.0  # cycles of an iteration besides its arithmetic and loads
MOST_ROWS, MOST_VECTORS = 16, 16
LOADED = 0.15  # what a load costs that hides behind arithmetic
LINE, LINE_BITS = 0.5, 512  # cycles for a line of the caches more in a step, and its size
KEPT = 1024  # answers that are kept
IN_MEMORY = 4.0  # how much longer sums take that are no block, and stay in memory


@record
class Pace:
    """How many instructions that add to a vector of sums begin in a cycle, and how many cycles a sum waits
    for itself."""

    per_cycle: float
    latency: float


@record
class Sides:
    """The extents of a block's two variables; in pieces of how many their values come, and whether the
    last block stays where it is: then what is left over is no block."""

    rows: int
    lanes: int
    piece_rows: int = 1
    piece_lanes: int = 1
    rows_stay: bool = False
    lanes_stay: bool = False


def ranked_blocks(
    operands: Sequence[Operand], machine: Machine, sums: int, sides: Sides, lanes: int,
    pace: Pace,
) -> list[tuple[Block, float]]:  # fmt: skip
    """The blocks that fit into the registers, each with the cycles that it takes per vector of sums, tails
    and padding counted: the fewest first. `sums`: how many arrays of sums of this block there are."""
    return list(_ranked(tuple(operands), machine, sums, sides, lanes, pace))


@lru_cache(KEPT)
def _ranked(
    operands: tuple[Operand, ...], machine: Machine, sums: int, sides: Sides, lanes: int,
    pace: Pace,
) -> tuple[tuple[Block, float], ...]:  # fmt: skip
    """The same. It is asked again for each place that a Func may be computed at, and each strip."""
    costed = list(_blocks(operands, machine, sums, sides, lanes, pace))
    costed.sort(key=lambda each: round(each[1], 8))
    return tuple(costed) or ((Block(1, 1), float("inf")),)


def _blocks(
    operands: Sequence[Operand], machine: Machine, sums: int, sides: Sides, lanes: int,
    pace: Pace,
) -> Iterator[tuple[Block, float]]:  # fmt: skip
    for rows in range(1, MOST_ROWS + 1):
        if rows > max(sides.rows, 1) or (rows % sides.piece_rows and sides.piece_rows > 1):
            continue
        for vectors in range(1, MOST_VECTORS + 1):
            width = vectors * lanes
            if (vectors - 1) * lanes >= sides.lanes or width % sides.piece_lanes:
                continue
            block = Block(rows, vectors)
            if not fits(block, operands, machine, sums):
                continue
            cycles = cycles_of(block, operands, machine, sums, pace)
            down = _covered(sides.rows, rows, sides.rows_stay)
            along = _covered(sides.lanes, width, sides.lanes_stay and vectors > 1)
            wasted = down * along / (sides.rows * sides.lanes)
            yield block, cycles / (rows * vectors * sums) * wasted


def _covered(extent: int, size: int, stays: bool) -> float:
    """How many values the blocks take the time of: the last is whole, or what is left over is slow."""
    left = extent % size
    if stays and left:
        return extent - left + left * IN_MEMORY
    return -(-extent // size) * size


def fits(block: Block, operands: Sequence[Operand], machine: Machine, sums: int) -> bool:
    """Whether the sums and the operands of a step lie in registers."""
    held = block.rows * block.vectors * sums
    wide = max((block.vectors for o in operands if o.lanes is not Move.FIXED), default=0)
    if machine.hoards:
        narrow = block.rows
    else:
        narrow = 1
    if any(o.slides and block.rows > 1 for o in operands):
        return held + TOGETHER * block.vectors <= machine.registers
    if any(o.overlaps for o in operands):
        wide = min(wide, TOGETHER)
    return held + wide + narrow <= machine.registers


def cycles_of(
    block: Block, operands: Sequence[Operand], machine: Machine, sums: int, pace: Pace
) -> float:
    """Of one step of the reduction: two loads in a cycle, and so many instructions that add to sums, which
    wait for themselves."""
    products = block.rows * block.vectors * sums
    loads = sum(loads_of(block, o) for o in operands)
    lines = sum(lines_of(block, machine) for o in operands if o.lanes is Move.NEXT)
    issue = max(products / pace.per_cycle, loads / 2, pace.latency)
    return issue + LOADED * loads + LINE * lines + LOOP


def lines_of(block: Block, machine: Machine) -> float:
    """Lines of the caches that a row of the block touches without need, as it does not end where a line
    does: what is left of one, and half of the time another."""
    rest = block.vectors * machine.bits % LINE_BITS
    return 1.5 - rest / LINE_BITS if rest else 0.0


def loads_of(block: Block, o: Operand) -> float:
    """How many loads of an operand a step needs."""
    rows = 1.0 if o.rows is Move.FIXED else float(block.rows)
    if o.slides and block.rows > 1:
        rows = (block.rows + TOGETHER - 1) / TOGETHER
    lanes = 1.0 if o.lanes is Move.FIXED else float(block.vectors)
    if o.overlaps:
        lanes = (block.vectors + TOGETHER - 1) / TOGETHER
    if o.lanes in (Move.FAR, Move.UNEVEN):
        lanes *= 8
    elif o.lanes is Move.REPEATED:
        lanes *= 2  # it is spread, too
    return rows * lanes

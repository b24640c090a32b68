"""Movements between registers, in a normal form, and the chains of instructions that do them.

A movement says for some registers which units of others they are made of:

    2 registers of 8 f32 each hold the even and the odd elements of 2 others:
    Movement(32, 8, 2, ((0, 2, .., 14), (1, 3, .., 15)))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hbc.ir.ground.record import record

ANY = -1  # a unit of which nothing is wanted
WIDEST_UNIT = 64  # bits; none moves more at a time within a block

Row = tuple[int, ...]
"""For each unit of a register the one that comes there: `source * lanes + place`, or ANY."""


@record
class Movement:
    """`rows` of `sources` registers, each of `lanes` units of `bits` bits."""

    bits: int
    lanes: int
    sources: int
    rows: tuple[Row, ...]


@record
class Step:
    """One instruction: `row` counts through its operands, which are values: the sources, then what
    the steps before it made. `text` is its C, with operands `{u}` to `{x}`, registers of integers."""

    operands: tuple[int, ...]
    row: Row
    text: str


@record
class Chain:
    """Instructions that do a movement. `outputs`: which value each row is."""

    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    @property
    def cost(self) -> int:
        return len(self.steps)


def coarse(m: Movement) -> Movement:
    """The same movement in the longest units that stay together."""
    found = m
    while found.bits < WIDEST_UNIT and found.lanes > 2:
        rows = [paired(row) for row in found.rows]
        whole = tuple(row for row in rows if row is not None)
        if len(whole) < len(rows):
            break
        found = Movement(found.bits * 2, found.lanes // 2, found.sources, whole)
    return found


def paired(row: Row) -> Row | None:
    """In units of twice the size, where neighbours stay neighbours."""
    made = []
    for low, high in zip(row[::2], row[1::2], strict=True):
        first = low if low != ANY else high - 1 if high != ANY else ANY
        if first != ANY and (first % 2 or high not in (ANY, first + 1)):
            return None
        made.append(first // 2 if first != ANY else ANY)
    return tuple(made)


def fine(row: Row, times: int) -> Row:
    """A row in units so many times shorter."""
    return tuple(u * times + i if u != ANY else ANY for u in row for i in range(times))


def parts(rows: Sequence[Row], lanes: int) -> Iterator[tuple[list[int], list[int]]]:
    """Sources, and the rows made of them, that have nothing to do with the others. Sources come in the
    order in which the rows want them."""
    left = list(range(len(rows)))
    wanted = [{u // lanes for u in row if u != ANY} for row in rows]
    while left:
        members, some = [left[0]], set(wanted[left[0]])
        while more := [n for n in left if n not in members and wanted[n] & some]:
            members += more
            some |= set().union(*(wanted[n] for n in more))
        left = [n for n in left if n not in members]
        members.sort()
        yield sorted(some), members


def renumbered(row: Row, sources: Sequence[int], lanes: int) -> Row:
    """The row with these sources numbered from 0."""
    place = {source: n for n, source in enumerate(sources)}
    return tuple(place[u // lanes] * lanes + u % lanes if u != ANY else ANY for u in row)


def done(chain: Chain, m: Movement) -> list[Row]:
    """What the chain's outputs hold, each step executed."""
    values: list[Row] = [tuple(range(s * m.lanes, (s + 1) * m.lanes)) for s in range(m.sources)]
    for step in chain.steps:
        both = [u for operand in step.operands for u in values[operand]]
        values.append(tuple(both[u] if u != ANY else ANY for u in step.row))
    return [values[value] for value in chain.outputs]


def does(chain: Chain, m: Movement) -> bool:
    """Whether the chain does the movement."""
    return all(
        wanted in (ANY, have)
        for row, made in zip(m.rows, done(chain, m), strict=True)
        for wanted, have in zip(row, made, strict=True)
    )

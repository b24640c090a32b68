"""Blocks of a product by groups of warps, which read their factors where they lie in shared memory: groups,
the columns of an instruction, stages; and their cycles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from hbc.frontend.automatic_gpu.device import (
    ARRIVES_IN_BULK,
    BULK_BYTES,
    PROCESSORS,
    SHARED_BYTES,
    SHARED_OF_GROUPS,
    WARP,
    Held,
)
from hbc.frontend.automatic_gpu.products import Product
from hbc.frontend.automatic_gpu.traffic import by_elements, ends, waiting, with_traffic
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph
from hbc.ir.ground.record import record
from hbc.ir.lang.types import FRAGMENT_LANES

GROUPS = (1, 2, 4)
STAGES = (4, 6, 8, 3)
ROW_BYTES = 128  # of what a copy brings at a time, along the sum: a row of shared memory
OWN_REGISTERS = 48
LANDING = 1000.0  # cycles from asking for a box to the product that reads it, besides its own
LANDED = 64.0  # bytes of a box that land in a cycle then
LEAST_TURN = 300.0  # cycles of a turn with a barrier and products that others wait for
OWN = 40.0  # of a turn in which no group multiplies
SLOWED = 0.22  # of the rate of products, where all multiprocessors have some: the clock falls


@record
class GroupBlock:
    """`groups` of warps below each other, each with the rows and columns of the instruction `dot`; `depth`
    steps of the sum that are copied at a time; `stages` of these copies."""

    groups: int
    dot: Dot
    depth: int
    stages: int

    @property
    def rows(self) -> int:
        return self.groups * self.dot.rows

    @property
    def columns(self) -> int:
        return self.dot.columns

    @property
    def threads(self) -> int:
        assert self.dot.tile is not None
        return self.groups * FRAGMENT_LANES[self.dot.tile]


def group_option(b: GroupBlock) -> tuple[int, ...]:
    """As JSON has it."""
    return b.groups, b.columns, b.depth, b.stages


def group_dots(graph: Graph, p: Product, dots: Iterable[Dot]) -> list[Dot]:
    """The instructions of groups for the types of a product, whose copies are of whole matrices."""
    sums = graph.funcs[p.sums].element
    types = (p.a.type.element, p.b.type.element)
    if p.rounds:
        return []
    return [
        d for d in dots
        if d.tile is not None and FRAGMENT_LANES.get(d.tile, 0) > WARP
        and d.sum == sums and d.factors == types
    ]  # fmt: skip


def ranked_groups(p: Product, dots: Iterable[Dot]) -> list[tuple[float, GroupBlock]]:
    """Those that fit, with their cycles, the fewest first; of equal ones the widest."""
    wide = sorted(dots, key=lambda d: -d.columns)
    fitting = [(group_cycles(p, b), b) for d in wide for b in _all(d)]
    return sorted((x for x in fitting if x[0] < math.inf), key=lambda x: x[0])


def _all(d: Dot) -> Iterator[GroupBlock]:
    depth = ROW_BYTES // d.factors[0].bytes
    return (GroupBlock(groups, d, depth, stages) for groups in GROUPS for stages in STAGES)


def group_held(p: Product, b: GroupBlock, registers: int | None = None) -> Held:
    """What a block keeps of a multiprocessor."""
    sums = b.dot.rows * b.columns // (b.threads // b.groups)
    return Held(
        b.threads, registers or sums + OWN_REGISTERS, b.stages * _slot(p, b), SHARED_OF_GROUPS
    )


def _slot(p: Product, b: GroupBlock) -> int:
    return b.depth * (b.rows * p.a.type.element.bytes + b.columns * p.b.type.element.bytes)


def group_cycles(p: Product, b: GroupBlock, registers: int | None = None) -> float:
    """Of the whole product; infinite where a block does not fit."""
    at_once = group_held(p, b, registers).blocks
    if at_once == 0:
        return math.inf
    count = math.prod(p.extents[v] for v in p.outer)
    count *= -(-p.extents[p.rows] // b.rows) * -(-p.extents[p.columns] // b.columns)
    turns = -(-p.extents[p.deep] // b.depth) * math.prod(p.extents[t] for t in p.taps)
    full, rest = divmod(-(-count // PROCESSORS), at_once)
    busy = min(count, PROCESSORS)
    total = sum(
        times * (turns * _turn(p, b, n, busy) + ends(n * b.rows * b.columns))
        for times, n in ((full, at_once), (1, rest)) if times and n
    )  # fmt: skip
    return with_traffic(p, total)


def _turn(p: Product, b: GroupBlock, at_once: int, busy: int) -> float:
    """Of the loop over copies, for so many blocks side by side on so many multiprocessors."""
    steps = b.depth // b.dot.depth
    tensor = at_once * b.groups * steps / b.dot.per_cycle * (1 + SLOWED * busy / PROCESSORS)
    sizes = p.a.type.element.bytes, p.b.type.element.bytes
    read = at_once * b.groups * b.depth * (b.dot.rows * sizes[0] + b.columns * sizes[1])
    copied = at_once * _slot(p, b)
    arrives = min(ARRIVES_IN_BULK, BULK_BYTES / busy)
    waits = waiting(LANDING + copied / LANDED, b.stages, -(-p.extents[p.deep] // b.depth))
    if not p.aligned:
        waits += by_elements(_slot(p, b) // min(sizes), b.threads)
    return max(tensor + OWN, (read + copied) / SHARED_BYTES, copied / arrives, waits, LEAST_TURN)

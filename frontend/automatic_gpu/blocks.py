"""Blocks of a product on tensor cores: tiles of warps, steps copied at a time, stages; and their cycles."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hbc.frontend.automatic_gpu.device import (
    CACHE_BYTES,
    LATENCY,
    PROCESSORS,
    QUARTERS,
    SHARED_BYTES,
    TURN,
    WARP,
    Held,
)  # fmt: skip
from hbc.frontend.automatic_gpu.products import Product
from hbc.frontend.automatic_gpu.traffic import by_elements, ends, waiting, with_traffic
from hbc.frontend.costs.dot import Dot
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.record import record

WARP_TILES = ((64, 64), (64, 32), (32, 64), (64, 16), (32, 32), (32, 16), (16, 32), (16, 16))
WARPS = ((2, 2), (2, 4), (4, 2), (1, 4), (4, 1), (1, 2), (2, 1))
DEPTHS, STAGES = (2, 4), (3, 2, 4)
OWN_REGISTERS = 64  # for addresses, and what is between


@record
class Block:
    """`tile`: rows and columns of the sums of a warp; `warps`: down and across; `depth`: steps of the sum
    that are copied at a time; `stages` of these copies; `beside`: values of another variable, a warp each."""

    tile: tuple[int, int]
    warps: tuple[int, int]
    depth: int
    stages: int
    beside: int = 1

    @property
    def rows(self) -> int:
        return self.tile[0] * self.warps[0]

    @property
    def columns(self) -> int:
        return self.tile[1] * self.warps[1]

    @property
    def warp_count(self) -> int:
        return self.warps[0] * self.warps[1] * self.beside

    @property
    def threads(self) -> int:
        return self.warp_count * WARP


def option(b: Block) -> tuple[int, ...]:
    """As JSON has it."""
    return (*b.tile, *b.warps, b.depth, b.stages, b.beside)


def ranked(p: Product, within: tuple[str, ...]) -> list[tuple[float, Block]]:
    """Those that fit, with their cycles, the fewest first. `within`: the taps that one copy is for."""
    fitting = [(cycles(p, b, within), b) for b in _all(p)]
    return sorted((x for x in fitting if x[0] < math.inf), key=lambda x: x[0])


def _all(p: Product) -> Iterator[Block]:
    assert p.dot is not None
    for tile in WARP_TILES:
        for warps in WARPS:
            for depth in DEPTHS if p.extents[p.deep] > p.dot.depth else (1,):
                for stages in STAGES:
                    whole = Block(tile, warps, depth * p.dot.depth, stages)
                    if p.beside is None:
                        yield whole
                    elif warps[0] == 1:
                        yield from (
                            Block(tile, (1, w), depth * p.dot.depth, stages, n)
                            for n, w in ((4, 1), (2, 2), (2, 1), (8, 1)) if w == warps[1] % 4 or n > 2
                        )  # fmt: skip


def reach(p: Product, b: Block, within: tuple[str, ...]) -> int:
    """Rows of `a` that a block copies for a step of the sum: with windows, of all the taps in them."""
    count = 1
    for index in p.a.indices:
        span = 1
        for v, n in ((p.rows, b.rows), (p.beside, b.beside), *((t, p.extents[t]) for t in within)):
            if v is not None:
                span += abs(coefficient(linear(index), v)) * (n - 1)
        count *= span
    return count


def held(p: Product, b: Block, within: tuple[str, ...], registers: int | None = None) -> Held:
    """What a block keeps of a multiprocessor. `registers`: of a thread, where they are known."""
    assert p.dot is not None
    words = p.dot.sum.bytes / 4
    sums = int(b.tile[0] * b.tile[1] / WARP * words)
    operands = (b.tile[0] + b.tile[1]) // 4
    shared = b.stages * slot(p, b, within)
    return Held(b.threads, registers or sums + operands + OWN_REGISTERS, shared)


def slot(p: Product, b: Block, within: tuple[str, ...]) -> int:
    """Bytes that one stage of the copies takes."""
    taps = math.prod(p.extents[t] for t in within)
    of_a = reach(p, b, within) * b.depth * p.a.type.element.bytes
    return of_a + taps * b.columns * b.depth * p.b.type.element.bytes


def cycles(
    p: Product, b: Block, within: tuple[str, ...], registers: int | None = None
) -> float:  # fmt: skip
    """Of the whole product; infinite where a block does not fit."""
    at_once = held(p, b, within, registers).blocks
    if at_once == 0:
        return math.inf
    count = math.prod(p.extents[v] for v in p.outer)
    beside = 1 if p.beside is None else p.extents[p.beside]
    pieces = (p.extents[p.rows], b.rows), (p.extents[p.columns], b.columns), (beside, b.beside)
    count *= math.prod(-(-extent // size) for extent, size in pieces)
    steps = -(-p.extents[p.deep] // b.depth)
    taps = math.prod(p.extents[t] for t in within)
    turns = steps * math.prod(p.extents[t] for t in p.taps if t not in within)
    own = -(-count // PROCESSORS)  # blocks of the multiprocessor that has most
    full, rest = divmod(own, at_once)
    total = sum(
        times * (turns * _turn(p, b, within, n, taps) + ends(n * b.rows * b.columns * b.beside))
        for times, n in ((full, at_once), (1, rest)) if times and n
    )  # fmt: skip
    return with_traffic(p, total)


def _turn(p: Product, b: Block, within: tuple[str, ...], at_once: int, taps: int) -> float:
    """Cycles of a turn of the loop over copies, for so many blocks side by side."""
    dot: Dot | None = p.dot
    assert dot is not None
    rows, columns = b.tile
    pieces = rows // dot.rows * columns // dot.columns * (b.depth // dot.depth) * taps
    warps = b.warp_count * at_once
    busy = min(warps, QUARTERS)
    tensor = warps * pieces / dot.per_cycle / busy
    bytes_a, bytes_b = p.a.type.element.bytes, p.b.type.element.bytes
    read = warps * taps * b.depth * (rows * bytes_a + columns * bytes_b) / SHARED_BYTES
    copied = at_once * slot(p, b, within)
    arrive = copied / CACHE_BYTES
    write = copied / SHARED_BYTES
    own = warps / busy * TURN
    waits = waiting(LATENCY, b.stages, -(-p.extents[p.deep] // b.depth))
    if not p.aligned:
        waits += by_elements(slot(p, b, within) // min(bytes_a, bytes_b), b.threads)
    return max(tensor + own, read + write, arrive, waits)

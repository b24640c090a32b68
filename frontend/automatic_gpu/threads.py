"""Sums of products without tensor cores: threads that have tiles of them in registers, from shared memory."""

from __future__ import annotations

import math

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.device import (
    CACHE_BYTES,
    LATENCY,
    LAUNCH,
    PROCESSORS,
    SHARED_BYTES,
    TURN,
    Held,
)
from hbc.frontend.automatic_gpu.grids import one_grid
from hbc.frontend.automatic_gpu.product_lines import holder_of, staged
from hbc.frontend.automatic_gpu.products import Product
from hbc.frontend.costs.graph import Graph
from hbc.frontend.costs.moves import Move, move
from hbc.ir.ground.record import record

TILES = ((8, 4), (4, 4), (2, 4), (1, 4))
SIDES = ((16, 16), (8, 16), (8, 8), (4, 16), (4, 8))
DEPTH, STAGES = 16, 3
LANES = 128  # multiply-adds that a multiprocessor does in a cycle
OWN_REGISTERS = 40


@record
class ThreadBlock:
    """`tile`: rows and columns of the sums of a thread; `threads`: down and across."""

    tile: tuple[int, int]
    threads: tuple[int, int]

    @property
    def rows(self) -> int:
        return self.tile[0] * self.threads[0]

    @property
    def columns(self) -> int:
        return self.tile[1] * self.threads[1]

    @property
    def count(self) -> int:
        return self.threads[0] * self.threads[1]


def thread_option(b: ThreadBlock) -> tuple[int, ...]:
    """As JSON has it."""
    return (*b.tile, *b.threads)


def ranked_threads(p: Product) -> list[tuple[float, ThreadBlock]]:
    """Those that fit, with their cycles, the fewest first."""
    fitting = [(thread_cycles(p, b), b) for t in TILES for s in SIDES for b in (ThreadBlock(t, s),)]
    return sorted((x for x in fitting if x[0] < math.inf), key=lambda x: x[0])


def thread_cycles(p: Product, b: ThreadBlock, registers: int | None = None) -> float:
    """Of the whole product; infinite where a block does not fit. `registers`: of a thread, where known."""
    sizes = p.a.type.element.bytes, p.b.type.element.bytes
    slot = DEPTH * (b.rows * sizes[0] + b.columns * sizes[1])
    rows, columns = b.tile
    needs = registers or rows * columns + rows + columns + OWN_REGISTERS
    held = Held(b.count, needs, STAGES * slot).blocks
    if held == 0:
        return math.inf
    count = math.prod(p.extents[v] for v in p.step.pure if v not in (p.rows, p.columns))
    count *= -(-p.extents[p.rows] // b.rows) * -(-p.extents[p.columns] // b.columns)
    turns = -(-p.extents[p.deep] // DEPTH) * math.prod(p.extents[t] for t in p.taps)
    full, rest = divmod(-(-count // PROCESSORS), held)
    total = LAUNCH
    for times, n in ((full, held), (min(rest, 1), rest)):
        if not times:
            continue
        sums = n * b.rows * b.columns * DEPTH / min(LANES, n * b.count)
        read = n * b.count * DEPTH * (rows + columns) * 4 / SHARED_BYTES / 4
        turn = max(sums + TURN, read, n * slot / CACHE_BYTES, LATENCY / (STAGES - 1))
        total += times * (turns * turn + LATENCY)
    return total


def thread_lines(graph: Graph, p: Product, b: ThreadBlock, own: list[str]) -> list[Line]:
    """`own`: what the holder's first line begins with."""
    name = holder_of(graph, p)
    outer = [v for v in p.step.pure if v not in (p.rows, p.columns)]
    marked, cut, level = _holder(graph, p, b, outer)
    (_, rt, rv), (_, ct, cv) = (_names(graph, v) for v in (p.rows, p.columns))
    tile = call("tile", [p.rows, p.columns, rt, ct, rv, cv, *b.tile])
    threads = call("gpu_threads", [rt, ct])
    marks = (threads, call("unroll", [rv]), call("unroll", [cv]))
    ordered = [call("reorder", [*outer, rt, ct, rv, cv])] if outer else []
    ko, ki = graph.name(p.deep, "o"), graph.name(p.deep, "i")
    order = [*outer, *(t for t in p.taps), ko, rt, ct, ki, rv, cv]
    update = f"{p.sums}.update"
    lines = [
        Line(name, (*own, *cut)), Line(name, tuple(marked)),
        Line(p.sums, (f"compute_at({name}, {level})", "store_in(registers)")),
        Line(p.sums, (tile, *ordered, *marks)),
        Line(update, (call("split", [p.deep, ko, ki, DEPTH]), tile, call("reorder", order))),
        Line(update, (*marks, call("pipeline", [ko, STAGES]))),
    ]  # fmt: skip
    for a in (p.a, p.b):
        stage, names = staged(graph, p, a)
        place = [f"compute_at({update}, {ko})", "store_in(shared)"]
        if any(move(a, v) is Move.NEXT for v in (p.deep, p.rows, p.columns)):
            place.append(call("vectorize", [names[-1], 16 // a.type.element.bytes]))
        lines.append(Line(stage, tuple(place)))
    return lines


def _names(graph: Graph, v: str) -> tuple[str, str, str]:
    return graph.name(v, "i"), graph.name(v, "t"), graph.name(v, "v")


def _holder(
    graph: Graph, p: Product, b: ThreadBlock, outer: list[str]
) -> tuple[list[str], list[str], str]:
    """Directives of the holder: its blocks, its splits; and the innermost loop over blocks."""
    rows, columns = p.names[p.rows], p.names[p.columns]
    (ri, rt, rv), (ci, ct, cv) = (_names(graph, v) for v in (rows, columns))
    ro, co = graph.name(rows, "o"), graph.name(columns, "o")
    cut = [
        call("tile", [rows, columns, ro, co, ri, ci, b.rows, b.columns]),
        call("tile", [ri, ci, rt, ct, rv, cv, *b.tile]),
    ]
    blocks, level = [ro, co], co
    if outer:
        blocks = [*(p.names[v] for v in outer), *blocks]
        order = call("reorder", [*blocks, rt, ct, rv, cv])
        fused, level = one_grid(graph, blocks)
        cut, blocks = [*cut, order, *fused], [level]
    last = graph.funcs[p.holder or p.sums].variables[-1]
    wide = call("vectorize" if columns == last else "unroll", [cv])
    marks = [call("gpu_blocks", blocks), call("gpu_threads", [rt, ct]), call("unroll", [rv]), wide]
    return marks, cut, level

"""Sums in tiles: blocks of 2 x 2 of them, as deep as the instruction goes."""

from __future__ import annotations

from math import prod

from hbc.frontend.automatic.sums import extent_of
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.dots import deep_loop, dot_for, factors_of, windows
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.frontend.program.constants import evaluate
from hbc.ir.ground.record import record
from hbc.ir.lang.show import show

SIDE = 2  # tiles of sums along rows and along columns: four of the eight, the others are operands
# What fits into eight tiles with its operands, one of the longer side at a time.
SIDES = ((2, 2), (1, 3), (3, 1), (1, 4), (4, 1), (1, 2), (2, 1), (1, 1))
DEEPER = 64  # taps of a convolution in one product
GROUP = 1 << 20  # bytes of columns that stay in the second cache while all rows pass by


@record
class Tiles:
    """`down` by `across` tiles of sums; without rows (`down` 0) a tile is a piece of one row, as a
    convolution along it wants. `group`: so many blocks of columns see all rows before the next ones
    do (0: all)."""

    dot: Dot
    down: int
    across: int
    group: int = 0


def tiles_for(
    graph: Graph, sums: str, rows: str | None, lanes: str | None, extents: dict[str, int]
) -> Tiles | None:
    """Tiles for all updates of a Func, if instructions do them."""
    dot: Dot | None = None
    slides = False
    for s in graph.steps[sums]:
        if s.update is None:
            continue
        found = dot_for(graph, s, graph.dots, True)
        deep, factors = deep_loop(graph, s), factors_of(graph, s)
        if found is None or deep is None or factors is None or lanes is None:
            return None
        if dot is not None and dot.rows != found.rows:
            return None
        dot = found
        slides = slides or windows(s, lanes, deep, factors)
    if dot is None:
        return None
    if slides:
        return Tiles(dot, 0, dot.rows)
    if rows is None:
        return None
    down = min(SIDE, -(-extents[rows] // dot.rows))
    across = min(SIDE, -(-extents[lanes or ""] // dot.columns))
    most = -(-extents[rows] // dot.rows), -(-extents[lanes or ""] // dot.columns)
    others = [s for s in SIDES if s[0] <= most[0] and s[1] <= most[1]]
    down, across = graph.choices.pick(f"{sums}.tiles", (down, across), others)
    assert lanes is not None
    group = _group(graph, sums, rows, lanes, across * dot.columns) if len(extents) == 2 else 0
    return Tiles(dot, down, across, group)


def _group(graph: Graph, sums: str, rows: str, lanes: str, wide: int) -> int:
    """How many blocks of `wide` columns stay in the second cache with all that they are multiplied by;
    0 where all of them do, or where no operand is the same for all rows."""
    panel = blocks = 0
    for s in graph.steps[sums]:
        known = graph.known(s, graph.box(s.func))
        for a in s.reads if s.update is not None else ():
            if move(a, rows) is not Move.FIXED or move(a, lanes) is Move.FIXED:
                continue
            deep = (length(known[r]) for r in s.reduce if move(a, r) is not Move.FIXED)
            panel += prod(deep) * wide * a.type.element.bytes
            blocks = -(-length(known[lanes]) // wide)
    if panel * blocks <= GROUP:
        return 0
    return 1 << max(GROUP // panel, 1).bit_length() - 1


def block_lines(
    graph: Graph, name: str, tiles: Tiles, rows: str | None, lanes: str, order: list[str], place: list[str],
    tails: tuple[str, str],
) -> list[Line]:  # fmt: skip
    """The Func that the sums are for: blocks of tiles."""
    lo, lb, lt, li = (graph.name(lanes, x) for x in "obti")
    if tiles.down == 0:
        wide, narrow = tiles.dot.rows * tiles.dot.columns, tiles.dot.columns
        plain = (call("split", [lanes, lo, li, narrow], "shift"), call("vectorize", [li]))
        parallel = (call("parallel", [order[0]]),) if order and order[0] != lanes else ()
        extent = graph.pipeline.output_funcs[name].extents[-1]
        special = f"specialize({show(extent)} >= {wide})"
        split = call("split", [lanes, lo, li, wide], "shift")
        return [
            Line(name, (*place, special, split, call("vectorize", [li]), *parallel)),
            Line(name, (*plain, *parallel)),
        ]
    assert rows is not None
    ro, rb, rt, ri = (graph.name(rows, x) for x in "obti")
    dot = tiles.dot
    high, wide = tiles.down * dot.rows, tiles.across * dot.columns
    outer = [v for v in order if v not in (rows, lanes)]
    loops = [*outer, ro, lo, rt, lt, ri, li]
    grouped: tuple[str, ...] = ()
    if tiles.group:
        lg = graph.name(lanes, "g")
        grouped = (call("split", [lo, lg, lo, tiles.group]),)
        loops = [lg, *loops]
    lines = (
        *place,
        call("split", [rows, ro, rb, high], tails[0]), call("split", [lanes, lo, lb, wide], tails[1]),
        *grouped,
        call("tile", [rb, lb, rt, lt, ri, li, dot.rows, dot.columns]), call("reorder", loops),
        call("unroll", [rt]), call("unroll", [lt]), call("vectorize", [ri]), call("vectorize", [li]),
    )  # fmt: skip
    return [Line(name, (*lines, call("parallel", [outer[0] if outer else ro])))]


def sum_lines(
    graph: Graph, name: str, tiles: Tiles, rows: str | None, lanes: str, place: list[str]
) -> list[Line]:
    """The sums themselves."""
    kept = (*place, "store_in(amx_tile)")
    if tiles.down == 0:
        lines = [Line(name, (*kept, call("vectorize", [lanes])))]
        for s in graph.steps[name]:
            if s.update is not None:
                lines += _row_update(graph, s, lanes, tiles.dot)
        return lines
    assert rows is not None
    rt, lt, ri, li = (graph.name(v, x) for x in "ti" for v in (rows, lanes))
    tile = call("tile", [rows, lanes, rt, lt, ri, li, tiles.dot.rows, tiles.dot.columns])
    marks = [call("unroll", [rt]), call("unroll", [lt])]
    lanes_of = [call("vectorize", [ri]), call("vectorize", [li])]
    lines = [Line(name, (*kept, tile, *marks, *lanes_of))]
    for s in graph.steps[name]:
        if s.update is None:
            continue
        deep = deep_loop(graph, s)
        assert deep is not None
        others = [r for r in s.reduce if r != deep]
        outer = [v for v in s.pure if v not in (rows, lanes)]
        do, di = graph.name(deep, "o"), graph.name(deep, "i")
        whole = evaluate(extent_of(graph, s, deep))
        if whole is not None and int(whole) <= tiles.dot.depth:
            order = call("reorder", [*outer, *others, rt, lt, ri, li, deep])
            lines.append(Line(s.text, (tile, order)))
            di = deep
        else:
            order = call("reorder", [*outer, *others, do, rt, lt, ri, li, di])
            lines.append(
                Line(s.text, (call("split", [deep, do, di, tiles.dot.depth]), tile, order))
            )
        lines.append(Line(s.text, (*marks, "atomic()", *lanes_of, call("vectorize", [di]))))
    return lines


def _row_update(graph: Graph, s: Step, lanes: str, dot: Dot) -> list[Line]:
    """A convolution along the lanes: the taps are a banded matrix."""
    deep = deep_loop(graph, s)
    assert deep is not None
    extent = extent_of(graph, s, deep)
    do, di = graph.name(deep, "o"), graph.name(deep, "i")
    outer = [v for v in s.pure if v != lanes]
    others = [r for r in s.reduce if r != deep]

    def chain(depth: int) -> tuple[str, ...]:
        return (
            call("split", [deep, do, di, depth]), call("reorder", [*outer, *others, do, lanes, di]),
            "atomic()", call("vectorize", [lanes]), call("vectorize", [di]),
        )  # fmt: skip

    lines = []
    known = length(graph.known(s, graph.box(s.func))[deep])
    if evaluate(extent) is None and known >= DEEPER:
        lines.append(Line(s.text, (f"specialize({show(extent)} % {DEEPER} == 0)", *chain(DEEPER))))
    return [*lines, Line(s.text, chain(DEEPER // 2))]

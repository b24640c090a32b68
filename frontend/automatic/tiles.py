"""Sums in tiles: blocks of as many of them as there are registers for, as deep as the instruction goes."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, prod

from hbc.frontend.automatic.merged import Merged, copy_lines, merged
from hbc.frontend.automatic.sums import extent_of
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.dots import deep_loop, dot_for, factors_of, windows
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.machine import Machine
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import Span, index_span, length
from hbc.frontend.costs.tile_blocks import (
    LINE,
    TileBlock,
    TileCosts,
    TileSides,
    ranked_tile_blocks,
    tile_costs,
)
from hbc.frontend.program.constants import evaluate
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show

# Taps of a convolution along a row that come together where there are so many, as the banded matrix that they
# are; and rows of the image for which that is loaded once. A Xeon with AMX does 256 taps in 0.8 of the time.
TAPS = (256, 64)
BANDED_ROWS = 2
LEAST_TAPS = (32, 16)  # of them otherwise
KEPT_BITS = 32  # of neighbouring steps that a tile keeps together
WORTH = 2.0  # times as fast by the model is what a copy of an operand is made for
GROUP = 1 << 20  # bytes of columns that stay in the second cache while all rows pass by


@record
class Tiles:
    """Tiles of sums in `block`; without one a tile is a piece of one row, as a convolution along it wants.
    `beside`: the variable with a tile at each of several values; `panels`: blocks of columns outermost;
    `group`: so many blocks of columns see all rows before the next ones do (0: all); `merged`: reductions
    that are one loop; `cycles`: of all blocks by the model of these."""

    dot: Dot
    block: TileBlock | None
    beside: str | None = None
    panels: bool = False
    group: int = 0
    merged: Merged | None = None
    cycles: float = 0.0


def tiles_for(
    graph: Graph, machine: Machine, sums: str, rows: str | None, lanes: str | None,
    extents: dict[str, int],
) -> Tiles | None:  # fmt: skip
    """Tiles for all updates of a Func, if instructions do them."""
    main: tuple[int, Step, Dot] | None = None
    slides = False
    for s in graph.steps[sums]:
        if s.update is None:
            continue
        found = dot_for(graph, s, graph.dots, True)
        deep, factors = deep_loop(graph, s), factors_of(graph, s)
        if found is None or deep is None or factors is None or lanes is None:
            return None
        if main is not None and main[2].rows != found.rows:
            return None
        work = graph.iterations(s, graph.box(sums))
        if main is None or work > main[0]:
            main = work, s, found
        slides = slides or windows(s, lanes, deep, factors, strided=True)
    if main is None or lanes is None:
        return None
    _, step, dot = main
    if slides:
        return Tiles(dot, None)
    if rows is None:
        return None
    beside = _beside(graph, step, rows, lanes, extents)
    costs = tile_costs(machine, dot)
    fused = _merged(graph, costs, sums, step, dot, rows, lanes, beside, extents)
    ranked = ranked_tile_blocks(
        _sides(graph, step, dot, rows, lanes, beside, extents, fused), costs
    )
    each = [(b.high, b.down, b.beside, b.across) for b in (c.block for c in ranked)]
    usual = each[0]
    if len(extents) == 2:  # matrices: measured with 2 x 2 tiles, whose operands stream alike
        usual = next((e for e in each if e[1] == e[3] == 2 and e[0] == dot.rows), usual)
    others = [e for e in each if e != usual]
    wanted = graph.choices.pick(f"{sums}.tiles", usual, others)
    best = ranked[each.index(wanted)]
    beside = beside if best.block.beside > 1 else None
    wide = best.block.across * dot.columns
    group = _group(graph, sums, rows, lanes, wide) if len(extents) == 2 else 0
    return Tiles(dot, best.block, beside, best.panels, group, fused, best.cycles)


def _merged(
    graph: Graph, costs: TileCosts, sums: str, s: Step, dot: Dot, rows: str, lanes: str,
    beside: str | None, extents: dict[str, int],
) -> Merged | None:  # fmt: skip
    """Reductions that are one loop, where that is much faster, with the copy."""
    deep = deep_loop(graph, s)
    fused = None if deep is None else merged(graph, s, deep, lanes, dot.depth)
    if fused is None or len([x for x in graph.steps[sums] if x.update is not None]) > 1:
        return None
    plain, together = (
        ranked_tile_blocks(_sides(graph, s, dot, rows, lanes, beside, extents, m), costs)[0].cycles
        for m in (None, fused)
    )
    usual = WORTH * (together + fused.cycles) < plain
    return fused if graph.choices.pick(f"{s.text}.merged", usual, (not usual,)) else None


def _group(graph: Graph, sums: str, rows: str, lanes: str, wide: int) -> int:
    """How many blocks of `wide` columns stay in the second cache with all that they are multiplied by;
    0 where all of them do, or where no operand is the same for all rows."""
    panel = blocks = 0
    for s in graph.steps[sums]:
        spans = graph.known(s, graph.box(s.func))
        for a in s.reads if s.update is not None else ():
            if move(a, rows) is not Move.FIXED or move(a, lanes) is Move.FIXED:
                continue
            deep = (length(spans[r]) for r in s.reduce if move(a, r) is not Move.FIXED)
            panel += prod(deep) * wide * a.type.element.bytes
            blocks = -(-length(spans[lanes]) // wide)
    if panel * blocks <= GROUP:
        return 0
    return 1 << max(GROUP // panel, 1).bit_length() - 1


def _beside(graph: Graph, s: Step, rows: str, lanes: str, extents: dict[str, int]) -> str | None:
    """Another variable for whose values the operand of the columns is the same, the innermost."""
    wide = [a for a in factors_of(graph, s) or () if move(a, lanes) is not Move.FIXED]
    for v in reversed(s.pure):
        if (
            v not in (rows, lanes)
            and extents[v] > 1
            and all(move(a, v) is Move.FIXED for a in wide)
        ):
            return v
    return None


def _sides(
    graph: Graph, s: Step, dot: Dot, rows: str, lanes: str, beside: str | None, extents: dict[str, int],
    fused: Merged | None,
) -> TileSides:  # fmt: skip
    spans = graph.known(s, graph.box(s.func))
    deep, factors = deep_loop(graph, s), factors_of(graph, s)
    assert deep is not None and factors is not None
    depth = depth_of(graph, s, deep, dot, fused)
    steps = -(-typical_steps(graph, s, deep, fused) // depth)
    for r in s.reduce:
        steps *= 1 if r == deep or (fused is not None and r == fused.outer) else length(spans[r])
    columns = [a for a in factors if move(a, lanes) is not Move.FIXED]
    others = [a for a in factors if a not in columns]

    def size(accesses: list[ir.Access], spans: dict[str, Span]) -> int:
        return sum(_bytes(graph, a, spans) for a in accesses)

    first = {v: span for v, span in spans.items() if v not in s.pure or v in (rows, lanes)}
    first |= {v: (spans[v][0], spans[v][0]) for v in s.pure if v not in first}
    two = first if beside is None else {**first, beside: (spans[beside][0], spans[beside][0] + 1)}
    alone = size(others, first)
    element = factors[0].type.element.bytes
    pitch = length(spans[deep]) * element
    grouped = len(extents) == 2
    return TileSides(
        extents[rows], 1 if beside is None else extents[beside], extents[lanes], dot.rows, dot.columns,
        depth * element, gcd(pitch, depth * element, LINE), steps,
        min(size(columns, first), GROUP) if grouped else size(columns, first), alone,
        size(others, two) - alone, grouped or (fused is None and pitch % (depth * element) != 0),
        prod(extents.values()) * graph.funcs[s.func].element.bytes,
    )  # fmt: skip


def _bytes(graph: Graph, a: ir.Access, ranges: dict[str, Span]) -> int:
    """What an access reads in all of these spans."""
    spans = [index_span(i, ranges, graph.funcs) for i in a.indices]
    return prod(1 if s is None else length(s) for s in spans) * a.type.element.bytes


def typical_steps(graph: Graph, s: Step, deep: str, fused: Merged | None) -> int:
    """Steps of the loop that products are cut from."""
    spans = graph.known(s, graph.box(s.func))
    return length(spans[deep]) * (1 if fused is None else length(spans[fused.outer]))


def depth_of(graph: Graph, s: Step, deep: str, dot: Dot, fused: Merged | None) -> int:
    """Steps in one product: as many as the instruction takes, or fewer that make no more products of the
    reduction at its typical extent and leave nothing over."""
    typical = typical_steps(graph, s, deep, fused)
    products = -(-typical // dot.depth)
    even = -(-typical // products)
    return even if even * products == typical and even % group_of(dot) == 0 else dot.depth


def group_of(dot: Dot) -> int:
    """Neighbouring steps that lie together in a tile of columns."""
    return max(KEPT_BITS // dot.factors[0].bits, 1)


def block_lines(
    graph: Graph, name: str, tiles: Tiles, rows: str | None, lanes: str, beside: str | None, loops: list[str],
    place: list[str], tails: dict[str, str],
) -> list[Line]:  # fmt: skip
    """The Func that the sums are for: blocks of tiles. `loops`: those around the blocks, outermost first;
    `tails`: what becomes of the last block, by variable."""
    lo, lb, lt, li = (graph.name(lanes, x) for x in "obti")
    dot = tiles.dot
    if tiles.block is None:
        return [Line(name, (*place, *c)) for c in _banded(graph, name, dot, lanes, loops)]
    assert rows is not None
    block = tiles.block
    ro, rb, rt, ri = (graph.name(rows, x) for x in "obti")
    lines = [
        *place,
        call("split", [rows, ro, rb, block.rows], tails[rows]),
        call("split", [lanes, lo, lb, block.across * dot.columns], tails[lanes]),
    ]  # fmt: skip
    inside: list[str] = []
    if beside is not None:
        bo, bi = (graph.name(beside, x) for x in "oi")
        lines.append(call("split", [beside, bo, bi, block.beside], tails[beside]))
        inside.append(bi)
    around = loops
    if tiles.group:
        lg = graph.name(lanes, "g")
        lines.append(call("split", [lo, lg, lo, tiles.group]))
        around = [lg, *loops]
    lines += [
        call("tile", [rb, lb, rt, lt, ri, li, block.high, dot.columns]),
        call("reorder", [*around, *inside, rt, lt, ri, li]),
        *(call("unroll", [v]) for v in (*inside, rt, lt)),
        call("vectorize", [ri]), call("vectorize", [li]),
        call("parallel", [loops[0]]),
    ]  # fmt: skip
    return [Line(name, tuple(lines))]


def _banded(
    graph: Graph, name: str, dot: Dot, lanes: str, loops: list[str]
) -> Iterator[tuple[str, ...]]:
    """A convolution along the lanes: a tile is a piece of a row; of several rows, where there are."""
    variables, wide = graph.funcs[name].variables, dot.rows * dot.columns
    extents = [show(e) for e in graph.pipeline.output_funcs[name].extents]
    together = _together(graph, name, lanes)
    lo, li = graph.name(lanes, "o"), graph.name(lanes, "i")
    fits = f"{extents[-1]} >= {wide}"
    if len(together) == 1:
        parallel = (call("parallel", [loops[0]]),) if loops and loops[0] != lanes else ()
        for test, piece in ((fits, wide), ("", dot.columns)):
            special = (call("specialize", [test]),) if test else ()
            split = call("split", [lanes, lo, li, piece], "shift")
            yield (*special, split, call("vectorize", [li]), *parallel)
        return
    rows = together[0]
    ro, ri = graph.name(rows, "o"), graph.name(rows, "i")
    several = f"{fits} and {extents[-2]} >= {BANDED_ROWS}"
    outer = ro if variables[0] == rows else variables[0]
    for test, high, piece in (
        (several, BANDED_ROWS, wide), (fits, 1, wide), ("", 1, dot.columns)
    ):  # fmt: skip
        special = (call("specialize", [test]),) if test else ()
        cut = call("tile", [rows, lanes, ro, lo, ri, li, high, piece], "shift")
        marks = (call("vectorize", [ri]), call("vectorize", [li]), call("parallel", [outer]))
        yield (*special, cut, *marks)


def sum_lines(
    graph: Graph, name: str, tiles: Tiles, rows: str | None, lanes: str, place: list[str]
) -> list[Line]:
    """The sums themselves."""
    kept = (*place, "store_in(amx_tile)")
    updates = [s for s in graph.steps[name] if s.update is not None]
    if tiles.block is None:
        together = _together(graph, name, lanes)
        lines = [Line(name, (*kept, *(call("vectorize", [v]) for v in reversed(together))))]
        for s in updates:
            lines += _row_update(graph, s, together)
        return lines
    assert rows is not None
    rt, lt, ri, li = (graph.name(v, x) for x in "ti" for v in (rows, lanes))
    tile = call("tile", [rows, lanes, rt, lt, ri, li, tiles.block.high, tiles.dot.columns])
    beside = [] if tiles.beside is None else [tiles.beside]
    lanes_of = [call("vectorize", [ri]), call("vectorize", [li])]
    marks = [call("unroll", [v]) for v in (*beside, rt, lt)]
    outer = [v for v in graph.funcs[name].variables if v not in (rows, lanes, *beside)]
    order = [call("reorder", [*outer, *beside, rt, lt, ri, li])] if beside else []
    lines = [Line(name, (*kept, tile, *order, *marks, *lanes_of))]
    for s in updates:
        lines += _block_update(graph, s, tiles, rows, lanes)
    return lines


def _block_update(graph: Graph, s: Step, tiles: Tiles, rows: str, lanes: str) -> list[Line]:
    """The products of a block: all with the same tile of columns follow each other. What is left over of
    the steps at the typical extent has loops of its own, so that it is known how much it is."""
    assert tiles.block is not None
    deep = deep_loop(graph, s)
    assert deep is not None
    fused = tiles.merged
    rt, lt, ri, li = (graph.name(v, x) for x in "ti" for v in (rows, lanes))
    do, di = graph.name(deep, "o"), graph.name(deep, "i")
    beside = [] if tiles.beside is None else [tiles.beside]
    others = [r for r in s.reduce if r != deep]
    outer = [v for v in s.pure if v not in (rows, lanes, *beside)]
    tile = call("tile", [rows, lanes, rt, lt, ri, li, tiles.block.high, tiles.dot.columns])
    unrolled = [lt, *beside, rt]
    marks = (
        *(call("unroll", [v]) for v in unrolled),
        "atomic()",
        call("vectorize", [ri]),
        call("vectorize", [li]),
    )
    extent = extent_of(graph, s, deep)
    whole = evaluate(extent)
    if fused is None and whole is not None and int(whole) <= tiles.dot.depth:
        order = call("reorder", [*outer, *others, *unrolled, ri, li, deep])
        return [Line(s.text, (tile, order, *marks, call("vectorize", [deep])))]
    depth = depth_of(graph, s, deep, tiles.dot, fused)

    def chain(first: list[str], cut: str, around: list[str]) -> tuple[str, ...]:
        return (
            *first, call("split", [cut, do, di, depth]), tile,
            call("reorder", [*outer, *around, do, *unrolled, ri, li, di]), *marks,
            call("vectorize", [di]),
        )  # fmt: skip

    plain = Line(s.text, chain([], deep, others))
    typical = length(graph.known(s, graph.box(s.func))[deep])
    if fused is not None:
        f = graph.name(deep, "f")
        inside = [r for r in others if r != fused.outer]
        together = chain([call("fuse", [fused.outer, deep, f])], f, inside)
        condition = call("specialize", [f"{show(extent)} == {typical}"])
        lines = (
            [Line(s.text, together)]
            if whole is not None
            else [Line(s.text, (condition, *together)), plain]
        )
        return [*lines, *copy_lines(graph, s, fused)]
    if whole is None and typical % depth % group_of(tiles.dot) == 0:
        special = call("specialize", [f"{show(extent)} % {depth} == {typical % depth}"])
        return [Line(s.text, (special, *plain.directives)), plain]
    return [plain]


def _together(graph: Graph, name: str, lanes: str) -> tuple[str, ...]:
    """The variables of a banded tile, outermost first: the lanes and, where there is one, that of rows."""
    variables = graph.funcs[name].variables
    return variables[-2:] if variables[-1] == lanes else (lanes,)


def _row_update(graph: Graph, s: Step, together: tuple[str, ...]) -> list[Line]:
    """A convolution along the lanes: the taps are a banded matrix."""
    deep = deep_loop(graph, s)
    assert deep is not None
    extent = extent_of(graph, s, deep)
    do, di = graph.name(deep, "o"), graph.name(deep, "i")
    outer = [v for v in s.pure if v not in together]
    others = [r for r in s.reduce if r != deep]

    def chain(depth: int) -> tuple[str, ...]:
        return (
            call("split", [deep, do, di, depth]),
            call("reorder", [*outer, *others, do, *together, di]), "atomic()",
            *(call("vectorize", [v]) for v in together), call("vectorize", [di]),
        )  # fmt: skip

    lines = []
    steps = length(graph.known(s, graph.box(s.func))[deep])
    for taps in TAPS if evaluate(extent) is None else ():
        if steps >= taps:
            lines.append(Line(s.text, (f"specialize({show(extent)} % {taps} == 0)", *chain(taps))))
    least = next((taps for taps in LEAST_TAPS if taps <= steps), LEAST_TAPS[-1])
    return [*lines, Line(s.text, chain(least))]

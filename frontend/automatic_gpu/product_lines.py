"""The lines of a product on tensor cores: blocks, warps, fragments, and copies that run ahead."""

from __future__ import annotations

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.blocks import Block, reach
from hbc.frontend.automatic_gpu.grids import one_grid
from hbc.frontend.automatic_gpu.products import Product
from hbc.frontend.costs.graph import Graph
from hbc.frontend.costs.inlining import cost_of
from hbc.frontend.costs.moves import Move, move
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions, nodes_of

CHEAP = 40.0  # operations of a factor that is computed where it is needed
VECTOR = 16  # bytes that a thread copies at once
MOST_TAPS = 7  # along a dimension that one copy is for
SIDE = 4  # steps of the sum that a thread has side by side in a copy that transposes


def product_lines(
    graph: Graph, p: Product, b: Block, within: tuple[str, ...], own: list[str]
) -> list[Line]:
    """`own`: what the holder's first line begins with; `within`: the taps that one copy is for."""
    holder, blocks, level = _holder(graph, p, b)
    first, *others = blocks
    lines = [Line(holder, (*own, *first)), *(Line(holder, tuple(x)) for x in others)]
    lines += _sums(graph, p, b, within, f"{holder}, {level}")
    for a, side, extent in ((p.a, p.rows, reach(p, b, within)), (p.b, p.columns, b.columns)):
        lines.append(_copy(graph, p, b, a, side, extent, bool(within)))
    return lines


def _loops(graph: Graph, v: str) -> dict[str, str]:
    """The names of the loops that a variable is split into."""
    return {x: graph.name(v, x) for x in "oiwutv"}


def _holder(graph: Graph, p: Product, b: Block) -> tuple[str, list[list[str]], str]:
    """The Func that has the blocks, its directives in lines, and the innermost loop over blocks."""
    name = holder_of(graph, p)
    i, j = (_loops(graph, p.names[v]) for v in (p.rows, p.columns))
    rows, columns = p.names[p.rows], p.names[p.columns]
    outer = [p.names[v] for v in p.outer]
    cut = [call("tile", [rows, columns, i["o"], j["o"], i["i"], j["i"], b.rows, b.columns])]
    warps = [i["w"], j["w"]]
    if p.beside is not None:
        y = p.names[p.beside]
        yo, yi = graph.name(y, "o"), graph.name(y, "i")
        cut.append(call("split", [y, yo, yi, b.beside]))
        outer.append(yo)
        warps = [yi, *warps]
    cut.append(call("tile", [i["i"], j["i"], i["w"], j["w"], i["u"], j["u"], *b.tile]))
    blocks = [*outer, i["o"], j["o"]]
    level = j["o"]
    if outer:
        order = call("reorder", [*blocks, *warps, i["u"], j["u"]])
        fused, level = one_grid(graph, blocks)
        cut, blocks = [*cut, order, *fused], [level]
    lines = [
        cut, [call("gpu_blocks", blocks), call("gpu_threads", warps)], _fragments(p, i, j),
    ]  # fmt: skip
    return name, lines, level


def holder_of(graph: Graph, p: Product) -> str:
    """The Func that has the blocks: the one that reads the sums element by element, or a copy of them."""
    if p.holder is not None:
        return p.holder
    (reader,) = {s.func for s in graph.readers(p.sums)}
    return f"{p.sums}.in({reader})"


def _fragments(p: Product, i: dict[str, str], j: dict[str, str]) -> list[str]:
    assert p.dot is not None
    names = [x[part] for part in "utv" for x in (i, j)]
    inner = call("tile", [*names, p.dot.rows, p.dot.columns])
    marks = [call("unroll", [x["t"]]) for x in (i, j)] + [
        call("vectorize", [x["v"]]) for x in (i, j)
    ]
    return [inner, *marks]


def _sums(graph: Graph, p: Product, b: Block, within: tuple[str, ...], level: str) -> list[Line]:
    dot = p.dot
    assert dot is not None and dot.tile is not None
    i, j, k = (_loops(graph, v) for v in (p.rows, p.columns, p.deep))
    warps = [i["w"], j["w"]]
    cut = [call("tile", [p.rows, p.columns, i["w"], j["w"], i["u"], j["u"], *b.tile])]
    around = list(p.outer)
    if p.beside is not None:
        yo, yi = graph.name(p.beside, "o"), graph.name(p.beside, "i")
        cut.insert(0, call("split", [p.beside, yo, yi, b.beside]))
        around.append(yo)
        warps = [yi, *warps]
    ordered = [call("reorder", [*around, *warps, i["u"], j["u"]])] if around else []
    threads = call("gpu_threads", warps)
    pure = [*cut, *ordered, threads]
    lines = [
        Line(p.sums, (f"compute_at({level})", f"store_in({dot.tile})")),
        Line(p.sums, tuple(pure)), Line(p.sums, tuple(_fragments(p, i, j))),
    ]  # fmt: skip
    update = f"{p.sums}.update"
    steps = [call("split", [p.deep, k["o"], k["i"], b.depth]),
             call("split", [k["i"], k["t"], k["v"], dot.depth])]  # fmt: skip
    apart = [t for t in p.taps if t not in within]
    tile = call("tile", [i["u"], j["u"], i["t"], j["t"], i["v"], j["v"], dot.rows, dot.columns])
    vectors = [i["v"], j["v"], k["v"]]
    order = [*around, *apart, k["o"], *warps, *within, k["t"], i["t"], j["t"], *vectors]
    unrolled = [k["t"], i["t"], j["t"]]
    lines += [
        Line(update, (*steps, *cut, tile)),
        Line(update, (call("reorder", order), threads, call("pipeline", [k["o"], b.stages]))),
        Line(update, (*(call("unroll", [v]) for v in unrolled), "atomic()",
                      *(call("vectorize", [v]) for v in vectors))),
    ]  # fmt: skip
    return lines


def _copy(
    graph: Graph, p: Product, b: Block, a: ir.Access, side: str, extent: int, window: bool
) -> Line:
    """A factor's part for some steps of the sum, in shared memory."""
    size = a.type.element.bytes
    stage, names = staged(graph, p, a)
    k, s = _named(a, names, p.deep), _named(a, names, side)
    last = names[-1]
    place = [f"compute_at({p.sums}.update, {graph.name(p.deep, 'o')})", "store_in(shared)"]
    along = last == k
    own = all(isinstance(i, ir.Var) or not mentions(i, side) for i in a.indices)
    plain = own and not window and last in (k, s)
    width = VECTOR // size
    if not along and size == 1 and plain:
        return _transposed(graph, b, (stage, names, k, s), extent, place)
    row = b.depth if along else extent
    power = row & (row - 1) == 0 and row * size >= 64
    if plain and power and (size == 2 or along):
        place.append(call("swizzle_storage", [last]))
    else:
        place.append(call("pad_storage", [last, _padded(row, size, along or size < 4)]))
    across = extent if along else b.depth
    if not (plain and row % width == 0 and across * row // width % b.threads == 0):
        return Line(stage, (*place, call("vectorize", [last, width])))
    other = s if along else k
    u, v = graph.name(last, "u"), graph.name(last, "v")
    t, tt, tu = (graph.name(x, "") for x in ("t", "tt", "tu"))
    order = [n for n in names if n not in (k, s)]
    loops = [call("split", [last, u, v, width])]
    if order:
        loops.append(call("reorder", [*order, other, u, v]))
    loops += [
        call("fuse", [other, u, t]), call("split", [t, tt, tu, b.threads]),
        call("gpu_threads", [tu]), call("unroll", [tt]), call("vectorize", [v]),
    ]  # fmt: skip
    return Line(stage, (*place, *loops))


def staged(graph: Graph, p: Product, a: ir.Access) -> tuple[str, tuple[str, ...]]:
    """What lies in shared memory, and what its variables are called: a copy, or a Func that only the
    product reads and that is computed there."""
    func = graph.funcs.get(a.name)
    if func is None:
        return f"{a.name}.in({p.sums})", index_names(a)
    return (a.name if computed_there(graph, p, a) else f"{a.name}.in({p.sums})"), func.variables


def index_names(a: ir.Access) -> tuple[str, ...]:
    """What a copy of an input calls its variables: as the first that each index mentions."""
    names: list[str] = []
    for d, index in enumerate(a.indices):
        own = [n.name for n in nodes_of(index, ir.Var) if n.name not in names]
        names.append(own[0] if own else f"_{d}")
    return tuple(names)


def computed_there(graph: Graph, p: Product, a: ir.Access) -> bool:
    """Whether a factor is computed where it is needed: one that costs little more than what it reads."""
    func = graph.funcs.get(a.name)
    if func is None or func.updates or func.others or a.name in graph.outputs:
        return False
    readers = [s.key for s in graph.readers(a.name)]
    return readers == [p.step.key] and cost_of(func.pure, None) <= CHEAP


def _named(a: ir.Access, names: tuple[str, ...], v: str) -> str:
    """The variable of what is staged that moves with one of the sums."""
    return next((n for n, i in zip(names, a.indices, strict=True) if mentions(i, v)), v)


def _transposed(
    graph: Graph, b: Block, staged: tuple[str, tuple[str, ...], str, str], extent: int,
    place: list[str],
) -> Line:  # fmt: skip
    """Bytes that neighbours along the sum are wanted of, and that lie along the other variable: each thread
    has some of both, so that what it stores fills words, and threads beside it the words beside."""
    stage, names, k, s = staged
    order = [n for n in names if n not in (k, s)]
    ku, kv, su, sv = graph.name(k, "u"), graph.name(k, "v"), graph.name(s, "u"), graph.name(s, "v")
    t, tt, tu = (graph.name(x, "") for x in ("t", "tt", "tu"))
    threads = min(b.threads, b.depth // SIDE * extent // VECTOR)
    return Line(stage, (
        *place, call("reorder_storage", [*order, s, k]), call("pad_storage", [k, _padded(b.depth, 1)]),
        call("tile", [s, k, su, ku, sv, kv, VECTOR, SIDE]), call("reorder", [*order, su, ku, kv, sv]),
        call("fuse", [su, ku, t]), call("split", [t, tt, tu, threads]), call("gpu_threads", [tu]),
        call("unroll", [kv]), call("vectorize", [sv]),
    ))  # fmt: skip


def _padded(row: int, size: int, by_rows: bool = True) -> int:
    """Elements of a row in shared memory whose neighbours begin at other banks: an odd number of units, for
    lanes that read eight rows; twice an odd number, for those that read eight words of each of four."""
    units = -(-row * size // VECTOR)
    while units % 2 == 0 if by_rows else units % 4 != 2:
        units += 1
    return units * VECTOR // size


def taps_within(graph: Graph, p: Product) -> tuple[tuple[str, ...], ...]:
    """The taps that one copy may be for: all of a window, those along a row, none."""
    windows = tuple(
        t for t in p.taps if move(p.a, t) is not Move.FIXED and p.extents[t] <= MOST_TAPS
    )
    return tuple(dict.fromkeys((windows, windows[1:], ())))

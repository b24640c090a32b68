"""The lines of a product by groups of warps: blocks, groups, and copies in bulk that run ahead."""

from __future__ import annotations

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.grids import one_grid
from hbc.frontend.automatic_gpu.groups import GroupBlock
from hbc.frontend.automatic_gpu.product_lines import computed_there, holder_of, staged
from hbc.frontend.automatic_gpu.products import Product
from hbc.frontend.costs.graph import Graph
from hbc.ir.lang import nodes as ir

TOGETHER = (
    8  # blocks below each other that follow each other, so that they share what the cache has
)
VECTOR = 16  # bytes that a thread copies at once, where no box can be copied


def group_lines(graph: Graph, p: Product, b: GroupBlock, own: list[str]) -> list[Line]:
    """`own`: what the holder's first line begins with."""
    holder, lines, level = _holder(graph, p, b, own)
    rows, deep = p.rows, p.deep
    iw, iv = graph.name(rows, "w"), graph.name(rows, "v")
    ko, ki, kt, kv = (graph.name(deep, x) for x in "oitv")
    tile, update = b.dot.tile, f"{p.sums}.update"
    assert tile is not None
    cut = call("split", [rows, iw, iv, b.dot.rows])
    order = [call("reorder", [*p.outer, iw, iv, p.columns])] if p.outer else []
    across = [call("vectorize", [v]) for v in (iv, p.columns)]
    threads = call("gpu_threads", [iw])
    lines += [
        Line(p.sums, (f"compute_at({holder}, {level})", f"store_in({tile})")),
        Line(p.sums, (cut, *order, threads, *across)),
        Line(update, (
            call("split", [deep, ko, ki, b.depth], "guard"), call("split", [ki, kt, kv, b.dot.depth]), cut,
        )),
        Line(update, (
            call("reorder", [*p.outer, *p.taps, ko, iw, kt, iv, p.columns, kv]), threads,
            call("pipeline", [ko, b.stages]),
        )),
        Line(update, (
            call("unroll", [kt]), "atomic()", *across, call("vectorize", [kv]),
        )),
    ]  # fmt: skip
    return lines + [_copy(graph, p, a, f"{update}, {ko}") for a in (p.a, p.b)]


def _holder(graph: Graph, p: Product, b: GroupBlock, own: list[str]) -> tuple[str, list[Line], str]:
    """The Func that has the blocks, its lines, and the innermost loop over blocks."""
    name = holder_of(graph, p)
    rows, columns = p.names[p.rows], p.names[p.columns]
    outer = [p.names[v] for v in p.outer]
    io, ii, iw, iv, ig, ih = (graph.name(rows, x) for x in "oiwvgh")
    jo, ji = graph.name(columns, "o"), graph.name(columns, "i")
    cut = [
        call("tile", [rows, columns, io, jo, ii, ji, b.rows, b.columns]),
        call("split", [ii, iw, iv, b.dot.rows]),
    ]
    blocks = [*outer, io, jo]
    if p.extents[p.rows] > TOGETHER * b.rows:
        cut.append(call("split", [io, ig, ih, TOGETHER]))
        blocks = [*outer, ig, jo, ih]
    cut.append(call("reorder", [*blocks, iw, iv, ji]))
    fused, level = one_grid(graph, blocks)
    marks = [call("gpu_blocks", [level]), call("gpu_threads", [iw])]
    marks += [call("vectorize", [v]) for v in (iv, ji)]
    return name, [Line(name, (*own, *cut)), Line(name, (*fused, *marks))], level


def _copy(graph: Graph, p: Product, a: ir.Access, level: str) -> Line:
    """A factor's part for some steps of the sum, in shared memory: a box, or what is computed there."""
    stage, names = staged(graph, p, a)
    wide = call("vectorize", [names[-1], VECTOR // a.type.element.bytes])
    bulk = () if computed_there(graph, p, a) else ("copy_in_bulk()",)
    return Line(stage, (f"compute_at({level})", "store_in(shared)", wide, *bulk))

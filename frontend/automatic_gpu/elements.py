"""Funcs that are computed element by element: threads along the last variable, vectors where all lies so."""

from __future__ import annotations

from collections.abc import Iterable

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.grids import one_grid
from hbc.frontend.costs.graph import Graph
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions

THREADS = 256
LEAST = 32  # threads along a row
VECTOR = 16  # bytes
SIDE = 32  # of the squares of a copy that transposes


def element_lines(
    graph: Graph, name: str, own: list[str], vectors: bool = True
) -> list[Line] | None:
    """None for a number alone. `vectors`: whether a thread may have several elements."""
    func = graph.funcs[name]
    if not func.variables or func.updates or func.others:
        return None
    extents = dict(zip(func.variables, (length(s) for s in graph.box(name)), strict=True))
    *outer, x = func.variables
    reads = [a for s in graph.steps[name] for a in s.reads]
    far = next((a for a in reads if _transposes(a, x, extents)), None)
    if far is not None and vectors and name in graph.outputs:
        return _transposed(graph, name, far, own)
    wide = vectors and extents[x] >= LEAST * 4
    lanes = _vector(graph, name, reads, x) if wide else 1
    along = LEAST
    while along < THREADS and along * lanes < extents[x]:
        along *= 2
    down = THREADS // along if outer else 1
    xo, xi, xt, xv = (graph.name(x, s) for s in "oitv")
    blocks, threads = [*outer, xo], [xt]
    cut = [call("split", [x, xo, xi, along * lanes])]
    if down > 1:
        y = outer[-1]
        yo, yt = graph.name(y, "o"), graph.name(y, "t")
        cut = [call("tile", [y, x, yo, xo, yt, xi, down, along * lanes])]
        blocks, threads = [*outer[:-1], yo, xo], [yt, xt]
    if lanes > 1:
        cut.append(call("split", [xi, xt, xv, lanes]))
    else:
        threads[-1] = xi
    fused, level = one_grid(graph, blocks)
    marks = [call("vectorize", [xv])] if lanes > 1 else []
    grid = (call("gpu_blocks", [level]), call("gpu_threads", threads))
    return [Line(name, (*own, *cut, *fused, *grid, *marks))]


def _vector(graph: Graph, name: str, reads: Iterable[ir.Access], x: str) -> int:
    """Elements that a thread loads and stores at once: where each read has the place of what is written."""
    func = graph.funcs[name]
    widest = func.element.bits
    for a in reads:
        moved = move(a, x)
        if moved is Move.FIXED:
            continue
        last = a.indices[-1]
        if moved is not Move.NEXT or not (isinstance(last, ir.Var) and last.name == x):
            return 1
        widest = max(widest, a.type.element.bits)
    return max(VECTOR * 8 // max(widest, 8), 1) if name in graph.outputs else 1


def _transposes(a: ir.Access, x: str, extents: dict[str, int]) -> bool:
    """Whether neighbours of what is written lie in a column of what is read, and others of it in a row."""
    if move(a, x) is not Move.FAR or mentions(a.indices[-1], x):
        return False
    last = a.indices[-1]
    return isinstance(last, ir.Var) and last.name in extents and extents[last.name] >= LEAST


def _transposed(graph: Graph, name: str, far: ir.Access, own: list[str]) -> list[Line]:
    """Squares through shared memory, whose rows are longer by a bank."""
    func = graph.funcs[name]
    last = far.indices[-1]
    assert isinstance(last, ir.Var)
    y, x = last.name, func.variables[-1]
    yo, xo, yi, xi = (graph.name(v, s) for s in "oi" for v in (y, x))
    yu, yt = graph.name(y, "u"), graph.name(y, "t")
    outer = [v for v in func.variables if v not in (y, x)]
    blocks = [*outer, yo, xo]
    fused, level = one_grid(graph, blocks)
    pad = SIDE + max(4 // far.type.element.bytes, 1)
    return [
        Line(name, (
            *own, call("tile", [y, x, yo, xo, yi, xi, SIDE, SIDE]), call("split", [yi, yu, yt, 8]),
            call("reorder", [*blocks, yt, xi, yu]), *fused, call("gpu_blocks", [level]),
            call("gpu_threads", [yt, xi]), call("unroll", [yu]),
        )),
        Line(f"{far.name}.in({name})", (
            f"compute_at({name}, {level})", "store_in(shared)", call("pad_storage", [y, pad]),
        )),
    ]  # fmt: skip

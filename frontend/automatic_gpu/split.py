"""Long sums of few results, in pieces: blocks for each, whose sums another kernel adds in their order."""

from __future__ import annotations

import math
from dataclasses import replace

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.device import LAUNCH, MEMORY_BYTES, PROCESSORS
from hbc.frontend.automatic_gpu.elements import element_lines
from hbc.frontend.automatic_gpu.products import Product
from hbc.frontend.costs.graph import Graph
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, const
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import substitute

PIECES = (4, 8, 16, 32, 64)
LEAST = 256  # steps of a piece
WHOLE = 64  # pieces begin at multiples of it
AT_ONCE = 8  # pieces that a thread loads before it adds them
LOADED = 700.0  # cycles until these are there


def in_pieces(graph: Graph, p: Product, count: int) -> tuple[Product, int] | None:
    """The sums of each piece as a product of their own, with a variable more, and the steps of a piece; None
    where that is no use: pieces would be short, or there are blocks enough."""
    steps = -(-p.extents[p.deep] // count // WHOLE) * WHOLE
    results = math.prod(p.extents[v] for v in p.step.pure)
    if p.holder is None or p.taps or p.beside is not None or steps < LEAST:
        return None
    if results > PROCESSORS * 64 * 64:
        return None
    s, rest = graph.name("s", ""), graph.name(p.deep, "r")
    begin = binary(ir.Op.MUL, ir.Var(s), const(steps, INDEX))
    place = binary(ir.Op.ADD, begin, ir.Var(rest))

    def moved(a: ir.Access) -> ir.Access:
        return replace(a, indices=tuple(substitute(i, {p.deep: place}) for i in a.indices))

    sums = f"{p.sums}_{s}"
    step = replace(p.step, func=sums, pure=(s, *p.step.pure), reduce=(rest,))
    extents = {**p.extents, rest: steps, s: -(-p.extents[p.deep] // steps)}
    return replace(
        p, step=step, holder=f"{sums}.in({p.sums})", names={v: v for v in step.pure},
        outer=(s, *p.outer), deep=rest, a=moved(p.a), b=moved(p.b), extents=extents,
    ), steps  # fmt: skip


def gathering(p: Product, pieces: int) -> float:
    """Cycles of the kernel that adds the pieces, and of what goes through memory for it."""
    results = math.prod(p.extents[v] for v in p.step.pure)
    moved = results * 4 * (2 * pieces + 1) / MEMORY_BYTES
    return LAUNCH + LOADED * -(-pieces // AT_ONCE) + moved


def split_lines(
    graph: Graph, p: Product, piece: Product, steps: int
) -> tuple[list[Line], list[str]]:
    """What stands before the lines of the pieces, and what their first line begins with."""
    (s, *_), rest = piece.step.pure, piece.deep
    outer = graph.name(p.deep, "s")
    factored = (call("split", [p.deep, outer, rest, steps]), call("rfactor", [outer, s]))
    own = ["compute_root()", call("reorder_storage", list(piece.step.pure))]
    return [Line(p.step.text, factored)], own


def gathering_lines(graph: Graph, p: Product, pieces: int) -> list[Line]:
    """What adds the pieces: the kernel of the holder, whose threads load several at once."""
    assert p.holder is not None
    level = graph.name(graph.funcs[p.holder].variables[-1], "i")
    s = graph.name(p.deep, "s")
    so, si = graph.name(s, "o"), graph.name(s, "i")
    at_once = (call("split", [s, so, si, min(AT_ONCE, pieces)]), call("unroll", [si]))
    return [
        *(element_lines(graph, p.holder, [], vectors=False) or []),
        Line(p.sums, (call("compute_at", [p.holder, level]),)), Line(p.step.text, at_once),
    ]  # fmt: skip

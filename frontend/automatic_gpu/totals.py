"""Few long rows, as the sum of an array: pieces with a warp each, which are then reduced."""

from __future__ import annotations

import math

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.device import PROCESSORS
from hbc.frontend.automatic_gpu.grids import one_grid
from hbc.frontend.automatic_gpu.rows import LANES, WARPS, Rows, reduced_line, row_lines
from hbc.frontend.costs.graph import Graph
from hbc.frontend.costs.spans import length

LEAST = 1024  # elements of a piece


def total_lines(graph: Graph, r: Rows, own: list[str]) -> list[Line] | None:
    """None where there are rows enough, or they are short."""
    if len(r.reduced) != 1:
        return None
    step = graph.steps[r.reduced[0]][-1]
    (k,) = step.reduce
    known = graph.known(step, graph.box(step.func))
    rows = math.prod(length(known[v]) for v in step.pure)
    most = PROCESSORS * WARPS * 2 // rows if rows else 0
    size = max(LEAST, -(-length(known[k]) // max(most, 1) // LANES) * LANES)
    if most < 2 or length(known[k]) < 2 * size:
        return None
    begin, rest, s = graph.name(k, "b"), graph.name(k, "r"), graph.name("s", "")
    so, sw, ro, rl = (graph.name(v, x) for v, x in ((s, "o"), (s, "w"), (rest, "o"), (rest, "l")))
    part = f"{step.func}_{s}"
    fused, level = one_grid(graph, [*step.pure, so])
    cut = (call("split", [s, so, sw, WARPS]),)
    grid = (*fused, call("gpu_blocks", [level]), call("gpu_threads", [sw]))
    order = call("reorder", [*step.pure, so, sw, rl, ro])
    lines = [
        Line(step.text, (call("split", [k, begin, rest, size]), call("rfactor", [begin, s]))),
        Line(part, ("compute_root()", *cut, *grid)),
        Line(f"{part}.update", (
            *cut, call("split", [rest, ro, rl, LANES]), order, *fused, "atomic()", *grid[len(fused):],
            call("gpu_lanes", [rl]),
        )),
    ]  # fmt: skip
    *others, last = row_lines(graph, r, own)
    assert last.stage == step.text
    return [*lines, *others, reduced_line(graph, step, r.row, begin)]

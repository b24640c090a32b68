"""Scans: blocks along them in which others are computed, and lanes for steps that do not wait."""

from __future__ import annotations

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.spans import length
from hbc.frontend.plans.legal import scan_variables
from hbc.frontend.plans.plan import scan_distances
from hbc.frontend.program.funcs import ReduceVar
from hbc.ir.ground.record import record
from hbc.ir.lang.build import const_value

BLOCK = 256  # steps of a scan between which others are computed
MOST_AHEAD = 16  # steps that are lanes of a vector


@record
class Scan:
    """`ahead` steps of `loop` wait for none of each other; `lanes` are variables of constant extents
    that join them."""

    loop: str
    ahead: int
    lanes: tuple[str, ...]


def scan_of(graph: Graph, s: Step) -> Scan | None:
    """The scan that a long update is, along its last reduction."""
    func = graph.funcs[s.func]
    if s.update is None or not s.reduce:
        return None
    u = func.updates[s.update]
    loop = s.reduce[-1]
    if scan_variables(func, u) != {loop} or len(s.reduce) != 1:
        return None
    r: ReduceVar = u.reduce[-1]
    if length(graph.known(s, graph.box(s.func))[loop]) < 4 * BLOCK:
        return None
    distances = [x for x in scan_distances(func, u, r) or () if x != 0]
    least = min(distances, default=0)
    ahead = 1
    while 0 < 2 * ahead <= min(least, MOST_AHEAD):
        ahead *= 2
    lanes = [v for v in s.pure if _constant(graph, s.func, v) is not None]
    if len(lanes) != len(s.pure):
        return None
    return Scan(loop, ahead, tuple(lanes))


def _constant(graph: Graph, name: str, v: str) -> int | None:
    """The extent of a variable of an output, where it is known."""
    for func, o in graph.pipeline.output_funcs.items():
        if func == name:
            at = graph.funcs[name].variables.index(v)
            extent = const_value(o.extents[at])
            return int(extent) if extent is not None else None
    return None


def block_of(graph: Graph, s: Step) -> int:
    """Steps between which others are computed."""
    return graph.choices.pick(f"{s.text}.scan", BLOCK, (64, 128, 512, 1024))


def scan_lines(graph: Graph, s: Step, scan: Scan, blocked: bool, width: int) -> list[Line]:
    """A block at a time (if others are computed in blocks); lanes for the steps that may."""
    outer, middle, inner = (graph.name(scan.loop, x) for x in ("o", "b", "i"))
    directives = [call("split", [scan.loop, outer, middle, block_of(graph, s)])] if blocked else []
    rest = middle if blocked else scan.loop
    around = [outer] if blocked else []
    count = 1
    for v in scan.lanes:
        count *= _constant(graph, s.func, v) or 1
    if scan.ahead > 1 and 1 < scan.ahead * count <= 4 * width:
        directives.append(call("split", [rest, rest, inner, scan.ahead]))
        directives.append(call("reorder", [*around, rest, inner, *scan.lanes]))
        directives += [call("vectorize", [v]) for v in (inner, *scan.lanes)]
    else:
        order = [*around, rest, *scan.lanes]
        directives += [call("reorder", order)] if len(order) > 1 else []
        if count <= 8:
            directives += [call("unroll", [v]) for v in scan.lanes]
    return [Line(s.text, tuple(directives))] if directives else []

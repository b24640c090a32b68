"""Rows that are reduced, as norms and softmax do: a warp for each row, its lanes along what is summed; few
long rows, as the sum of an array, in pieces with a warp each, which are then reduced."""

from __future__ import annotations

import math

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.device import PROCESSORS
from hbc.frontend.automatic_gpu.grids import one_grid
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import is_sum
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions

WARPS, LANES = 8, 32
LEAST = 1024  # elements of a piece


@record
class Rows:
    """`reduced`: the Funcs that have a value for each row, in the order of the holder's needs; `names`: for
    each its variables as the holder calls them; `row`: the last variable that all of them have."""

    holder: str
    reduced: tuple[str, ...]
    row: str


def rows_of(graph: Graph, holder: str) -> Rows | None:
    """What rows of this Func need of Funcs that only it and each other read, in its own variables."""
    func = graph.funcs[holder]
    if func.updates or not func.variables or func.others:
        return None
    found: list[str] = []
    pending = list(graph.steps[holder])
    while pending:
        for a in pending.pop().reads:
            inner = graph.funcs.get(a.name)
            if inner is None or a.name in found or a.name in graph.outputs:
                continue
            if not (_is_row if inner.updates else _of_row)(graph, a.name, func.variables):
                return None
            found.append(a.name)
            pending += graph.steps[a.name]
    within = {holder, *found}
    named = {v for name in found for v in graph.funcs[name].variables}
    shared = [v for v in func.variables if v in named]
    alone = all(s.func in within for name in found for s in graph.readers(name))
    if not any(graph.funcs[name].updates for name in found) or not shared:
        return None
    if not alone or not _plain(graph, within):
        return None
    if any(set(graph.funcs[name].variables) != set(shared) for name in found):
        return None
    rest = func.variables[len(shared) :]
    if tuple(shared) != func.variables[: len(shared)] or len(rest) > 1:
        return None
    return Rows(holder, tuple(found), shared[-1])


def _of_row(graph: Graph, name: str, variables: tuple[str, ...]) -> bool:
    """Whether it has one value for a row, of fewer variables than the holder has."""
    func = graph.funcs[name]
    return not func.others and set(func.variables) < set(variables)


def _is_row(graph: Graph, name: str, variables: tuple[str, ...]) -> bool:
    """Whether it is reduced along neighbours in memory, and called by variables of the holder."""
    func = graph.funcs[name]
    if (
        len(func.updates) != 1
        or not is_sum(func)
        or func.others
        or func.updates[0].condition is not None
    ):
        return False
    step = graph.steps[name][-1]
    if not set(func.variables) <= set(variables) or len(step.reduce) != 1:
        return False
    known = graph.known(step, graph.box(name))
    moves = [move(a, step.reduce[0]) for a in step.reads]
    along = [a for a, m in zip(step.reads, moves, strict=True) if m is Move.NEXT]
    if any(mentions(a.indices[-1], v) for a in along for v in func.variables):
        return False  # neighbours along what is summed are neighbours of other sums too
    near = Move.NEXT in moves and all(m in (Move.NEXT, Move.FIXED) for m in moves)
    return near and length(known[step.reduce[0]]) >= LANES


def _plain(graph: Graph, within: set[str]) -> bool:
    """Whether each is read where its variables are called as they are."""
    return all(
        all(isinstance(i, ir.Var) for i in a.indices)
        and tuple(i.name for i in a.indices if isinstance(i, ir.Var)) == graph.funcs[a.name].variables
        for name in within for s in graph.steps[name] for a in s.reads
        if a.name in within and a.name != s.func
    )  # fmt: skip


def row_lines(graph: Graph, r: Rows, own: list[str]) -> list[Line]:
    """A block has some rows, a warp one of them at a time."""
    func = graph.funcs[r.holder]
    at = func.variables.index(r.row)
    outer, rest = func.variables[:at], func.variables[at + 1 :]
    ro, rw = graph.name(r.row, "o"), graph.name(r.row, "w")
    blocks = [*outer, ro]
    fused, level = one_grid(graph, blocks)
    cut = [call("split", [r.row, ro, rw, WARPS])]
    lanes = []
    if rest:
        (x,) = rest
        xo, xl = graph.name(x, "o"), graph.name(x, "l")
        cut += [call("split", [x, xo, xl, LANES]), call("reorder", [*blocks, rw, xl, xo])]
        lanes = [call("gpu_lanes", [xl])]
    lines = [
        Line(r.holder, (*own, *cut, *fused, call("gpu_blocks", [level]), call("gpu_threads", [rw]), *lanes))
    ]  # fmt: skip
    for name in r.reduced:
        place = (f"compute_at({r.holder}, {level})", "store_in(shared)")
        lines.append(Line(name, (*place, call("gpu_threads", [r.row]))))
        s = graph.steps[name][-1]
        if s.update is not None:
            lines.append(reduced_line(graph, s, r.row, s.reduce[0]))
    return lines


def reduced_line(graph: Graph, s: Step, row: str, k: str) -> Line:
    """A warp for each row, its lanes along the loop k."""
    ko, kl = graph.name(k, "o"), graph.name(k, "l")
    outer = [v for v in s.pure if v != row]
    return Line(s.text, (
        call("split", [k, ko, kl, LANES]), call("reorder", [*outer, row, kl, ko]), "atomic()",
        call("gpu_threads", [row]), call("gpu_lanes", [kl]),
    ))  # fmt: skip


def alone_lines(graph: Graph, name: str, own: list[str]) -> list[Line] | None:
    """Sums along rows that have a kernel of their own, as others read them in several: a warp for each."""
    variables = graph.funcs[name].variables
    if not variables or not _is_row(graph, name, variables):
        return None
    s, (*outer, row) = graph.steps[name][-1], variables
    ro, rw = graph.name(row, "o"), graph.name(row, "w")
    (k,) = s.reduce
    ko, kl = graph.name(k, "o"), graph.name(k, "l")
    fused, level = one_grid(graph, [*outer, ro])
    cut = call("split", [row, ro, rw, WARPS])
    grid = (call("gpu_blocks", [level]), call("gpu_threads", [rw]))
    order = call("reorder", [*outer, ro, rw, kl, ko])
    return [
        Line(name, (*own, cut, *fused, *grid)),
        Line(s.text, (
            cut, call("split", [k, ko, kl, LANES]), order, *fused, "atomic()", *grid, call("gpu_lanes", [kl]),
        )),
    ]  # fmt: skip


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

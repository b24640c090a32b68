"""In which order elements of a Func lie in memory: neighbours are those that lanes have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import is_sum
from hbc.frontend.costs.lanes import FEW, lane_variable
from hbc.frontend.costs.moves import NEAR, Move, move
from hbc.frontend.costs.spans import length
from hbc.frontend.plans.legal import scan_variables
from hbc.frontend.plans.plan import stage_vars
from hbc.frontend.program.funcs import Func
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import is_polynomial, linear
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.walk import mentions, nodes_of


def innermost_variable(graph: Graph, func: Func, innermost: Mapping[str, str]) -> str | None:
    """The variable that is to lie innermost where it is not the last: that of the lanes, where the last has
    few values, or steps along it wait for each other. `innermost`: those of the Funcs that it reads."""
    if func.name in graph.outputs:
        return None
    if func.updates:
        return _beside_scans(graph, func)
    known = graph.promised.get(func.name) or (None,)
    if known[-1] is None:
        return None  # few or many: that depends on sizes
    extents = [length(s) for s in graph.box(func.name)]
    reads = [stored(n, graph, innermost) for n in nodes_of(func.pure, ir.Access)]
    lane = lane_variable(func.variables, extents, reads)
    readers = graph.readers(func.name)
    wanted = {v for s in readers for v in moving(func, s, _lanes_of(graph, s))}
    if len(wanted) == 1 and _is_copy(func) and all(move(a, lane or "") in NEAR for a in reads):
        (lane,) = wanted  # turned round while it is copied
        if extents[func.variables.index(lane)] < FEW:
            return None
    same = lane == func.variables[-1] or lane not in wanted
    if same or fused_variables(graph, func, extents, reads):
        return None
    for r in (graph.funcs[s.func] for s in readers):
        spans = [length(s) for s in graph.box(r.name)]
        if fused_variables(graph, r, spans, [a for s in graph.steps[r.name] for a in s.reads]):
            return None
    return lane


def _beside_scans(graph: Graph, func: Func) -> str | None:
    """Of a Func whose updates go along its last variable, in several loops of which each step waits for the
    one before: the last one along which they do not."""
    if any(len(u.reduce) < 2 or not scan_variables(func, u) for u in func.updates):
        return None
    free = set(func.variables).intersection(*(stage_vars(func, u) for u in func.updates))
    extents = dict(zip(func.variables, map(length, graph.box(func.name)), strict=True))
    many = [v for v in func.variables if v in free and extents[v] >= FEW]
    return many[-1] if many and func.variables[-1] not in free else None


def _is_copy(func: Func) -> bool:
    values = func.pure.items if isinstance(func.pure, ir.Tuple) else (func.pure,)
    return all(isinstance(v, ir.Access) for v in values)


def _lanes_of(graph: Graph, s: Step) -> str | None:
    known = graph.known(s, graph.box(s.func))
    return lane_variable(s.pure, [length(known[v]) for v in s.pure], s.reads)


def moving(func: Func, reader: Step, lane: str | None) -> set[str]:
    """The variables of the Func that move with a variable of a reader."""
    return {
        v
        for a in reader.reads
        if a.name == func.name and lane is not None
        for v, i in zip(func.variables, a.indices, strict=True)
        if mentions(i, lane)
    }


def stored(a: ir.Access, graph: Graph, innermost: Mapping[str, str]) -> ir.Access:
    """The access with its indices in the order of memory."""
    lane = innermost.get(a.name)
    if lane is None:
        return a
    at = graph.funcs[a.name].variables.index(lane)
    return replace(a, indices=(*a.indices[:at], *a.indices[at + 1 :], a.indices[at]))


def fused_variables(
    graph: Graph, func: Func, extents: Sequence[int], reads: Iterable[ir.Access]
) -> tuple[str, str] | None:
    """The last two variables, where the last has few values and all that is read lies like what is
    written, as channels of pixels do."""
    if len(extents) < 2 or not 1 < extents[-1] < FEW or extents[-2] < FEW:
        return None
    if func.updates and not (len(func.updates) == 1 and is_sum(func)):
        return None
    a, b = func.variables[-2:]
    for access in reads:
        if not any(mentions(i, v) for i in access.indices for v in (a, b)):
            continue
        last = access.indices[-1]
        if not (isinstance(last, ir.Var) and last.name == b) or move(access, b) is not Move.NEXT:
            return None
        near = access.indices[-2] if len(access.indices) > 1 else last
        if not is_polynomial(near) or coefficient(linear(near), a) != 1:
            return None
        if any(mentions(i, v) for i in access.indices[:-2] for v in (a, b)):
            return None
        if not _same_row(graph, access, extents[-1]):
            return None
    return a, b


def _same_row(graph: Graph, a: ir.Access, count: int) -> bool:
    """Whether rows of what is read have as many elements."""
    for i in graph.pipeline.inputs:
        if i.name == a.name:
            return const_value(i.extents[-1]) == count
    box = graph.whole.get(a.name)
    return box is not None and length(box[-1]) == count

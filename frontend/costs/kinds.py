"""What kind of Func it is: sums, and how these are read and taken."""

from __future__ import annotations

from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.lanes import FEW
from hbc.frontend.costs.moves import NEAR, Move, move
from hbc.frontend.costs.spans import Box, length
from hbc.frontend.plans.legal import is_reorderable
from hbc.frontend.plans.operators import operator_of
from hbc.frontend.program.funcs import Func
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions


def sums_of(graph: Graph, func: str) -> tuple[str, ...]:
    """The Funcs with updates that only the definition of this Func reads, element by element."""
    if graph.funcs[func].updates:
        return ()
    (step,) = graph.steps[func]
    names = []
    for a in step.reads:
        inner = graph.funcs.get(a.name)
        if inner is None or not inner.updates or a.name in graph.outputs:
            continue
        if [s.key for s in graph.readers(a.name)] != [step.key]:
            continue
        same = [b for b in step.reads if b.name == a.name]
        whole = len(same) == 1 and is_elementwise(a, graph.funcs[func])
        if whole and is_sum(inner) and not in_lanes(graph, inner):
            names.append(a.name)
    return tuple(dict.fromkeys(names))


def is_elementwise(a: ir.Access, func: Func) -> bool:
    """Whether the indices are the variables of the Func, each once."""
    named = [i.name for i in a.indices if isinstance(i, ir.Var)]
    return len(named) == len(a.indices) and sorted(named) == sorted(func.variables)


def is_sum(func: Func) -> bool:
    """Whether all updates add to (or take the largest of) the elements in any order, each as many."""
    return all(
        is_reorderable(func, u)
        and not any(r.narrow for r in u.reduce)
        and u.op is not None
        and [i.name for i in u.indices if isinstance(i, ir.Var)] == list(func.variables)
        for u in func.updates
    )


def is_factorable(func: Func, update: int) -> bool:
    """Whether an update of several values, as an argmax with its place, can be had from partial results."""
    u = func.updates[update]
    return (
        bool(func.others)
        and not any(r.narrow for r in u.reduce)
        and [i.name for i in u.indices if isinstance(i, ir.Var)] == list(func.variables)
        and operator_of(func, update) is not None
    )


def is_afar(a: ir.Access, lane: str) -> bool:
    """Whether neighbouring lanes read other rows, and not just every second element."""
    moved = move(a, lane)
    return moved is Move.UNEVEN or (moved is Move.FAR and not mentions(a.indices[-1], lane))


def in_lanes(graph: Graph, func: Func) -> bool:
    """Whether the sums of the Func are better taken in lanes, as those of a matrix and a vector: what
    its own lanes would read from afar serves no other rows."""
    lane = func.variables[-1] if func.variables else None
    extents = [length(s) for s in graph.box(func.name)]
    for s in graph.steps[func.name]:
        if sums_along(graph, s, lane) is None:
            continue
        far = [a for a in s.reads if lane is None or is_afar(a, lane)]
        others = [v for v, n in zip(func.variables, extents, strict=True) if v != lane and n >= FEW]
        if not any(all(move(a, v) is Move.FIXED for a in far) for v in others):
            return True
    return False


def sums_along(graph: Graph, s: Step, lanes: str | None) -> str | None:
    """The reduction along which neighbours are summed into one number, where the lanes of the Func
    itself would read from afar."""
    func = graph.funcs[s.func]
    if s.update is None or not s.reduce or not (is_sum(func) or is_factorable(func, s.update)):
        return None
    if func.updates[s.update].condition is not None:
        return None
    still = all(lanes is None or move(a, lanes) is Move.FIXED for a in s.reads)
    bad = lanes is None or still or any(is_afar(a, lanes) for a in s.reads)
    if not bad:
        return None
    for r in reversed(s.reduce):
        moves = [move(a, r) for a in s.reads]
        if any(m is not Move.FIXED for m in moves) and all(m in NEAR for m in moves):
            return r
    return None


def permuted(graph: Graph, name: str, inner: str, box: Box) -> Box:
    """The box of a Func in the order of the variables of the sums that it reads."""
    func = graph.funcs[name]
    (step,) = graph.steps[name]
    access = next(a for a in step.reads if a.name == inner)
    spans = dict(zip(func.variables, box, strict=True))
    return tuple(spans[v] for v in own_names(access, graph.funcs[inner]).values())


def own_names(a: ir.Access, inner: Func) -> dict[str, str]:
    """For each variable of the Func that is read the variable of the reader."""
    return {
        v: i.name for v, i in zip(inner.variables, a.indices, strict=True) if isinstance(i, ir.Var)
    }

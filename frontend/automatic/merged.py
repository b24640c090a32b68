"""Two reductions as one loop: taps along a row and few channels are neighbours once rows lie without gaps."""

from __future__ import annotations

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.dots import factors_of
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.frontend.plans.inline import wrap_accesses, wrapper_name
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions, nodes_of

COPIED = 16  # elements of a vector of the copy
PIXELS = 4  # of them at a time
PIECE = 2.0  # cycles for each


@record
class Merged:
    """The reduction `outer` around the `deep` one becomes one loop with it, in a copy of `copied`, an operand
    of the rows. `pieces`: vectors that are copied in all."""

    outer: str
    deep: str
    copied: str
    pieces: int

    @property
    def cycles(self) -> float:
        """Of copying."""
        return PIECE * self.pieces


def merged(graph: Graph, s: Step, deep: str, lanes: str, depth: int) -> Merged | None:
    """The reduction around the deep one, where both as one loop take fewer products that are `depth` deep."""
    at = s.reduce.index(deep)
    factors = factors_of(graph, s)
    if at == 0 or factors is None:
        return None
    outer = s.reduce[at - 1]
    known = graph.known(s, graph.box(s.func))
    few, taps = length(known[deep]), length(known[outer])
    if -(-few * taps // depth) >= taps * -(-few // depth):
        return None
    if not all(_neighbours(a, outer, deep) for a in factors):
        return None
    rows = [a for a in factors if move(a, lanes) is Move.FIXED]
    constant = {i.name for i in graph.pipeline.inputs if i.constant}
    columns = [a for a in factors if a not in rows]
    if len(rows) != 1 or any(a.name not in constant for a in columns):
        return None
    copied = _as_written(graph, s, {a.name for a in columns})
    if copied is None:
        return None
    values = 1
    for name in dict.fromkeys(v for i in rows[0].indices[:-1] for v in _variables(i, s)):
        values *= length(known[name]) if name not in s.reduce else 1
    return Merged(outer, deep, copied, values * -(-few // COPIED))


def copy_lines(graph: Graph, s: Step, m: Merged) -> list[Line]:
    """The copy, pixels inside of pieces of their channels."""
    name = wrapper_name(m.copied, s.func)
    wrapped = wrap_accesses(graph.pipeline, m.copied, s.func, None)
    variables = next(f for f in wrapped.funcs if f.name == name).variables
    *outer, pixels, last = variables
    lo, li = graph.name(last, "o"), graph.name(last, "i")
    split, order = call("split", [last, lo, li, COPIED]), call("reorder", [*outer, lo, pixels, li])
    marks = [call("vectorize", [li]), call("unroll", [pixels, PIXELS])]
    marks += [call("parallel", [outer[0]])] if outer else []
    return [Line(f"{m.copied}.in({s.func})", ("compute_root()", split, order, *marks))]


def _neighbours(a: ir.Access, outer: str, deep: str) -> bool:
    """Whether steps of the outer reduction go on where the deep one ends, if nothing lies between."""
    places = [d for d, i in enumerate(a.indices) if mentions(i, deep)]
    around = [d for d, i in enumerate(a.indices) if mentions(i, outer)]
    if len(places) != 1 or around != [places[0] - 1]:
        return False
    index = a.indices[places[0]]
    return isinstance(index, ir.Var) and coefficient(linear(a.indices[around[0]]), outer) == 1


def _as_written(graph: Graph, s: Step, others: set[str]) -> str | None:
    """What the update reads in the text besides the other operand: it may be substituted here."""
    func = next(f for f in graph.pipeline.funcs if f.name == s.func)
    assert s.update is not None
    value = func.updates[s.update].value
    read = {n.name for n in nodes_of(value, ir.Access) if n.name != s.func} - others
    return read.pop() if len(read) == 1 else None


def _variables(i: ir.Expr, s: Step) -> list[str]:
    return [n.name for n in nodes_of(i, ir.Var) if n.name in (*s.pure, *s.reduce)]

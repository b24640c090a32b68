"""Edges that are never met at typical sizes: a Func that continues an input beyond its border, and is read
inside of it alone."""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.costs.graph import Graph
from hbc.frontend.costs.spans import Known, index_span
from hbc.frontend.program.funcs import Func
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const
from hbc.ir.lang.types import BOOL, INDEX
from hbc.ir.lang.walk import rewrite

# Whether a comparison holds where a - b is below 0 (or at most), and where it is not.
_BELOW = {ir.Op.LT: (True, False), ir.Op.GE: (False, True)}
_AT_MOST = {ir.Op.LE: (True, False), ir.Op.GT: (False, True)}


def without_edges(graph: Graph, func: Func) -> Func | None:
    """The Func as a plain copy of what it reads, where the limits of its indices hold for all that is needed
    of it; None where they do not, or where it is more than a copy."""
    if func.updates or isinstance(func.pure, ir.Access) or func.name in graph.outputs:
        return None
    box = graph.whole.get(func.name)
    if box is None:
        return None
    known = {**graph.sizes, **dict(zip(func.variables, box, strict=True))}
    found = simplify(rewrite(func.pure, lambda e: _decided(e, known)))
    if not isinstance(found, ir.Access):
        return None
    return replace(func, pure=found)


def _decided(e: ir.Expr, known: Known) -> ir.Expr:
    """A comparison or limit of indices as what it is at these sizes."""
    if not isinstance(e, ir.Binary) or e.a.type != INDEX:
        return e
    span = index_span(ir.Binary(ir.Op.SUB, e.a, e.b), known, {})
    if span is None:
        return e
    low, high = span
    for table, limit in ((_BELOW, -1), (_AT_MOST, 0)):
        if e.op in table and (high <= limit or low > limit):
            return const(table[e.op][0 if high <= limit else 1], BOOL)
    if e.op in (ir.Op.MIN, ir.Op.MAX) and (high <= 0 or low >= 0):
        return e.a if (high <= 0) == (e.op is ir.Op.MIN) else e.b
    return e

"""Blocks that begin at multiples of their size: where what is read depends on quotients, or is limited.

`rows[y] = a[y / 4]` reads one element for a block of four rows only if it begins at a multiple of four. Where
an index is limited, as at the edges of an image, loops know where the limits hold if no block is moved back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm

from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.moves import is_limited, pieces
from hbc.ir.lang import nodes as ir


def pieces_of(graph: Graph, steps: Iterable[Step], v: str) -> int:
    """How many values of a variable belong together for the steps, and for the sums that they read at it."""
    multiple = 1
    for s in steps:
        for a in s.reads:
            multiple = lcm(multiple, *(q for i in a.indices for q in pieces(i, v)))
            inner = graph.funcs.get(a.name)
            for i, theirs in zip(a.indices, () if inner is None else inner.variables, strict=False):
                if isinstance(i, ir.Var) and i.name == v and a.name != s.func:
                    multiple = lcm(multiple, _of_sums(graph, a.name, theirs))
    return multiple


def _of_sums(graph: Graph, name: str, v: str) -> int:
    """The same of a Func, if it is a sum or hands one on: others take elements as they come."""
    below = [a.name for s in graph.steps[name] for a in s.reads if a.name in graph.funcs]
    if not (graph.funcs[name].updates or any(graph.funcs[n].updates for n in below)):
        return 1
    return pieces_of(graph, graph.steps[name], v)


def stays(graph: Graph, steps: Sequence[Step], v: str, lanes: bool) -> bool:
    """Whether the last block along a variable, whose values may be `lanes`, must not be moved back."""
    limited = lanes and any(is_limited(a, v) for s in steps for a in s.reads)
    return limited or pieces_of(graph, steps, v) > 1

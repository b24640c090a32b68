"""Values of `let`s in the indices that use them, so that whoever looks at an index sees all of it.

    let q = clamp(i64(I[x]), 0, 9) in F[q] * q   ->   let q = ... in F[clamp(i64(I[x]), 0, 9)] * q

Bounds, regions, scans and places of producers ask what an index is, not what it is called.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.text.giants import LONGEST
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import children, contains, map_children, mentions, rewrite, substitute


def bind(name: str, value: ir.Expr, body: ir.Expr, span: Span | None) -> ir.Expr | None:
    """`let name = value in body`, in whose indices the value stands itself. None where an index would
    become too long: each of a row of names may stand twice in the next."""
    inside = _in_indices(body, name, without_lets(value))
    if inside is body:
        return ir.Let(name, value, body, span)
    if is_long(inside):
        return None
    return ir.Let(name, value, inside, span) if mentions(inside, name) else inside


def without_lets(e: ir.Expr) -> ir.Expr:
    """The expression with all its names replaced by what they stand for, as far as that is not too
    long."""

    def put(n: ir.Expr) -> ir.Expr:
        if not isinstance(n, ir.Let) or is_long(n):
            return n
        return substitute(n.body, {n.name: n.value})

    return rewrite(e, put) if contains(e, ir.Let) else e


def _in_indices(e: ir.Expr, name: str, value: ir.Expr) -> ir.Expr:
    if isinstance(e, ir.Access):
        return map_children(e, lambda i: _placed(i, name, value))
    return map_children(e, lambda c: _in_indices(c, name, value))


def _placed(index: ir.Expr, name: str, value: ir.Expr) -> ir.Expr:
    """The index with the value, whose place in the text is where the name stands."""
    if isinstance(index, ir.Var) and index.name == name:
        return replace(value, span=index.span)
    return substitute(index, {name: value})


def is_long(e: ir.Expr) -> bool:
    """Whether nobody could wait until it is compiled."""
    return _length(e, {}) > LONGEST


def _length(e: ir.Expr, known: dict[int, int]) -> int:
    """How many nodes, those that stand several times counted as often. (One look at each.)"""
    if id(e) not in known:
        known[id(e)] = 1 + sum(_length(c, known) for c in children(e) if isinstance(c, ir.Expr))
    return known[id(e)]

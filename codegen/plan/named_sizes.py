"""Names for what sizes of arrays have in common, so that each stands once in the text.

    allocate g: f32[2 * max(H, W) + 2] { allocate h: f32[max(H, W) + 1] { .. } }
->  let larger = max(H, W) { allocate g: f32[2 * larger + 2] { allocate h: f32[larger + 1] { .. } } }

Only minima and maxima, whose text is long: those of a pyramid's level stand in the sizes of all levels below.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TypeGuard

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import all_names, contains, free_variables, map_children, nodes

_EXTREMES = (ir.Op.MIN, ir.Op.MAX)
_LONG = 12
"""Nodes from which on a text is named."""


def named_sizes(s: ir.Stmt) -> ir.Stmt:
    """`s`, whose outermost allocations and names share what they ask twice."""
    heads, bound = _heads(s)
    counts = Counter(n for e in heads for n in nodes(e) if _is_extreme(n))
    again = [
        e for e, n in counts.items()
        if n > 1 and sum(1 for _ in nodes(e)) >= _LONG
        and not bound & free_variables(e) and not contains(e, ir.Load)
    ]  # fmt: skip
    if not again:
        return s
    names: dict[ir.Expr, ir.Expr] = {}
    taken, at = all_names(s), 0
    lets: list[tuple[str, ir.Expr]] = []

    def named(e: ir.Expr) -> ir.Expr:
        return names[e] if e in names else map_children(e, named)

    for e in sorted(again, key=lambda e: sum(1 for _ in nodes(e))):  # what others contain first
        at += 1
        while f"larger_{at}" in taken:
            at += 1
        lets.append((f"larger_{at}", map_children(e, named)))
        names[e] = ir.Var(f"larger_{at}", INDEX)

    def head(t: ir.Stmt) -> ir.Stmt:
        match t:
            case ir.Allocate():
                return replace(t, extent=named(t.extent), body=head(t.body))
            case ir.LetStmt() if t.value.type == INDEX:
                return replace(t, value=named(t.value), body=head(t.body))
        return t

    made = head(s)
    for name, value in reversed(lets):
        made = ir.LetStmt(name, value, made)
    return made


def _heads(s: ir.Stmt) -> tuple[list[ir.Expr], set[str]]:
    """What the outermost allocations and names ask, and these names."""
    asked: list[ir.Expr] = []
    bound: set[str] = set()
    while True:
        match s:
            case ir.Allocate(extent=extent):
                asked.append(extent)
            case ir.LetStmt(name=name, value=value) if value.type == INDEX:
                asked.append(value)
                bound.add(name)
            case _:
                return asked, bound
        s = s.body


def _is_extreme(n: ir.Node) -> TypeGuard[ir.Binary]:
    return isinstance(n, ir.Binary) and n.op in _EXTREMES and n.type == INDEX

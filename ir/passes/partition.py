"""Serial loops around a condition that fails only near their end run without it up to there.

    for j in (n + 7) / 8: vector u in 8: if 8 * j + u < n: S
->  for j in n / 8: vector u in 8: S;  for j from n / 8 to (n + 7) / 8: vector u in 8: if ...

What is tested is the condition in the last of the lanes; only loops whose iterations would test it
again and again are divided: the innermost serial ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hbc.ir.algebra.bounds import Interval, bounds
from hbc.ir.algebra.facts import implied
from hbc.ir.algebra.linear import coefficient, of_atom, to_expr, without
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, clamp, floordiv, sub
from hbc.ir.lang.types import Kind
from hbc.ir.lang.walk import block, contains, free_variables, map_stmt, statements


def partition(s: ir.Stmt) -> ir.Stmt:
    """Divides the loops of a statement."""
    s = map_stmt(s, lambda e: e, partition)
    if (
        not isinstance(s, ir.For)
        or s.kind is not ir.LoopKind.SERIAL
        or isinstance(s.extent, ir.Const)
    ):
        return s
    below = list(statements(s.body))
    inner = {x.var: x for x in below if isinstance(x, ir.For)}
    if any(x.kind not in (ir.LoopKind.VECTOR, ir.LoopKind.UNROLL) for x in inner.values()):
        return s
    names = {s.var, *inner, *(x.name for x in below if isinstance(x, ir.LetStmt))}
    limits = [
        (end, condition)
        for condition in _conditions(s.body)
        if (end := _limit(condition, s.var, inner)) is not None
        and free_variables(end).isdisjoint(names)
    ]
    return _divided(s, limits) if limits else s


def _divided(s: ir.For, limits: list[tuple[ir.Expr, ir.Expr]]) -> ir.Stmt:
    """The loop up to the first iteration in which one of the conditions can fail, and the rest."""
    count: ir.Expr = s.extent
    for end, _ in limits:
        count = clamp(simplify(sub(end, s.start)), ir.const_index(0), count)
    count = simplify(count)
    always = _without(s.body, {c for _, c in limits})
    first = replace(s, extent=count, body=always)
    rest = replace(s, start=simplify(add(s.start, count)), extent=simplify(sub(s.extent, count)))
    return block(first, rest)


def _conditions(s: ir.Stmt) -> Iterator[ir.Expr]:
    """What the statement tests, each part of a conjunction by itself."""
    for x in statements(s):
        if isinstance(x, ir.If):
            yield from _parts(x.condition)


def _parts(condition: ir.Expr) -> Iterator[ir.Expr]:
    match condition:
        case ir.Binary(op=ir.Op.AND, a=a, b=b) if condition.type.element.kind is Kind.BOOL:
            yield from _parts(a)
            yield from _parts(b)
        case _:
            yield condition


def _limit(condition: ir.Expr, var: str, inner: Mapping[str, ir.For]) -> ir.Expr | None:
    """Below which value of the loop variable the condition holds in all lanes of the inner loops."""
    forms = list(implied(condition))
    if len(forms) != 1 or contains(condition, ir.Load):
        return None
    c = coefficient(forms[0], var)
    if c >= 0:
        return None
    rest = to_expr(without(forms[0], of_atom(ir.Var(var)).keys[0]))
    ranges = {
        name: Interval(x.start, simplify(sub(add(x.start, x.extent), 1)))
        for name, x in inner.items()
    }
    low = bounds(rest, ranges).lo
    # low - |c| * var >= 0
    return None if low is None else simplify(add(floordiv(low, ir.const_index(-c)), 1))


def _without(s: ir.Stmt, holds: set[ir.Expr]) -> ir.Stmt:
    """The statement where these conditions hold."""
    if not isinstance(s, ir.If):
        return map_stmt(s, lambda e: e, lambda c: _without(c, holds))
    left = [c for c in _parts(s.condition) if c not in holds]
    then = _without(s.then, holds)
    if not left:
        return then
    other = None if s.otherwise is None else _without(s.otherwise, holds)
    return ir.If(and_(*left), then, other)

"""Indices of loads that are held within limits, and the iterations of a loop in which no limit is met.

    A[min(max(16 * x + u - 1, 0), W - 1)], u in 16
->  from x = 1 on, and before x = (W - 15) / 16:  A[16 * x + u - 1]

Under a quotient too: (32 * x + u) / 3 <= W - 1 where 32 * x + u <= 3 * W - 1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import Final

from hbc.ir.algebra.bounds import Interval, bounds
from hbc.ir.algebra.linear import (
    Linear,
    coefficient,
    linear,
    minus,
    of_atom,
    plus,
    scaled,
    shifted,
    to_expr,
    without,
)  # fmt: skip
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, floordiv, ge, le, sub
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import (
    contains,
    free_variables,
    map_children,
    map_stmt,
    mentions,
    nodes,
    nodes_of,
)
from hbc.ir.vectors.vector_masks import plain_loop

GATHERED_BITS = 32
Ranges = Mapping[str, Interval]
"""Of the variables of the loops inside."""


@record
class Span:
    """Iterations from `first` on, or those before `end`. `alone`: when in these the one limit may go and
    the limits inside of it stay, which it must not contradict."""

    first: ir.Expr | None = None
    end: ir.Expr | None = None
    alone: ir.Expr = field(default=ir.const_bool(True))


EXTREMES: Final = (ir.Op.MIN, ir.Op.MAX)
Clamps = dict[ir.Expr, Span]
"""Minima and maxima, and when they are the operand that depends on the loop."""


def clamped_indices(s: ir.Stmt, var: str, inner: Ranges, bound: Collection[str]) -> Clamps:
    """Those in the indices of loads in `s`, the body of the loop over `var`. `bound`: the names that mean
    nothing outside."""
    clamps: Clamps = {}
    for load in nodes_of(s, ir.Load):
        for n in nodes_of(load.index, ir.Binary):
            if n.op in EXTREMES and n not in clamps:
                spans = _spans(n, var, inner)
                if spans and all(_is_outside(span, bound) for span in spans.values()):
                    clamps |= spans
    return clamps


def without_clamps(s: ir.Stmt, clamps: Clamps, var: str) -> ir.Stmt:
    """The statement in iterations in which none of them meets its limit."""

    def index(e: ir.Expr) -> ir.Expr:
        extreme = isinstance(e, ir.Binary) and e.op in EXTREMES
        if extreme and e in clamps and (kept := _kept(e, var)) is not None:
            return index(kept)
        return map_children(e, index)

    def expr(e: ir.Expr) -> ir.Expr:
        new = map_children(e, expr)
        if not isinstance(new, ir.Load):
            return new
        return ir.Load(new.buffer, simplify(index(new.index)), new.type, new.mask, new.span)

    return map_stmt(s, expr, lambda c: without_clamps(c, clamps, var))


def _kept(e: ir.Expr, var: str) -> ir.Expr | None:
    """The operand of an extreme that depends on the loop, if one alone does."""
    if not isinstance(e, ir.Binary) or e.op not in EXTREMES or e.type != INDEX:
        return None
    depends = [x for x in (e.a, e.b) if mentions(x, var)]
    return depends[0] if len(depends) == 1 else None


def _spans(e: ir.Binary, var: str, inner: Ranges) -> Clamps | None:
    """That of the extreme, and of those inside of it; None where one of them has none."""
    kept = _kept(e, var)
    if kept is None or contains(e, ir.Load):  # which a store may change
        return None
    clamps: Clamps = {}
    plain = _plain(kept, var, inner, clamps)
    if plain is None:
        return None
    limit = _limit(e, kept)
    gap = minus(linear(limit), linear(plain))
    span = _span(gap if e.op is ir.Op.MIN else scaled(gap, -1), var, inner)
    if span is None:
        return None
    order = le if e.op is ir.Op.MAX else ge
    inside = [n for n in clamps if isinstance(n, ir.Binary) and n.op is not e.op]
    alone = and_(*(order(limit, _limit(n, _kept(n, var))) for n in inside))
    return {**clamps, e: replace(span, alone=alone)}


def _limit(e: ir.Binary, kept: ir.Expr | None) -> ir.Expr:
    return e.b if kept is e.a else e.a


def _plain(e: ir.Expr, var: str, inner: Ranges, clamps: Clamps) -> ir.Expr | None:
    """An operand without the extremes in it, whose spans are added to `clamps`."""
    if not isinstance(e, ir.Binary) or not mentions(e, var):
        return e
    if e.op in EXTREMES:
        spans, kept = _spans(e, var, inner), _kept(e, var)
        clamps |= spans or {}
        return None if spans is None or kept is None else _plain(kept, var, inner, clamps)
    a, b = (_plain(x, var, inner, clamps) for x in (e.a, e.b))
    return None if a is None or b is None else ir.Binary(e.op, a, b)


def _span(form: Linear, var: str, inner: Ranges) -> Span | None:
    """Where the form is >= 0 whatever the loops inside do."""
    form = _outside_of_quotient(form, var)
    step = coefficient(form, var)
    rest = to_expr(without(form, of_atom(ir.Var(var)).keys[0]))
    low = None if step == 0 or mentions(rest, var) else bounds(rest, inner).lo
    if low is None:
        return None
    # step * var + low >= 0
    most = floordiv(low, ir.const_index(abs(step)))
    return Span(first=simplify(sub(0, most))) if step > 0 else Span(end=simplify(add(most, 1)))


def _outside_of_quotient(form: Linear, var: str) -> Linear:
    """x / d + r >= 0 as x + d * r >= 0, and r - x / d >= 0 as d * r + d - 1 - x >= 0."""
    for (atom, sign), key in zip(form.terms, form.keys, strict=True):
        match atom:
            case ir.Binary(op=ir.Op.DIV, a=x, b=ir.Const(value=d)) if (
                abs(sign) == 1 and d > 0 and mentions(x, var)
            ):
                rest = scaled(without(form, key), int(d))
                moved = plus(rest, linear(x), sign)
                return moved if sign > 0 else shifted(moved, int(d) - 1)
    return form


def _is_outside(span: Span, bound: Collection[str]) -> bool:
    parts = (span.first, span.end, span.alone)
    return all(e is None or free_variables(e).isdisjoint(bound) for e in parts)


def lane_by_lane(s: ir.Stmt, kept: Collection[str]) -> ir.Stmt:
    """The statement with vector loops as plain loops where elements are too narrow to be gathered: in vectors
    each lane would have its own index, with minima and quotients, in the text. Not where arrays that are
    `kept` in registers are touched, which have no index."""
    if not isinstance(s, ir.For) or s.kind is not ir.LoopKind.VECTOR:
        return map_stmt(s, lambda e: e, lambda c: lane_by_lane(c, kept))
    below = list(nodes(s.body))
    apart = any(
        n.type.element.bits < GATHERED_BITS and _is_held(n.index, s.var)
        for n in below if isinstance(n, ir.Load)
    )  # fmt: skip
    touched = {n.buffer for n in below if isinstance(n, ir.Load | ir.Store | ir.Allocate)}
    return plain_loop(s) if apart and touched.isdisjoint(kept) else s


def _is_held(index: ir.Expr, var: str) -> bool:
    """Whether there is an extreme in it that depends on more than the lane."""
    binaries = nodes_of(index, ir.Binary)
    return any(_kept(n, var) is not None and free_variables(n) != {var} for n in binaries)

"""Of a loop, the iterations in which conditions are decided and minima and maxima are one operand.

    for x in W: A[max(x - 1, 0)] + select(x + 1 < W, A[x + 1], 0)
->  from x = 1 on, and before x = W - 1: the maximum is x - 1, and the condition holds

A condition is as often decided one way as the other. Taken is what leaves few iterations out, at the begin
or at the end of the loop; where sizes are unknown, that it holds, and the operand that depends on the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hbc.ir.algebra.bounds import bounds, constant_bounds, prove
from hbc.ir.algebra.facts import Facts, Interval
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
)
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, floordiv, ge, gt, maximum, minimum, select, sub
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import (
    contains,
    free_variables,
    inner_statements,
    map_children,
    map_stmt,
    mentions,
    nodes,
    nodes_of,
    own_expressions,
)

Ranges = Mapping[str, Interval]
_OPEN = Interval(None, None)
ROUNDS = 6  # what one decides shows what the next one may
_DECIDED = (
    ir.Op.LT, ir.Op.LE, ir.Op.GT, ir.Op.GE, ir.Op.EQ, ir.Op.NE, ir.Op.MIN, ir.Op.MAX,
)  # fmt: skip


@record
class Span:
    """The iterations from all of `firsts` on and before all of `ends`, where the `guards` hold, which the
    loop does not change."""

    firsts: tuple[ir.Expr, ...] = ()
    ends: tuple[ir.Expr, ...] = ()
    guards: tuple[ir.Expr, ...] = ()

    def __add__(self, other: Span) -> Span:
        firsts, ends = self.firsts + other.firsts, self.ends + other.ends
        return Span(firsts, ends, self.guards + other.guards)

    def parts(self) -> tuple[ir.Expr, ...]:
        return self.firsts + self.ends + self.guards


@record
class Middle:
    """The iterations from `before` to `until`, counted from the loop's start, and what its body then is.
    Where the loop has none, neither is more than there are."""

    before: ir.Expr
    until: ir.Expr
    body: ir.Stmt


def middle(loop: ir.For) -> Middle | None:
    """None where the loop decides nothing."""
    body, span = loop.body, Span()
    for _ in range(ROUNDS):
        known = _decided(replace(loop, body=body))
        if not known:
            break
        span = sum((s for _, s in known.values()), span)
        body = simplify_stmt(_with(body, {e: value for e, (value, _) in known.items()}))
    if body is loop.body:
        return None
    before: ir.Expr = ir.const_index(0)
    until = loop.extent
    for x in dict.fromkeys(span.firsts):
        before = maximum(before, simplify(sub(x, loop.start)))
    for x in dict.fromkeys(span.ends):
        until = minimum(until, simplify(sub(x, loop.start)))
    before = simplify(minimum(before, loop.extent))
    until = simplify(maximum(until, before))
    runs = Facts().with_condition(gt(loop.extent, 0))
    guards = [g for g in dict.fromkeys(span.guards) if prove(g, runs) is not True]
    if guards:
        until = select(simplify(and_(*guards)), until, before)
    return Middle(before, until, body)


def _decided(loop: ir.For) -> dict[ir.Expr, tuple[ir.Expr, Span]]:
    """What is decided in the body as it stands, and where: all for which few iterations are left out; if
    there are none, the first of what is likely."""
    bound = _bound(loop.body)
    options: dict[ir.Expr, dict[ir.Expr, Span]] = {}
    for e, ranges in _candidates(loop.body, {}):
        found = _options(e, loop.var, ranges)
        found = {v: s for v, s in found.items() if all(_is_outside(x, bound) for x in s.parts())}
        earlier = options.get(e)
        if earlier is not None:  # the same text elsewhere, where its names may range otherwise
            found = {value: s + earlier[value] for value, s in found.items() if value in earlier}
        options[e] = found
    runs = Facts().with_condition(gt(loop.extent, 0))
    few: dict[ir.Expr, tuple[ir.Expr, Span]] = {}
    likely: dict[ir.Expr, tuple[ir.Expr, Span]] = {}
    for each, found in options.items():
        counted = [(n, v) for v, s in found.items() if (n := _left_out(s, loop, runs)) is not None]
        if counted:
            value = min(counted, key=lambda x: (x[0], not _is_likely(x[1], loop, bound)))[1]
            few[each] = (value, found[value])
        for value in found:
            if _is_likely(value, loop, bound):
                likely.setdefault(each, (value, found[value]))
    return few or dict([*likely.items()][:1])


def _left_out(span: Span, loop: ir.For, runs: Facts) -> int | None:
    """How many iterations at most, if that is a number."""
    end = add(loop.start, loop.extent)
    left = [sub(x, loop.start) for x in span.firsts] + [sub(end, x) for x in span.ends]
    most = [constant_bounds(simplify(x), runs)[1] for x in left]
    known = [m for m in most if m is not None]
    return max(known) if len(known) == len(most) else None


def _is_likely(value: ir.Expr, loop: ir.For, bound: frozenset[str]) -> bool:
    """A condition that holds, or the operand that depends on the loop."""
    return value == ir.const_bool(True) or not free_variables(value).isdisjoint(bound | {loop.var})


def _with(s: ir.Stmt, known: Mapping[ir.Expr, ir.Expr]) -> ir.Stmt:
    """The statement where these expressions are what they are known to be."""

    def expr(e: ir.Expr) -> ir.Expr:
        value = known.get(e) if isinstance(e, ir.Binary) else None
        return map_children(e, expr) if value is None else expr(value)

    return map_stmt(s, expr, lambda c: _with(c, known))


def _candidates(s: ir.Stmt, ranges: Ranges) -> Iterator[tuple[ir.Binary, Ranges]]:
    """Comparisons, minima and maxima of indices, and the ranges of the names that are bound around them."""
    for e in own_expressions(s):
        for n in nodes(e):
            if isinstance(n, ir.Binary) and _may_decide(n):
                yield n, ranges
    match s:
        case ir.For(var=var, start=start, extent=extent):
            last = simplify(sub(add(start, extent), 1))
            ranges = {**_without(ranges, var), var: Interval(start, last)}
        case ir.LetStmt(name=name, value=value):
            index = value.type == INDEX and not contains(value, ir.Load)
            ranges = {**_without(ranges, name), name: Interval(value, value) if index else _OPEN}
        case _:
            pass
    for c in inner_statements(s):
        yield from _candidates(c, ranges)


def _may_decide(e: ir.Binary) -> bool:
    return e.op in _DECIDED and e.a.type == INDEX and not contains(e, ir.Load)


def _without(ranges: Ranges, name: str) -> Ranges:
    return {k: r for k, r in ranges.items() if k != name} if name in ranges else ranges


def _bound(s: ir.Stmt) -> frozenset[str]:
    """All names that are bound in the statement."""
    found = (
        n.var if isinstance(n, ir.For) else n.name for n in nodes_of(s, ir.For, ir.LetStmt, ir.Let)
    )
    return frozenset(found)


def _is_outside(e: ir.Expr, bound: frozenset[str]) -> bool:
    return free_variables(e).isdisjoint(bound) and not contains(e, ir.Load)


def _at_least(a: ir.Expr, b: ir.Expr) -> Linear:
    return minus(linear(a), linear(b))


def _above(a: ir.Expr, b: ir.Expr) -> Linear:
    return shifted(_at_least(a, b), -1)


def _cases(e: ir.Binary) -> Iterator[tuple[ir.Expr, Linear]]:
    """What the expression is where a form is >= 0."""
    a, b, yes, no = e.a, e.b, ir.const_bool(True), ir.const_bool(False)
    match e.op:
        case ir.Op.LT:
            yield from ((yes, _above(b, a)), (no, _at_least(a, b)))
        case ir.Op.LE:
            yield from ((yes, _at_least(b, a)), (no, _above(a, b)))
        case ir.Op.GT:
            yield from ((yes, _above(a, b)), (no, _at_least(b, a)))
        case ir.Op.GE:
            yield from ((yes, _at_least(a, b)), (no, _above(b, a)))
        case ir.Op.EQ:
            yield from ((no, _above(a, b)), (no, _above(b, a)))
        case ir.Op.NE:
            yield from ((yes, _above(a, b)), (yes, _above(b, a)))
        case ir.Op.MIN:
            yield from ((a, _at_least(b, a)), (b, _at_least(a, b)))
        case ir.Op.MAX:
            yield from ((a, _at_least(a, b)), (b, _at_least(b, a)))
        case _:
            pass


def _options(e: ir.Binary, var: str, ranges: Ranges) -> dict[ir.Expr, Span]:
    """What the expression may be, and in which iterations it is that."""
    found: dict[ir.Expr, Span] = {}
    for value, form in _cases(e):
        low = bounds(to_expr(form), ranges).lo
        span = None if low is None else _span(linear(low), var)
        # Of two ways to be unequal, the one that leaves out what comes first.
        new = value not in found or (span is not None and span.firsts)
        if span is not None and (span.firsts or span.ends) and new:
            found[value] = span
    return found


def _span(form: Linear, var: str) -> Span | None:
    """Where the form is >= 0; None where that is more than a span."""
    for (atom, times), key in zip(form.terms, form.keys, strict=True):
        if isinstance(atom, ir.Var) or not mentions(atom, var):
            continue
        rest = without(form, key)
        match atom:
            case ir.Binary(op=op, a=a, b=b) if op is (ir.Op.MIN if times > 0 else ir.Op.MAX):
                parts = [_span(plus(rest, linear(x), times), var) for x in (a, b)]
                return None if None in parts else sum((p for p in parts if p), Span())
            case ir.Binary(op=ir.Op.DIV, a=x, b=ir.Const(value=d)) if abs(times) == 1 and d > 0:
                # x / d + r >= 0 as x + d * r >= 0, and r - x / d >= 0 as d * r + d - 1 - x >= 0
                moved = plus(scaled(rest, int(d)), linear(x), times)
                return _span(moved if times > 0 else shifted(moved, int(d) - 1), var)
            case _:
                return None
    step = coefficient(form, var)
    if step == 0:
        return Span(guards=(simplify(ge(to_expr(form), 0)),))
    low = to_expr(without(form, of_atom(ir.Var(var)).keys[0]))
    most = floordiv(low, ir.const_index(abs(step)))  # step * var + low >= 0
    if step > 0:
        return Span(firsts=(simplify(sub(0, most)),))
    return Span(ends=(simplify(add(most, 1)),))

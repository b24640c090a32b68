"""Loops without the iterations in which nothing happens: where all that a loop does is under a condition.

for k in N { if (ptr[i] <= k & k < ptr[i + 1]) .. }   ->   for k from ptr[i] count ptr[i + 1] - ptr[i] { .. }

A condition that says something of a loop inside as well, or of the lanes around, as of the vectors that a
split makes, cuts the loop as far as none of these can have it, and stays. A loop of several steps ends where
those do nothing any more whose results are read behind it: what the others make is for these alone.

for t in N { s = f(t);  if (t < i / 4) O[i] += s }   ->   for t in min(N, i / 4) { s = f(t);  O[i] += s }
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from functools import reduce

from hbc.ir.algebra.facts import Facts, Interval, implied
from hbc.ir.algebra.linear import Linear, coefficient, of_atom, scaled, shifted, to_expr, without
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, floordiv, maximum, minimum, sub
from hbc.ir.lang.walk import (
    contains,
    free_variables,
    map_stmt,
    mentions,
    names_read,
    nodes,
    nodes_of,
    statements,
    substitute_stmt,
)
from hbc.ir.vectors.vector_masks import conjuncts

IN_ORDER = (ir.LoopKind.SERIAL, ir.LoopKind.PARALLEL)
PLAIN = (ir.Store, ir.For, ir.Block, ir.LetStmt, ir.Allocate, ir.If)
ONCE = ir.const_index(1)

Roots = Mapping[str, frozenset[str]]
"""By the name of a loop, the variables of the Func or of its reductions that it is made from."""

Spans = Mapping[str, tuple[int, int]]
"""The least and greatest value of variables of loops."""


@record
class Cut:
    """The loop's variable is at least, or less than, `end`. `form` is not negative by a part of the
    condition; `whole`: nothing else is asked by that part, which then always holds."""

    end: ir.Expr
    is_start: bool
    form: Linear
    part: ir.Expr
    condition: ir.Expr
    whole: bool


@record
class Around:
    """What is around a statement: `spans`, the loops over lanes whose ends are numbers; `lanes`, other names
    that differ between the lanes of a vector; `held`, arrays, since the last loop that may have several
    iterations."""

    spans: Spans = field(default_factory=dict)
    lanes: frozenset[str] = frozenset()
    held: tuple[ir.Allocate, ...] = ()


NOTHING = Around()


def trimmed(s: ir.Stmt, roots: Roots, around: Around = NOTHING) -> ir.Stmt:
    """The statement with all such loops cut to where their conditions may hold. Conditions are those that
    read data, or compare loops over different variables: others are of the ends of pieces."""
    inside = around
    match s:
        case ir.For(kind=ir.LoopKind.VECTOR, start=ir.Const(), extent=ir.Const()):
            inside = replace(around, spans=_with_span(around.spans, s), held=())
        case ir.For(kind=ir.LoopKind.VECTOR, var=var):
            inside = replace(around, lanes=around.lanes | {var}, held=())
        case ir.For(extent=extent) if extent != ONCE:
            inside = replace(around, held=())
        case ir.LetStmt(name=name, value=value) if not free_variables(value).isdisjoint(
            {*around.lanes, *around.spans}
        ):
            inside = replace(around, lanes=around.lanes | {name})
        case ir.Allocate():
            inside = replace(around, held=(*around.held, s))
        case _:
            pass
    ends: list[tuple[str, ir.Expr]] = []
    if isinstance(s, ir.For) and s.kind in IN_ORDER and _is_asked(s):
        s, ends = _cut(s, roots, around, _lasting(s, around.held))
    # Those inside later: what they take out of conditions says something of this one, too.
    new = map_stmt(s, lambda e: e, lambda c: trimmed(c, roots, inside))
    for name, value in reversed(ends):
        new = ir.LetStmt(name, value, new)
    return new


def _is_asked(s: ir.For) -> bool:
    """Whether a condition inside speaks of it."""
    asked = (x for x in statements(s.body) if isinstance(x, ir.If))
    return any(mentions(x.condition, s.var) for x in asked)


def _with_span(spans: Spans, s: ir.For) -> Spans:
    """With those of a loop from a number to a number; they stay as they are for another."""
    match s:
        case ir.For(start=ir.Const(value=low), extent=ir.Const(value=n)):
            return {**spans, s.var: (int(low), int(low) + int(n) - 1)}
    return spans


def _lasting(s: ir.For, held: Collection[ir.Allocate]) -> frozenset[str]:
    """The arrays that the loop stores to and that others read, or its iterations when it comes again."""
    own = {x.buffer for x in statements(s.body) if isinstance(x, ir.Allocate)}
    stored = {x.buffer for x in statements(s.body) if isinstance(x, ir.Store)}
    for a in held:
        if a.buffer in stored and _loads(a.body, a.buffer) == _loads(s, a.buffer):
            own.add(a.buffer)
    return frozenset(stored - own)


def _loads(s: ir.Stmt, buffer: str) -> int:
    return sum(isinstance(n, ir.Load) and n.buffer == buffer for n in nodes(s))


def _cut(
    s: ir.For, roots: Roots, around: Around, lasting: Collection[str]
) -> tuple[ir.For, list[tuple[str, ir.Expr]]]:
    """The loop and the names that it then has, with their values: where it begins, how long it is."""
    stored = {n.buffer for n in nodes_of(s.body, ir.Store)}
    on_gpu = any(isinstance(x, ir.For) and x.kind in ir.GPU_LOOPS for x in statements(s.body))
    cuts = [
        c
        for c in _cuts(s.body, s.var, around.spans, around.lanes, lasting)
        if (contains(c.condition, ir.Load) or _relates(c, s.var, roots))
        and not (on_gpu and contains(c.end, ir.Load))
        and stored.isdisjoint(n.buffer for n in nodes_of(c.end, ir.Load))
    ]
    if not cuts:
        return s, []
    taken = names_read(s)
    first, count = _fresh(f"{s.var}_from", taken), _fresh(f"{s.var}_count", taken)
    low = reduce(maximum, dict.fromkeys(c.end for c in cuts if c.is_start), s.start)
    stop = add(s.start, s.extent)
    high = reduce(minimum, dict.fromkeys(c.end for c in cuts if not c.is_start), stop)
    body = _without(s.body, {c.part for c in cuts if c.whole}, around.spans)
    loop = replace(s, start=ir.Var(first), extent=ir.Var(count), body=body)
    return loop, [(first, simplify(low)), (count, simplify(sub(high, ir.Var(first))))]


def _relates(c: Cut, var: str, roots: Roots) -> bool:
    """Whether it compares the loop with one over other variables, or with the least of some that are.
    (A sum of several that is less than an extent is the end of pieces.)"""
    sign = coefficient(c.form, var)
    own = roots.get(var, frozenset())
    return any(
        own.isdisjoint(roots.get(name, own))
        for atom, factor in c.form.terms
        if factor * sign < 0
        for name in _compared(atom)
    )


def _compared(atom: ir.Expr) -> frozenset[str]:
    match atom:
        case ir.Var(name=name):
            return frozenset((name,))
        case ir.Binary(op=ir.Op.MIN | ir.Op.MAX):
            return free_variables(atom)
    return frozenset()


def _cuts(
    s: ir.Stmt, var: str, inside: Spans, hidden: frozenset[str], lasting: Collection[str]
) -> Iterator[Cut]:
    """What the conditions around everything in the statement say of the variable, or of several statements
    those around all that stores what is `lasting`. `inside`: loops on the way, and lanes; of those that
    are `hidden` nothing is known."""
    match s:
        case ir.If(condition=condition, then=then, otherwise=None):
            for c in conjuncts(condition):
                yield from _said(c, var, inside, hidden)
            yield from _cuts(then, var, inside, hidden, lasting)
        case ir.For(start=ir.Const(), extent=ir.Const(), body=body):
            yield from _cuts(body, var, _with_span(inside, s), hidden, lasting)
        case ir.For(var=own, start=start, extent=extent, body=body) if extent == ONCE:
            yield from _cuts(substitute_stmt(body, {own: start}), var, inside, hidden, lasting)
        case ir.For(var=own, body=body) | ir.LetStmt(name=own, body=body):
            yield from _cuts(body, var, inside, hidden | {own}, lasting)
        case ir.Allocate(body=body):
            yield from _cuts(body, var, inside, hidden, lasting)
        case ir.Block(body=steps):
            found = [
                {c.end: c for c in _cuts(x, var, inside, hidden, lasting) if not c.is_start}
                for x in steps
                if _lasts(x, lasting)
            ]
            yield from (c for c in found[0].values() if all(c.end in f for f in found[1:]))
        case _:
            return


def _lasts(s: ir.Stmt, lasting: Collection[str]) -> bool:
    return any(
        x.buffer in lasting if isinstance(x, ir.Store) else not isinstance(x, PLAIN)
        for x in statements(s)
    )


def _said(condition: ir.Expr, var: str, inside: Spans, hidden: frozenset[str]) -> list[Cut]:
    """The cuts by one condition: as it stands, else in the simplest form that the loops allow."""
    found = _by(condition, condition, var, inside, hidden)
    if found or not mentions(condition, var):
        return found
    parts = _parts(condition, inside)
    return [c for part in parts for c in _by(part, condition, var, inside, hidden)]


def _parts(condition: ir.Expr, inside: Spans) -> list[ir.Expr]:
    ranges = {v: Interval(ir.const_index(a), ir.const_index(b)) for v, (a, b) in inside.items()}
    return conjuncts(simplify(condition, Facts(ranges)))


def _by(
    part: ir.Expr, condition: ir.Expr, var: str, inside: Spans, hidden: frozenset[str]
) -> list[Cut]:
    forms = list(implied(part))
    cuts = [_cut_by(form, part, condition, var, inside, hidden) for form in forms]
    return [replace(c, whole=c.whole and len(forms) == 1) for c in cuts if c is not None]


def _cut_by(
    form: Linear, part: ir.Expr, condition: ir.Expr, var: str, inside: Spans, hidden: frozenset[str]
) -> Cut | None:
    """From `form >= 0`, which is c * var + rest: the variable is at least -rest / c, or at most rest / -c."""
    c = coefficient(form, var)
    if c == 0:
        return None
    rest, exact = without(form, of_atom(ir.Var(var)).keys[0]), abs(c) == 1
    for key, (atom, factor) in zip(rest.keys, rest.terms, strict=True):
        if isinstance(atom, ir.Var) and atom.name in inside:
            low, high = inside[atom.name]
            exact = False
            rest = shifted(without(rest, key), factor * (high if factor > 0 else low))
    if not free_variables(to_expr(rest)).isdisjoint({var, *inside, *hidden}):
        return None
    if c > 0:
        start = _divided(shifted(scaled(rest, -1), c - 1), c)
        return Cut(start, True, form, part, condition, exact)
    return Cut(add(_divided(rest, -c), 1), False, form, part, condition, exact)


def _divided(form: Linear, by: int) -> ir.Expr:
    return to_expr(form) if by == 1 else floordiv(to_expr(form), by)


def _without(s: ir.Stmt, parts: Collection[ir.Expr], inside: Spans) -> ir.Stmt:
    """The statement without these parts of its conditions."""
    match s:
        case ir.If(condition=condition, then=then, otherwise=None):
            kept = [p for c in conjuncts(condition) for p in _kept(c, parts, inside)]
            then = _without(then, parts, inside)
            return ir.If(and_(*kept), then, None, s.span) if kept else then
        case ir.For():
            inside = _with_span(inside, s)
        case _:
            pass
    return map_stmt(s, lambda e: e, lambda c: _without(c, parts, inside))


def _kept(condition: ir.Expr, parts: Collection[ir.Expr], inside: Spans) -> list[ir.Expr]:
    own = [condition] if condition in parts else _parts(condition, inside)
    left = [p for p in own if p not in parts]
    return left if len(left) < len(own) else [condition]


def _fresh(name: str, taken: set[str]) -> str:
    number = 1
    own = name
    while own in taken:
        number += 1
        own = f"{name}_{number}"
    return own

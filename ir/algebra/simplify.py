"""Simpler expressions and statements of the same value, from normal forms and the tables of `rules`.

Scalar index arithmetic takes the form of `linear`, strided vector indices that of `layout`; the rest
is rewritten by rules. Conditions, min and max are decided where the ranges of loop variables and
sizes prove them. A result simplifies to itself, and what does not change is the same object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field, replace
from typing import assert_never

from hbc.ir.algebra.bounds import prove
from hbc.ir.algebra.comparison import comparison
from hbc.ir.algebra.facts import NOTHING, Facts, Interval
from hbc.ir.algebra.form import MOST_REMEMBERED
from hbc.ir.algebra.layout import layout, to_index
from hbc.ir.algebra.linear import Reading, canonical, is_polynomial, linear, read, shifted, to_expr
from hbc.ir.algebra.linear import plus as sum_of
from hbc.ir.algebra.lower_bound import least
from hbc.ir.algebra.rules import REWRITER
from hbc.ir.ground.record import record
from hbc.ir.lang import build
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import I64, INDEX
from hbc.ir.lang.walk import (
    block,
    contains,
    free_variables,
    map_children,
    map_stmt,
    mentions,
    nodes_of,
    reads,
    substitute,
    substitute_stmt,
)

NOTHING_TO_DO = ir.Block(())
ZERO = ir.const_index(0)


@record
class Scope:
    """The facts that hold here, the statements and expressions that are simple already (by identity), the
    variables of the vector loops around, and what has been simplified under the facts (by identity;
    the expression is held so that it stays alive)."""

    facts: Facts
    done: Collection[int] = ()
    lanes: frozenset[str] = frozenset()
    seen: dict[int, tuple[ir.Expr, ir.Expr]] = field(default_factory=dict)
    reading: list[Reading] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.seen) + len(self.facts.found) + sum(len(r.seen) for r in self.reading)

    def arithmetic(self) -> Reading:
        """How index arithmetic is read here."""
        if not self.reading:
            facts = self.facts
            self.reading.append(
                Reading(False, lambda e: _atom(e, self), lambda form: least(form, facts))
            )
        return self.reading[0]


def simplify(e: ir.Expr, facts: Facts = NOTHING) -> ir.Expr:
    """`e` in simplest form, given what is known of its variables."""
    return _expr(e, _scope_of(facts))


def simplify_stmt(s: ir.Stmt, facts: Facts = NOTHING, done: Collection[int] = ()) -> ir.Stmt:
    """`s` with its expressions simplified under the ranges of the loops around them, and without
    statements that do nothing. `Block(())` when nothing is left. `done`: the ids of statements inside
    that were simplified where they stand, and of expressions of such."""
    return _stmt(s, Scope(facts if facts is not NOTHING else Facts(), done))


_scopes: dict[bool, Scope] = {}
"""Where nothing is known, and where what was asked for last is known besides."""


def _scope_of(facts: Facts) -> Scope:
    """That of before, with what was simplified in it, until it has grown large."""
    is_any = facts is not NOTHING
    known = _scopes.get(is_any)
    if known is None or (is_any and known.facts is not facts) or known.size > MOST_REMEMBERED:
        known = _scopes[is_any] = Scope(facts if is_any else Facts())
    return known


_latest: list[Kernel] = []  # what was simplified last


def simplify_kernel(kernel: Kernel, done: Collection[int] = ()) -> Kernel:
    """The kernel with its body simplified: fixed sizes are literals, others are >= 0, and the checks
    hold. `done`: as for `simplify_stmt`."""
    if _latest and _latest[0] is kernel:  # no pass between two simplifications had anything to do
        return kernel
    fixed = {s.name: ir.const_index(s.fixed) for s in kernel.sizes if s.fixed is not None}
    facts = Facts(
        {s.name: Interval(fixed.get(s.name, ZERO), fixed.get(s.name)) for s in kernel.sizes}
    )
    for check in kernel.checks:
        facts = facts.with_condition(check.condition)
    simple = kernel.map_body(lambda body: simplify_stmt(substitute_stmt(body, fixed), facts, done))
    _latest[:] = [simple]
    return simple


def _expr(e: ir.Expr, scope: Scope) -> ir.Expr:
    if e.__class__ is ir.Const or e.__class__ is ir.Var or id(e) in scope.done:
        return e
    known = scope.seen.get(id(e))
    if known is not None:
        return known[1]
    new = _simplified(e, scope)
    scope.seen[id(e)] = (e, new)
    if new is not e:
        scope.seen[id(new)] = (new, new)
    return new


def _simplified(e: ir.Expr, scope: Scope) -> ir.Expr:
    t = e.type
    if t == INDEX:
        plain = is_polynomial(e)
        new = canonical(e) if plain else to_expr(read(e, scope.arithmetic()))
    elif isinstance(e, ir.Binary) and e.op in ir.COMPARISONS and e.a.type == INDEX:
        reading = scope.arithmetic()
        new = comparison(e.op, read(e.a, reading), read(e.b, reading), scope.facts)
    elif t.element == I64 and (flat := layout(e, lambda x: _expr(x, scope))) is not None:
        new = to_index(flat)
    else:
        return _atom(e, scope)
    return e if new == e else new


def _atom(e: ir.Expr, scope: Scope) -> ir.Expr:
    """`e`, which is not scalar index arithmetic, by the rules."""
    if isinstance(e, ir.Let):
        return _let(e, scope)
    inner = map_children(e, lambda c: _expr(c, scope))
    if inner is not e and inner.type.element == I64 and inner.type.lanes > 1:
        flat = layout(inner, lambda x: _expr(x, scope))
        if flat is not None:  # now that the operands are simpler
            return to_index(flat)
    new = _by_rules(inner, scope.facts)
    if new is inner:
        return inner
    return e if new == e and build.same(new, e) else _expr(new, scope)


def _by_rules(e: ir.Expr, facts: Facts) -> ir.Expr:
    """One step at the root, or `e`."""
    match e:
        case ir.Binary(op=op, a=a, b=b):
            new = build.binary(op, a, b)
        case ir.Unary(op=ir.UnaryOp.NOT, a=a):
            new = build.not_(a)
        case ir.Unary(op=ir.UnaryOp.NEG, a=a):
            new = build.neg(a)
        case ir.Cast(type=t, value=v):
            new = build.cast(t, v)
        case ir.Select(condition=c, a=a, b=b):
            new = build.select(c, a, b)
        case ir.Call():
            new = _call(e)
        case ir.Load():
            new = _load(e)
        case ir.VectorReduce(op=op, value=v, lanes=lanes):
            new = v if lanes == v.type.lanes else _reduced_broadcast(e)
        case ir.Gather():
            new = _gather(e)
        case _:
            new = e
    if new is not e and new != e:
        return new
    return REWRITER.apply(e, facts)


def _call(e: ir.Call) -> ir.Expr:
    """Folded, or computed once for all lanes."""
    match e.args:
        case (ir.Broadcast(value=v, lanes=n),):
            return ir.Broadcast(ir.Call(e.name, (v,), e.type.with_lanes(v.type.lanes), e.span), n)
        case _:
            return build.call(e)


def _load(e: ir.Load) -> ir.Expr:
    """Without a mask that is always true, or the zeros of one that never is; once for all lanes."""
    live = None if e.mask is None else build.const_value(e.mask)
    if live is not None:
        return ir.Load(e.buffer, e.index, e.type, None, e.span) if live else build.const(0, e.type)
    if e.mask is None and isinstance(e.index, ir.Broadcast):
        v, n = e.index.value, e.index.lanes
        return ir.Broadcast(ir.Load(e.buffer, v, e.type.with_lanes(v.type.lanes), None, e.span), n)
    return e


def _reduced_broadcast(e: ir.VectorReduce) -> ir.Expr:
    """Copies of one scalar: the scalar, or for integer sums so many times it."""
    if not isinstance(e.value, ir.Broadcast) or e.value.value.type.lanes > 1:
        return e
    one = e.value.value
    if e.op in (ir.Op.MIN, ir.Op.MAX, ir.Op.AND, ir.Op.OR):
        return build.broadcast(one, e.lanes)
    if e.op is ir.Op.ADD and one.type.element.is_int:
        return build.broadcast(build.mul(one, e.value.type.lanes // e.lanes), e.lanes)
    return e


def _gather(e: ir.Gather) -> ir.Expr:
    """Lanes taken in order, of copies, or from another gather."""
    picks = e.lanes
    if picks == tuple(range(e.value.type.lanes)):
        return e.value
    if -1 not in picks:
        if isinstance(e.value, ir.Broadcast) and e.value.value.type.lanes == 1:
            return build.broadcast(e.value.value, len(picks))
        if len(set(picks)) == 1 and len(picks) > 1:
            return ir.Broadcast(ir.Gather(e.value, picks[:1]), len(picks))
    if isinstance(e.value, ir.Gather):
        inner = e.value
        return ir.Gather(
            inner.value, tuple(inner.lanes[p] if p >= 0 else -1 for p in picks), e.span
        )
    return e


def _let(e: ir.Let, scope: Scope) -> ir.Expr:
    """Literals and plain variables are put in place; an unused name goes."""
    value = _expr(e.value, scope)
    if _is_trivial(value):
        return _expr(substitute(e.body, {e.name: value}), scope)
    body = _expr(e.body, _inside_let(e.name, value, scope))
    if e.name not in free_variables(body):
        return body
    return e if value is e.value and body is e.body else ir.Let(e.name, value, body, e.span)


def _is_trivial(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const | ir.Var) or build.const_value(value) is not None


def _inside_let(name: str, value: ir.Expr, scope: Scope) -> Scope:
    if value.type == INDEX and not mentions(value, name) and _is_steady(value):
        inner = scope.facts.with_range(name, Interval(value, value))
        match value:
            case ir.Binary(op=ir.Op.MOD, a=a) if prove(build.ge(a, 0), scope.facts):
                # `n % 64` is no more than n: what is left over lies in an array of n.
                inner = inner.with_condition(build.le(ir.Var(name, INDEX), a))
        return _under(scope, inner)
    return _under(scope, scope.facts.forget(name))


def _under(scope: Scope, facts: Facts) -> Scope:
    return Scope(facts, scope.done, scope.lanes)


def _stmt(s: ir.Stmt, scope: Scope) -> ir.Stmt:
    if id(s) in scope.done:
        return s
    match s:
        case ir.Comment() | ir.Barrier() | ir.CopyCommit() | ir.CopyWait() | ir.Fence():
            return s
        case ir.BulkCopy() | ir.BulkGroup() | ir.BulkWait():
            return map_stmt(s, lambda e: _expr(e, scope), lambda c: _stmt(c, scope))
        case ir.For():
            return _for(s, scope)
        case ir.Block(body=body):
            return _block(s, [_stmt(c, scope) for c in body])
        case ir.If():
            return _if(s, scope)
        case ir.LetStmt(name=name, value=value, body=body):
            return _let_stmt(s, name, value, body, scope)
        case ir.Store():
            return _store(s, scope)
        case ir.Allocate():
            new = map_stmt(s, lambda e: _expr(e, scope), lambda c: _stmt(c, scope))
            assert isinstance(new, ir.Allocate)
            if _is_empty(new.body):
                return NOTHING_TO_DO
            return (
                new
                if reads(new.body, new.buffer)
                else _stmt(_without_stores(new.body, new.buffer), scope)
            )
        case ir.Assert():
            new = map_stmt(s, lambda e: _expr(e, scope), lambda c: c)
            assert isinstance(new, ir.Assert)
            return NOTHING_TO_DO if build.const_value(new.condition) is True else new
        case ir.Leave():
            new = map_stmt(s, lambda e: _expr(e, scope), lambda c: c)
            assert isinstance(new, ir.Leave)
            return NOTHING_TO_DO if build.const_value(new.condition) is False else new
        case ir.Prefetch():
            return map_stmt(s, lambda e: _expr(e, scope), lambda c: c)
        case _:
            assert_never(s)


def _store(s: ir.Store, scope: Scope) -> ir.Stmt:
    new = map_stmt(s, lambda e: _expr(e, scope), lambda c: c)
    assert isinstance(new, ir.Store)
    live = None if new.mask is None else build.const_value(new.mask)
    if live is None:
        return new
    return replace(new, mask=None) if live else NOTHING_TO_DO


def _for(s: ir.For, scope: Scope) -> ir.Stmt:
    """Gone when it never runs, its body alone when it runs once (but for the loops of a GPU, which say
    who runs it)."""
    start, extent = _expr(s.start, scope), _expr(s.extent, scope)
    if id(s.extent) not in scope.done and prove(build.le(extent, 0), scope.facts):
        return NOTHING_TO_DO
    if isinstance(extent, ir.Const) and extent.value == 1 and s.kind not in ir.GPU_LOOPS:
        return _stmt(substitute_stmt(s.body, {s.var: start}), scope)
    last = shifted(sum_of(linear(start), linear(extent)), -1)
    first, final = (x if _is_steady(x) else None for x in (start, to_expr(last)))
    facts = scope.facts.with_condition(build.gt(extent, 0))
    lanes = scope.lanes | {s.var} if s.kind is ir.LoopKind.VECTOR else scope.lanes
    inside = Scope(facts.with_range(s.var, Interval(first, final)), scope.done, lanes)
    body = _stmt(s.body, inside)
    if _is_empty(body):
        return NOTHING_TO_DO
    if start is s.start and extent is s.extent and body is s.body:
        return s
    return replace(s, start=start, extent=extent, body=body)


def _if(s: ir.If, scope: Scope) -> ir.Stmt:
    condition = _expr(s.condition, scope)
    known = build.const_value(condition)
    other = NOTHING_TO_DO if s.otherwise is None else s.otherwise
    if known is not None:
        return _stmt(s.then if known else other, scope)
    then = _where(s.then, condition, scope)
    if not _is_empty(other):
        opposite = _expr(build.not_(condition), scope)
        other = _where(other, opposite, scope)
        if _is_empty(then):
            return other if _is_empty(other) else ir.If(opposite, other, None, s.span)
    elif _is_empty(then):
        return NOTHING_TO_DO
    no = None if _is_empty(other) else other
    same = condition is s.condition and then is s.then and no is s.otherwise
    return s if same else ir.If(condition, then, no, s.span)


def _where(s: ir.Stmt, condition: ir.Expr, scope: Scope) -> ir.Stmt:
    """`s`, which runs only where the condition holds. One on the lanes of a vector may not make a place
    in memory the same for all of them: where it holds in no lane, there may be no such place. What all
    lanes share of the condition holds there too."""
    lanes = scope.lanes & free_variables(condition) if scope.lanes else scope.lanes
    known = {name: value for name, value in _equalities(condition) if name not in lanes}
    s = substitute_stmt(s, known)
    new = _stmt(s, _under(scope, scope.facts.with_condition(condition)))
    for lane in lanes:
        if _same_places(new, lane) - _same_places(s, lane):
            plain = _stmt(s, _under(scope, scope.facts.with_condition(_shared(condition, lane))))
            if _same_places(new, lane) - _same_places(plain, lane):
                return plain
    return new


def _shared(condition: ir.Expr, lane: str) -> ir.Expr:
    """The conjuncts that hold in all values of a variable or in none."""
    match condition:
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            return build.and_(_shared(a, lane), _shared(b, lane))
    return condition if lane not in free_variables(condition) else ir.const_bool(True)


def _same_places(s: ir.Stmt, lane: str) -> set[tuple[str, ir.Expr]]:
    """The places in memory that do not change with a variable."""
    return {
        (n.buffer, n.index)
        for n in nodes_of(s, ir.Load, ir.Store)
        if lane not in free_variables(n.index)
    }


def _equalities(condition: ir.Expr) -> Iterator[tuple[str, ir.Expr]]:
    """The variables that have one value where the condition holds."""
    match condition:
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            yield from _equalities(a)
            yield from _equalities(b)
        case ir.Binary(op=ir.Op.EQ, a=ir.Var(name=name), b=ir.Const() as value):
            yield name, value


def _let_stmt(s: ir.LetStmt, name: str, value: ir.Expr, body: ir.Stmt, scope: Scope) -> ir.Stmt:
    new = _expr(value, scope)
    if _is_trivial(new):
        return _stmt(substitute_stmt(body, {name: new}), scope)
    inner = _stmt(body, _inside_let(name, new, scope))
    if name not in free_variables(inner):
        return inner
    return s if new is value and inner is body else ir.LetStmt(name, new, inner, s.span)


def _without_stores(s: ir.Stmt, buffer: str) -> ir.Stmt:
    """What is left when nothing reads the buffer."""
    if isinstance(s, ir.Store) and s.buffer == buffer:
        return NOTHING_TO_DO
    return map_stmt(s, lambda e: e, lambda c: _without_stores(c, buffer))


def _block(s: ir.Block, body: list[ir.Stmt]) -> ir.Stmt:
    """Without empty statements; nested blocks flattened."""
    kept = [c for c in body if not _is_empty(c)]
    if len(kept) == len(s.body) != 1 and all(
        a is b and not isinstance(a, ir.Block) for a, b in zip(kept, s.body, strict=True)
    ):
        return s
    return block(*kept) if kept else NOTHING_TO_DO


def _is_steady(e: ir.Expr) -> bool:
    """Does a store leave the value as it is?"""
    return not contains(e, ir.Load)


def _is_empty(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Block) and not s.body

"""Whether a kernel's index arithmetic fits 32 bits: a bound over the host's names, tested at the launch.

A GPU computes addresses in 32 bits; indices of 64 take twice the registers and a third more
instructions (measured: 96 and 48 registers for a convolution on tensor cores). So every kernel has a
narrow form, launched where nothing that it computes from indices can leave an int, and a wide one.

Each index expression in the kernel is bounded by a polynomial with coefficients >= 0 in the names that
the host passes; those whose terms are among another's are absorbed by it, so that few remain, about
one for each array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, I64, DType
from hbc.ir.lang.walk import children, nodes, operands

LIMIT = float(2**31 - 1)  # of an int
MOST_RESIDENT = float(1 << 20)  # blocks that a GPU runs at once, and more
_MOST_TERMS = 24  # of a polynomial; a kernel with a longer one stays wide

Term = tuple[str, ...]  # the names of a product, sorted; () is the constant
Bound = Mapping[Term, float]

_ONE: Bound = {(): 1.0}


class TooWide(Exception):
    """Nothing bounds an expression."""


def index_bounds(loops: Sequence[ir.For], body: ir.Stmt) -> list[Bound] | None:
    """Bounds of the magnitude of all index arithmetic in a kernel, whose loops over blocks are these:
    where each is at most LIMIT, an int will do. Empty where it always will; None where that is never
    known, as for elements of 64 bits."""
    if any(_element(n) == I64 for n in nodes(body)):
        return None
    bounds = _Bounds()
    try:
        for loop in loops:
            bounds.names[loop.var] = _last(loop, bounds)
        if loops and loops[0].marks.resident is not None:
            _tiles(loops, bounds)
        _statement(body, bounds)
    except TooWide:
        return None
    return _outermost(bounds.largest.values())


def _element(n: ir.Node) -> DType | None:
    """Of what is loaded or stored."""
    if isinstance(n, ir.Store):
        return n.value.type.element
    return n.type.element if isinstance(n, ir.Load) else None


@mutable
class _Bounds:
    """Bounds of names in scope; of each set of terms, the largest coefficients seen."""

    names: dict[str, Bound] = field(default_factory=dict)
    largest: dict[frozenset[Term], dict[Term, float]] = field(default_factory=dict)
    seen: dict[int, Bound] = field(default_factory=dict)  # by identity, in the present scope

    def note(self, bound: Bound) -> Bound:
        held = self.largest.setdefault(frozenset(bound), dict(bound))
        for term, factor in bound.items():
            if factor > held[term]:
                held[term] = factor
        return bound


def _outermost(bounds: Iterable[Bound]) -> list[Bound]:
    """Those that are left when each is absorbed by one with the same terms and others."""
    kept: list[dict[Term, float]] = []
    for bound in sorted(bounds, key=lambda b: (-len(b), sorted(b))):
        host = next((k for k in kept if k.keys() >= bound.keys()), None)
        if host is None:
            kept.append(dict(bound))
        else:
            host |= {term: max(factor, host[term]) for term, factor in bound.items()}
    return [b for b in kept if set(b) != {()} or b[()] > LIMIT]


def _tiles(loops: Sequence[ir.For], bounds: _Bounds) -> None:
    """How far the count of all iterations goes, where each block takes every so many-th."""
    count: Bound = _ONE
    for loop in loops:
        count = _product(count, _bound(loop.extent, bounds))
    bounds.note(_sum(count, {(): MOST_RESIDENT}))


def _last(loop: ir.For, bounds: _Bounds) -> Bound:
    """Of a loop's variable, and of where it ends."""
    return bounds.note(_sum(_bound(loop.start, bounds), _bound(loop.extent, bounds)))


def _statement(s: ir.Stmt, bounds: _Bounds) -> None:
    match s:
        case ir.For(var=var, body=body):
            last = _last(s, bounds)
            outer = bounds.names.get(var)
            bounds.names[var] = last
            bounds.seen.clear()
            _statement(body, bounds)
            _restore(var, outer, bounds)
        case ir.LetStmt(name=name, value=value, body=body):
            outer = bounds.names.get(name)
            _name(name, value, bounds)
            _statement(body, bounds)
            _restore(name, outer, bounds)
        case ir.Allocate(body=body):
            _statement(body, bounds)
        case _:
            for child in children(s):
                if isinstance(child, ir.Stmt):
                    _statement(child, bounds)
                else:
                    _within(child, bounds)


def _restore(name: str, outer: Bound | None, bounds: _Bounds) -> None:
    bounds.seen.clear()
    if outer is None:
        del bounds.names[name]
    else:
        bounds.names[name] = outer


def _name(name: str, value: ir.Expr, bounds: _Bounds) -> None:
    """Binds a name to the bound of what it stands for, where that is an index."""
    if value.type.element == I64:
        bound = _bound(value, bounds)
    else:
        _within(value, bounds)
        bound = _ONE
    bounds.names[name] = bound
    bounds.seen.clear()


def _within(e: ir.Expr, bounds: _Bounds) -> None:
    """The indices inside of an expression of any type."""
    if e.type.element == I64:
        _bound(e, bounds)
    elif isinstance(e, ir.Let):
        outer = bounds.names.get(e.name)
        _name(e.name, e.value, bounds)
        _within(e.body, bounds)
        _restore(e.name, outer, bounds)
    else:
        for operand in operands(e):
            _within(operand, bounds)


def _bound(e: ir.Expr, bounds: _Bounds) -> Bound:
    """Of the magnitude of an index; it and all that it is computed from are noted."""
    known = bounds.seen.get(id(e))
    if known is None:
        known = bounds.note(_computed(e, bounds))
        bounds.seen[id(e)] = known
    return known


def _computed(e: ir.Expr, bounds: _Bounds) -> Bound:
    match e:
        case ir.Const(value=v):
            return {(): abs(float(v))}
        case ir.Var(name=name):
            return bounds.names.get(name, {(name,): 1.0})
        case ir.Binary():
            return _binary(e, bounds)
        case ir.Unary(op=ir.UnaryOp.NEG | ir.UnaryOp.ABS, a=a):
            return _bound(a, bounds)
        case ir.Select(condition=c, a=a, b=b):
            _within(c, bounds)
            return _either(_bound(a, bounds), _bound(b, bounds))
        case ir.Cast(value=v):
            _within(v, bounds)
            return _of_type(v.type.element)
        case ir.Let(name=name, value=value, body=body):
            outer = bounds.names.get(name)
            _name(name, value, bounds)
            bound = _bound(body, bounds)
            _restore(name, outer, bounds)
            return bound
        case ir.Ramp(base=base, stride=stride, lanes=lanes):
            steps = _product(_bound(stride, bounds), {(): float(lanes)})
            return _sum(_bound(base, bounds), steps)
        case ir.Broadcast(value=v):
            return _bound(v, bounds)
        case _:
            raise TooWide


def _binary(e: ir.Binary, bounds: _Bounds) -> Bound:
    a, b = _bound(e.a, bounds), _bound(e.b, bounds)
    match e.op:
        case ir.Op.ADD | ir.Op.SUB:
            return _sum(a, b)
        case ir.Op.MUL:
            return _product(a, b)
        case ir.Op.DIV:  # rounded down: one more where the dividend is negative
            divisor = abs(float(e.b.value)) if isinstance(e.b, ir.Const) else 1.0
            return _sum({term: factor / max(divisor, 1.0) for term, factor in a.items()}, _ONE)
        case ir.Op.MOD:
            return b
        case ir.Op.MIN | ir.Op.MAX:
            return _clamped(e, bounds) or _either(a, b)
        case ir.Op.AND | ir.Op.OR | ir.Op.XOR:
            return _sum(_sum(a, b), _ONE)
        case ir.Op.SHR:
            return a
        case _:
            raise TooWide


def _clamped(e: ir.Binary, bounds: _Bounds) -> Bound | None:
    """min(max(x, low), high): between the two."""
    other = ir.Op.MAX if e.op is ir.Op.MIN else ir.Op.MIN
    for inner, limit in ((e.a, e.b), (e.b, e.a)):
        if isinstance(inner, ir.Binary) and inner.op is other:
            ends = [_bound(end, bounds) for end in (inner.a, inner.b)]
            return _either(_bound(limit, bounds), min(ends, key=lambda b: sum(b.values())))
    return None


def _of_type(t: DType) -> Bound:
    if t == BOOL:
        return _ONE
    if not t.is_int or max(abs(n) for n in t.limits) > 2**31:
        raise TooWide
    return {(): min(float(max(abs(n) for n in t.limits)), LIMIT)}


def _sum(a: Bound, b: Bound) -> Bound:
    total = dict(a)
    for term, factor in b.items():
        total[term] = total.get(term, 0.0) + factor
    return _short(total)


def _either(a: Bound, b: Bound) -> Bound:
    return _short({t: max(a.get(t, 0.0), b.get(t, 0.0)) for t in (*a, *b)})


def _product(a: Bound, b: Bound) -> Bound:
    total: dict[Term, float] = {}
    for t, x in a.items():
        for s, y in b.items():
            term = tuple(sorted((*t, *s)))
            total[term] = total.get(term, 0.0) + x * y
    return _short(total)


def _short(bound: dict[Term, float]) -> Bound:
    if len(bound) > _MOST_TERMS:
        raise TooWide
    return {term: factor for term, factor in bound.items() if factor} or {(): 0.0}

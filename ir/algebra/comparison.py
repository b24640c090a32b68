"""The canonical form of comparisons of scalar i64 expressions: like terms once, divided out."""

from __future__ import annotations

from math import gcd
from typing import Final

from hbc.ir.algebra.facts import Facts
from hbc.ir.algebra.linear import Linear, minus, plus, scaled, to_expr
from hbc.ir.algebra.lower_bound import least
from hbc.ir.algebra.wide_data import has_data, may_wrap
from hbc.ir.lang import nodes as ir

_LESS: Final = {ir.Op.LT: (1, -1), ir.Op.LE: (1, 0), ir.Op.GT: (-1, -1), ir.Op.GE: (-1, 0)}
"""`a op b` is `sign * (b - a) + offset >= 0`."""


def comparison(op: ir.Op, a: Linear, b: Linear, facts: Facts) -> ir.Expr:
    """`a op b`, or the literal it is known to be."""
    gap = minus(b, a)
    if has_data(a) or has_data(b):
        known = None if may_wrap(a) or may_wrap(b) else _decided(op, gap, facts)
        return ir.Binary(op, to_expr(a), to_expr(b)) if known is None else ir.const_bool(known)
    if op in _LESS:
        sign, offset = _LESS[op]
        return _at_least_zero(plus(scaled(gap, sign), Linear(offset)), facts)
    return _equal(op is ir.Op.EQ, gap, facts)


def _decided(op: ir.Op, gap: Linear, facts: Facts) -> bool | None:
    """What `a op b` is known to be, where the gap is b - a."""
    if op in (ir.Op.EQ, ir.Op.NE):
        if gap.terms:
            return None
        return (gap.constant == 0) == (op is ir.Op.EQ)
    sign, offset = _LESS[op]
    form = plus(scaled(gap, sign), Linear(offset))
    if _never_negative(form, facts):
        return True
    return False if _never_negative(plus(Linear(-1), form, -1), facts) else None


def _at_least_zero(form: Linear, facts: Facts) -> ir.Expr:
    if _never_negative(form, facts):
        return ir.const_bool(True)
    if _never_negative(plus(Linear(-1), form, -1), facts):
        return ir.const_bool(False)
    g = gcd(*(c for _, c in form.terms))
    form = _divided(form, g)
    more, less = _signed(form, 1), _signed(form, -1)
    k = form.constant
    if not less.terms:
        # more + k >= 0
        return _strict(ir.Op.GT, ir.Op.GE, more, -k)
    if not more.terms:
        return _strict(ir.Op.LT, ir.Op.LE, less, k)
    # less <= more + k; less < more reads better than less <= more - 1
    if k < 0:
        return ir.Binary(ir.Op.LT, to_expr(less), to_expr(plus(more, Linear(k + 1))))
    return ir.Binary(ir.Op.LE, to_expr(less), to_expr(plus(more, Linear(k))))


def _strict(strict: ir.Op, loose: ir.Op, form: Linear, value: int) -> ir.Expr:
    """`form >= value` (`<=`), written as `form > 0` (`form < n`) where that is simpler."""
    if strict is ir.Op.GT:
        op, value = (ir.Op.GT, 0) if value == 1 else (loose, value)
    else:
        op, value = strict, value + 1
    return ir.Binary(op, to_expr(form), to_expr(Linear(value)))


def _equal(wanted: bool, gap: Linear, facts: Facts) -> ir.Expr:
    if not gap.terms:
        return ir.const_bool((gap.constant == 0) == wanted)
    g = gcd(*(c for _, c in gap.terms))
    below, above = plus(Linear(-1), gap, -1), plus(gap, Linear(-1))
    if gap.constant % g or _never_negative(below, facts) or _never_negative(above, facts):
        return ir.const_bool(not wanted)
    if _never_negative(gap, facts) and _never_negative(scaled(gap, -1), facts):
        return ir.const_bool(wanted)
    g = g if gap.terms[0][1] > 0 else -g
    form = scaled(_divided(gap, g), 1)
    more, less = _signed(form, 1), _signed(form, -1)
    right = plus(less, Linear(-form.constant))
    return ir.Binary(ir.Op.EQ if wanted else ir.Op.NE, to_expr(more), to_expr(right))


def _signed(form: Linear, sign: int) -> Linear:
    """The terms of that sign, as positive ones, without the constant."""
    kept = [(k, t) for k, t in zip(form.keys, form.terms, strict=True) if t[1] * sign > 0]
    terms = tuple((atom, abs(c)) for _, (atom, c) in kept)
    return Linear(0, terms, tuple(k for k, _ in kept))


def _divided(form: Linear, g: int) -> Linear:
    """Coefficients by g exactly, the constant rounded down: `>= 0` stays as it is."""
    return Linear(form.constant // g, tuple((a, c // g) for a, c in form.terms), form.keys)


def _never_negative(form: Linear, facts: Facts) -> bool:
    low = least(form, facts)
    return low is not None and low >= 0

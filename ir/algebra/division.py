"""`/` and `%` of linear forms by positive constants: whole parts out, common factors cancelled."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from hbc.ir.algebra.form import (
    Linear,
    binary,
    by_divisor,
    minus,
    number,
    of_atom,
    plus,
    scaled,
    shifted,
    to_expr,
    without,
)
from hbc.ir.lang import nodes as ir

Reader = Callable[[ir.Expr], Linear]
"""Reads an expression that is in canonical form already."""
Least = Callable[[Linear], int | None]
"""A constant that the form never goes below, or None."""


def quotient(a: Linear, b: Linear, read: Reader, least: Least) -> Linear:
    """a / b, rounded down."""
    d = b.constant
    if b.terms or d <= 0:
        return _atom(ir.Op.DIV, a, b)
    more, low = divmod(a.constant, d)
    multiples, others = by_divisor(a, d)
    whole = shifted(_divided(multiples, d), more)
    rest, d = _reduced(shifted(others, low), d, least)
    if d == 1:
        return plus(whole, rest)
    if not rest.terms:
        return whole
    always = _always(rest, d, least)
    if always is not None:
        return shifted(whole, always)
    match rest.terms:
        case ((ir.Binary(op=ir.Op.DIV, a=x, b=ir.Const(value=m)), 1),) if m > 0:
            # (x / m + c) / d = (x + c * m) / (m * d)
            inner = shifted(read(x), rest.constant * int(m))
            return plus(whole, quotient(inner, Linear(d * int(m)), read, least))
    more, low = divmod(rest.constant, d)
    atom = binary(ir.Op.DIV, to_expr(Linear(low, rest.terms, rest.keys)), number(d))
    return plus(shifted(whole, more), of_atom(atom))


def remainder(a: Linear, b: Linear, least: Least) -> Linear:
    """a % b, with the sign of b."""
    d = b.constant
    if b.terms or d <= 0:
        return _atom(ir.Op.MOD, a, b)
    rest = shifted(by_divisor(a, d)[1], a.constant % d)
    high, small = _reduced(rest, d, least)
    # rest = g * high + low with 0 <= low < g, and d = g * small
    g = d // small
    low = minus(rest, scaled(high, g))
    if small == 1:
        return low
    always = _always(high, small, least)
    if always is not None:
        return plus(scaled(shifted(high, -small * always), g), low)
    high = Linear(high.constant % small, high.terms, high.keys)
    if not high.terms:
        return shifted(low, high.constant * g)
    return plus(of_atom(binary(ir.Op.MOD, to_expr(high), number(small)), g), low)


def join(form: Linear, read: Reader) -> Linear:
    """`d * (x / d) + x % d` is x, for constants d; so is x * s where both are times s."""
    for key, (atom, c) in zip(form.keys, form.terms, strict=True):
        if atom.__class__ is not ir.Binary:
            continue
        match atom:
            case ir.Binary(op=ir.Op.MOD, a=x, b=ir.Const(value=d)):
                whole = of_atom(binary(ir.Op.DIV, x, atom.b))
                matching = dict(zip(form.keys, form.terms, strict=True)).get(whole.keys[0])
                if matching is not None and matching[1] == c * d:
                    rest = without(without(form, key), whole.keys[0])
                    return join(plus(rest, read(x), c), read)
            case ir.Binary(op=ir.Op.MUL):
                joined = _joined_product(form, key, atom, c, read)
                if joined is not None:
                    return join(joined, read)
    return form


def _joined_product(form: Linear, key: str, atom: ir.Expr, c: int, read: Reader) -> Linear | None:
    """The form with the products of a remainder and of its quotient as one; None where it has no such two."""
    parts = _factors(atom)
    for i, part in enumerate(parts):
        match part:
            case ir.Binary(op=ir.Op.MOD, a=x, b=ir.Const(value=d)):
                rest = [*parts[:i], *parts[i + 1 :]]
                wanted = [ir.Binary(ir.Op.DIV, x, part.b), *rest]
                for other_key, (other, n) in zip(form.keys, form.terms, strict=True):
                    if n == c * d and _same_factors(_factors(other), wanted):
                        whole = x
                        for factor in rest:
                            whole = ir.Binary(ir.Op.MUL, whole, factor)
                        left = without(without(form, key), other_key)
                        return plus(left, read(whole), c)
            case _:
                pass
    return None


def _factors(e: ir.Expr) -> list[ir.Expr]:
    if isinstance(e, ir.Binary) and e.op is ir.Op.MUL:
        return [*_factors(e.a), *_factors(e.b)]
    return [e]


def _same_factors(a: list[ir.Expr], b: list[ir.Expr]) -> bool:
    """Whether they are the same, in any order."""
    return len(a) == len(b) and all(a.count(x) == b.count(x) for x in a)


def _reduced(a: Linear, d: int, least: Least) -> tuple[Linear, int]:
    """(h, d / g) for the largest g dividing d such that a = g * h + low with 0 <= low < g."""
    for g in sorted({gcd(d, c) for _, c in a.terms} | {_common(a, d)}, reverse=True):
        if g == 1:
            break
        multiples, others = by_divisor(a, g)
        if not others.terms:
            return shifted(_divided(multiples, g), a.constant // g), d // g
        if _within(shifted(others, a.constant), g, least):
            return _reduced(_divided(multiples, g), d // g, least)
    return a, d


def _within(a: Linear, d: int, least: Least) -> bool:
    """Is 0 <= a < d certain?"""
    return _always(a, d, least) == 0


def _always(a: Linear, d: int, least: Least) -> int | None:
    """a / d, where that is one number for all values of a."""
    low = least(a)
    if low is None:
        return None
    gap = least(minus(Linear(low // d * d + d - 1), a))
    return low // d if gap is not None and gap >= 0 else None


def _common(a: Linear, d: int) -> int:
    return gcd(d, *(c for _, c in a.terms))


def _divided(a: Linear, d: int) -> Linear:
    """a / d, which is exact."""
    return Linear(a.constant // d, tuple([(t[0], t[1] // d) for t in a.terms]), a.keys)


def _atom(op: ir.Op, a: Linear, b: Linear) -> Linear:
    """By what is not a positive constant: an atom, or the constant it is."""
    if not b.terms and (not b.constant or not a.terms):
        p, d = a.constant, b.constant
        return Linear((p // d if op is ir.Op.DIV else p % d) if d else 0)
    if not a.terms and not a.constant:
        return Linear(0)
    return of_atom(binary(op, to_expr(a), to_expr(b)))

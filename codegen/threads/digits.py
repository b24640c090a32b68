"""Two accesses whose indices are made of all digits of a number, told apart by that number.

    s[n % 319 + 320 * (n / 319)]    where n = 128 * piece + thread

Each digit's weight is more than what the lower ones may come to, so that different numbers touch
different elements: the two meet where accesses of `s[n]` do, whatever the pieces are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hbc.codegen.threads.access import ThreadAccess
from hbc.ir.algebra.form import of_atom
from hbc.ir.algebra.linear import Linear, linear, plus, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import mul
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import free_variables


@record
class _Digit:
    """number / unit % count, times `weight`; without a count the quotient itself."""

    number: ir.Expr
    unit: int
    count: int | None
    weight: int


@record
class _Digits:
    """An index: the sum of all digits of a number, and what is the same for all threads. `places` are
    the units, counts, and weights of the digits, the lowest first."""

    number: ir.Expr
    places: tuple[tuple[int, int | None, int], ...]
    rest: Linear


def as_numbers(
    one: ThreadAccess, other: ThreadAccess, changing: Collection[str]
) -> tuple[ThreadAccess, ThreadAccess] | None:
    """Accesses by the number that meet where the given ones do; None where their indices are not the
    same digits of one. `changing` are the loops around both that have gone on in between."""
    if one.offsets != other.offsets:
        return None
    span = max(one.offsets) - min(one.offsets) + 1
    first, second = _digits(one, span), _digits(other, span)
    if first is None or second is None or first.places != second.places:
        return None
    gap = plus(first.rest, second.rest, -1)
    if gap.constant or gap.terms or not free_variables(to_expr(first.rest)).isdisjoint(changing):
        return None
    numbers = (simplify(mul(ir.const_index(span), x.number)) for x in (first, second))
    return replace(one, index=next(numbers)), replace(other, index=next(numbers))


def _digits(a: ThreadAccess, span: int) -> _Digits | None:
    """The digits of an index, where different numbers make indices that lie `span` or more apart."""
    if a.index is None:
        return None
    own = {x.name for x in (*a.digits, *a.loops)}
    form = linear(a.index)
    digits: list[_Digit] = []
    rest = Linear(form.constant)
    for atom, weight in form.terms:
        if free_variables(atom).isdisjoint(own):
            rest = plus(rest, of_atom(atom, weight))
            continue
        digit = _digit(atom, weight)
        if digit is None:
            return None
        digits.append(digit)
    digits.sort(key=lambda x: x.unit)
    if len(digits) < 2 or digits[-1].count is not None or len({show(x.number) for x in digits}) > 1:
        return None
    unit, reach = 1, span  # what the digits so far come to is less than `reach`
    for x in digits:
        if x.unit != unit or x.weight < reach:
            return None
        if x.count is not None:
            unit, reach = unit * x.count, reach + x.weight * (x.count - 1)
        elif x is not digits[-1]:
            return None
    return _Digits(digits[0].number, tuple((x.unit, x.count, x.weight) for x in digits), rest)


def _digit(atom: ir.Expr, weight: int) -> _Digit | None:
    match atom:
        case ir.Binary(
            op=ir.Op.MOD, a=ir.Binary(op=ir.Op.DIV, a=n, b=ir.Const(value=d)), b=ir.Const(value=m)
        ):
            return _Digit(n, int(d), int(m), weight) if d > 0 and m > 0 else None
        case ir.Binary(
            op=ir.Op.DIV, a=ir.Binary(op=ir.Op.MOD, a=n, b=ir.Const(value=m)), b=ir.Const(value=d)
        ):
            divides = d > 0 and m > 0 and m % d == 0
            return _Digit(n, int(d), int(m // d), weight) if divides else None
        case ir.Binary(op=ir.Op.MOD, a=n, b=ir.Const(value=m)):
            return _Digit(n, 1, int(m), weight) if m > 0 else None
        case ir.Binary(op=ir.Op.DIV, a=n, b=ir.Const(value=d)):
            return _Digit(n, int(d), None, weight) if d > 0 else None
        case _:
            return None

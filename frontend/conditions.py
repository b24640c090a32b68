"""What the `where` of an update says of the ranges of its variables."""

from __future__ import annotations

from collections.abc import Iterator

from hbc.ir.bounds import Interval, Ranges, prove
from hbc.ir.build import le, maximum, minimum, sub
from hbc.ir.linear import linear
from hbc.ir.linear_form import Linear, scaled, shifted, to_expr
from hbc.ir.nodes import Binary, Expr, Op, Var
from hbc.ir.simplify import simplify
from hbc.ir.types import INDEX, Kind


def narrowed(ranges: Ranges, condition: Expr | None, scope: Ranges) -> Ranges:
    """The ranges where the condition can hold, as far as its conjuncts bound one variable by sizes
    and constants: `t >= 2` and `t` in 0 .. N - 1 give 2 .. N - 1."""
    found = dict(ranges)
    for form in () if condition is None else _non_negative(condition):
        for atom, coefficient in form.terms:
            others = [a for a, _ in form.terms if a is not atom]
            free = all(isinstance(a, Var) and a.name not in ranges for a in others)
            if isinstance(atom, Var) and atom.name in ranges and abs(coefficient) == 1 and free:
                found[atom.name] = _cut(found[atom.name], form, atom, coefficient, scope)
    return found


def _cut(x: Interval, form: Linear, atom: Var, coefficient: int, scope: Ranges) -> Interval:
    """The part of x where `form >= 0`."""
    rest = simplify(sub(to_expr(form), to_expr(scaled(linear(atom), coefficient))))
    if coefficient > 0:  # atom >= -rest
        limit = simplify(sub(0, rest))
        return Interval(limit if x.lo is None else greater(x.lo, limit, scope), x.hi)
    return Interval(x.lo, rest if x.hi is None else lesser(x.hi, rest, scope))


def _non_negative(condition: Expr) -> Iterator[Linear]:
    """Linear forms that are all >= 0 where the condition holds."""
    match condition:
        case Binary(op=Op.AND, a=a, b=b) if condition.type.element.kind is Kind.BOOL:
            yield from _non_negative(a)
            yield from _non_negative(b)
        case Binary(op=op, a=a, b=b) if a.type == INDEX:
            gap = linear(sub(a, b))
            if op in (Op.GE, Op.GT, Op.EQ):
                yield shifted(gap, -1 if op is Op.GT else 0)
            if op in (Op.LE, Op.LT, Op.EQ):
                yield shifted(scaled(gap, -1), -1 if op is Op.LT else 0)
        case _:
            return


def lesser(a: Expr, b: Expr, scope: Ranges) -> Expr:
    """The smaller of two bounds, decided where the scope allows."""
    known = prove(le(a, b), scope)
    return simplify(minimum(a, b)) if known is None else (a if known else b)


def greater(a: Expr, b: Expr, scope: Ranges) -> Expr:
    """The larger of two bounds, decided where the scope allows."""
    known = prove(le(a, b), scope)
    return simplify(maximum(a, b)) if known is None else (b if known else a)

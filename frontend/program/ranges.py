"""Ranges of index expressions, symbolic in the sizes.

The least value is a maximum of minima of forms, the greatest a minimum of maxima; each of the outer
forms alone is a bound, so that knowing none means unbounded. Sums, clamps, quotients by numbers
and unions are exact in this shape.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from hbc.frontend.program.prove import SizeFacts
from hbc.ir.algebra.linear import Linear, minus, of_atom, plus, scaled, to_expr
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir

Clauses = tuple[tuple[Linear, ...], ...]

MOST_CLAUSES = 8  # more are dropped, which only weakens the bound
MOST_FORMS = 12
MOST_REMEMBERED = 16_384  # results of `cross`


@record
class SymbolicRange:
    """`low` is a max of mins, `high` a min of maxes; () is unbounded."""

    low: Clauses
    high: Clauses

    @property
    def bounded(self) -> bool:
        return bool(self.low and self.high)

    @property
    def constants(self) -> tuple[int, int] | None:
        """Both ends, when they are numbers."""
        if not self.bounded or any(f.terms for c in self.low + self.high for f in c):
            return None
        low = max(min(f.constant for f in c) for c in self.low)
        high = min(max(f.constant for f in c) for c in self.high)
        return low, high


UNBOUNDED = SymbolicRange((), ())


def exactly(form: Linear) -> SymbolicRange:
    return SymbolicRange(((form,),), ((form,),))


def between(low: Linear, high: Linear) -> SymbolicRange:
    return SymbolicRange(((low,),), ((high,),))


def numbers(low: int, high: int) -> SymbolicRange:
    return between(Linear(low), Linear(high))


def add(a: SymbolicRange, b: SymbolicRange) -> SymbolicRange:
    return SymbolicRange(cross(a.low, b.low, plus, min), cross(a.high, b.high, plus, max))


def negate(a: SymbolicRange) -> SymbolicRange:
    return scale(a, -1)


def scale(a: SymbolicRange, factor: int) -> SymbolicRange:
    """factor * a."""
    low, high = (a.low, a.high) if factor >= 0 else (a.high, a.low)
    return SymbolicRange(
        each(low, lambda f: scaled(f, factor)), each(high, lambda f: scaled(f, factor))
    )


def divide(a: SymbolicRange, divisor: int) -> SymbolicRange:
    """floor(a / divisor), divisor > 0."""
    return SymbolicRange(each(a.low, lambda f: quotient(f, divisor)),
                 each(a.high, lambda f: quotient(f, divisor)))  # fmt: skip


def quotient(form: Linear, divisor: int) -> Linear:
    """floor(form / divisor): exact terms leave the quotient, the rest becomes an atom."""
    whole = Linear(0)
    rest = Linear(form.constant % divisor)
    for key, (atom, c) in zip(form.keys, form.terms, strict=True):
        term = Linear(0, ((atom, 1),), (key,))
        whole = plus(whole, term, c // divisor)
        rest = plus(rest, term, c % divisor)
    whole = plus(whole, Linear(form.constant // divisor))
    if rest.is_constant:
        return whole
    return plus(whole, of_atom(ir.Binary(ir.Op.DIV, to_expr(rest), ir.const_index(divisor))))


def least(a: SymbolicRange, b: SymbolicRange) -> SymbolicRange:
    """min(a, b)."""
    return SymbolicRange(cross(a.low, b.low, None, min), limit(a.high + b.high, min))


def greatest(a: SymbolicRange, b: SymbolicRange) -> SymbolicRange:
    """max(a, b)."""
    return SymbolicRange(limit(a.low + b.low, max), cross(a.high, b.high, None, max))


def union(a: SymbolicRange, b: SymbolicRange) -> SymbolicRange:
    """One of both, unknown which."""
    return SymbolicRange(cross(a.low, b.low, None, min), cross(a.high, b.high, None, max))


def both(a: SymbolicRange, b: SymbolicRange) -> SymbolicRange:
    """What lies in a and in b: two bounds of one value."""
    return SymbolicRange(limit(a.low + b.low, max), limit(a.high + b.high, min))


def absolute(a: SymbolicRange) -> SymbolicRange:
    """|a|."""
    n = negate(a)
    low = limit((*a.low, *n.low, (Linear(0),)), max)
    return SymbolicRange(low, cross(a.high, n.high, None, max))


def each(clauses: Clauses, f: Callable[[Linear], Linear]) -> Clauses:
    return tuple(tuple(f(x) for x in c) for c in clauses)


# Two of three are asked for again by other reads of one program, and nearly all while it is typed.
@lru_cache(MOST_REMEMBERED)
def cross(
    a: Clauses, b: Clauses, combine: Callable[[Linear, Linear], Linear] | None,
    pick: Callable[[int, int], int],
) -> Clauses:  # fmt: skip
    """Every outer pair; inside, every combination, or both lists when nothing combines them."""
    made: list[tuple[Linear, ...]] = []
    for x in a:
        for y in b:
            forms = (*x, *y) if combine is None else tuple(combine(f, g) for f in x for g in y)
            forms = thin(forms, pick)
            made.append(forms if len(forms) <= MOST_FORMS else deciding(forms, pick))
    outer = max if pick is min else min
    return limit(tuple(c for c in made if len(c) <= MOST_FORMS), outer)


def thin(forms: tuple[Linear, ...], pick: Callable[[int, int], int]) -> tuple[Linear, ...]:
    """Of forms that differ by a number only one decides."""
    deciding: dict[tuple[object, ...], Linear] = {}
    for f in forms:
        key = f.signature[1:]
        old = deciding.get(key)
        deciding[key] = f if old is None else plus(
            f, Linear(pick(old.constant, f.constant) - f.constant)
        )  # fmt: skip
    return tuple(deciding.values())


_NOTHING: Final = SizeFacts()
"""Of all sizes: its answers are for good, and nearly all are asked for again."""


def deciding(forms: tuple[Linear, ...], pick: Callable[[int, int], int]) -> tuple[Linear, ...]:
    """Without those that another bounds for all sizes: what several readers need of a level of a pyramid
    differs by roundings alone."""
    kept: list[Linear] = []

    def decides(f: Linear, g: Linear) -> bool:
        return _NOTHING.prove(minus(f, g) if pick is max else minus(g, f))

    for f in forms:
        if any(decides(g, f) for g in kept):
            continue
        kept = [g for g in kept if not decides(f, g)]
        kept.append(f)
    return tuple(kept)


def limit(clauses: Clauses, pick: Callable[[int, int], int]) -> Clauses:
    """The simplest ones, and of those that are one form, and differ by a number, the one that decides."""
    if len(clauses) < 2:
        return clauses
    alone = thin(tuple(c[0] for c in clauses if len(c) == 1), pick)
    candidates: dict[object, tuple[Linear, ...]] = {}
    for c in (*((f,) for f in alone), *(c for c in clauses if len(c) > 1)):
        candidates.setdefault(tuple([f.signature for f in c]), c)
    in_order = sorted(candidates.values(), key=lambda c: (len(c), sum(len(f.terms) for f in c)))
    return tuple(in_order[:MOST_CLAUSES])

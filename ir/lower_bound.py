"""The search for a lower bound of a linear form: equal atoms have cancelled, variables are replaced
by their bounds, innermost first.

Symbolic bounds replace the variables whose range is bounded and keep the rest; constant ones must
replace all, and may use any condition that is known to hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hbc.ir.facts import Facts
from hbc.ir.linear import (
    Linear,
    canonical_product,
    linear,
    minus,
    of_atom,
    plus,
    scaled,
    shifted,
    to_expr,
    without,
)
from hbc.ir.linear_division import quotient
from hbc.ir.linear_extremes import extreme
from hbc.ir.nodes import Access, Binary, Cast, Const, Expr, Load, Op, Select, Var
from hbc.ir.types import INDEX
from hbc.ir.value_range import value_range
from hbc.ir.walk import nodes

MAX_STEPS: Final = 400  # of one search; beyond, the answer is "unknown"


@dataclass(slots=True)
class Budget:
    """Steps that a search may still take."""

    left: int = MAX_STEPS


@dataclass(frozen=True, slots=True)
class Search:
    """`symbolic`: which variables stay (see above). `floor`: those of lower rank stay too."""

    facts: Facts
    symbolic: bool
    budget: Budget
    floor: int = -1
    used: tuple[int, ...] = ()


def lower_bound(form: Linear, facts: Facts, symbolic: bool) -> Linear | None:
    """A form that `form` never goes below; a constant one unless `symbolic`."""
    return _lower(form, Search(facts, symbolic, Budget()))


def least(form: Linear, facts: Facts) -> int | None:
    """A constant that the form never goes below."""
    found = lower_bound(form, facts, symbolic=False)
    return None if found is None else found.constant


def _lower(form: Linear, s: Search) -> Linear | None:
    if not form.terms:
        return form
    signature = (s.symbolic, s.floor, s.used, form.keys, tuple(c for _, c in form.terms))
    if signature in s.facts.found:
        known = s.facts.found[signature]
        return None if known is None else shifted(known, form.constant)
    s.budget.left -= 1
    if s.budget.left < 0:
        return None
    base = Linear(0, form.terms, form.keys)
    found = _step(base, s)
    if s.budget.left >= 0:
        s.facts.found[signature] = found
    return None if found is None else shifted(found, form.constant)


def _step(form: Linear, s: Search) -> Linear | None:
    """Replaces one atom, and goes on."""
    position, rank = _choose(form, s)
    if position is None:
        return form if s.symbolic else None
    atom, c = form.terms[position]
    rest = without(form, form.keys[position])
    match atom:
        case Var(name=name):
            return _variable(form, rest, name, c, s)
        case Binary(op=Op.MIN | Op.MAX as op, a=a, b=b):
            x, y = (_lower(plus(rest, linear(e), c), s) for e in (a, b))
            return _least_of(x, y) if (op is Op.MIN) == (c > 0) else _best_of(x, y)
        case Select(a=a, b=b):
            x, y = (_lower(plus(rest, linear(e), c), s) for e in (a, b))
            return _least_of(x, y)
        case Binary(op=Op.DIV, a=a, b=b):
            part = _quotient(linear(a), linear(b), c, _mentions(rest, rank, s), replace(s, floor=rank))
        case Binary(op=Op.MOD, a=a, b=b):
            part = _remainder(linear(a), linear(b), c, s)
        case Binary(op=Op.MUL):
            part = _product(atom, c, rank, s)
        case _:
            part = _opaque(atom, c, s)
    return None if part is None else _lower(plus(rest, part), s)


def _choose(form: Linear, s: Search) -> tuple[int | None, int]:
    """The atom to replace next: of the innermost variable; of its atoms, one that is not linear."""
    best: int | None = None
    best_rank = -1
    for i, (key, (atom, _)) in enumerate(zip(form.keys, form.terms, strict=True)):
        rank = _rank(key, atom, s)
        if isinstance(atom, Var):
            wanted = rank > best_rank
        else:
            wanted = rank > best_rank or (
                rank == best_rank and (best is None or isinstance(form.terms[best][0], Var))
            )
        if rank >= s.floor and wanted and (rank >= 0 or not (s.symbolic or isinstance(atom, Var))):
            best, best_rank = i, rank
    return best, best_rank


def _rank(key: str, atom: Expr, s: Search) -> int:
    """The position of the innermost variable of the atom that is to be replaced, or -1."""
    facts = s.facts
    label = key + (" s" if s.symbolic else " c")
    known = facts.ranks.get(label)
    if known is None:
        names = [n.name for n in nodes(atom) if isinstance(n, Var)]
        names += [b for n in nodes(atom) if (b := _buffer(n))]
        known = -1
        for name in names:
            if name in facts.rank and (not s.symbolic or facts.ranges[name].bounded):
                known = max(known, facts.rank[name])
        facts.ranks[label] = known
    return known


def _buffer(n: object) -> str | None:
    match n:
        case Load(buffer=name) | Access(name=name):
            return name
        case _:
            return None


def _mentions(rest: Linear, rank: int, s: Search) -> bool:
    """Does the rest mention the variable of that rank?"""
    return any(
        _rank(key, atom, s) == rank for key, (atom, _) in zip(rest.keys, rest.terms, strict=True)
    )


def _variable(form: Linear, rest: Linear, name: str, c: int, s: Search) -> Linear | None:
    lo, hi = s.facts.limits(name)
    bound = lo if c > 0 else hi
    found = None if bound is None else _lower(plus(rest, bound, c), s)
    if s.symbolic:
        return found
    key = of_atom(Var(name)).keys[0]
    for i, fact in enumerate(s.facts.known):
        f = next((q for k, (_, q) in zip(fact.keys, fact.terms, strict=True) if k == key), 0)
        if i in s.used or f * c <= 0:
            continue
        # |f| * form = (|f| * form - |c| * fact) + |c| * fact
        without_it = plus(scaled(form, abs(f)), fact, -abs(c))
        other = _lower(without_it, replace(s, used=(*s.used, i)))
        if other is not None:
            found = _best_of(found, Linear(-(-other.constant // abs(f))))
    return found


def _quotient(a: Linear, b: Linear, c: int, elsewhere: bool, s: Search) -> Linear | None:
    """A lower bound of c * (a / b) without the innermost variable of a."""
    d = b.constant
    if not b.terms and d > 0 and c % d == 0 and elsewhere:
        # a - (d - 1) <= d * (a / d) <= a
        return scaled(shifted(a, 1 - d) if c > 0 else a, c // d)
    if (b.terms and (least(b, s.facts) or -1) < 0) or (not b.terms and d <= 0):
        return None
    bound = _lower(a, s) if c > 0 else _upper(a, s)
    if bound is None or bound == a:
        return None
    return scaled(_divide(bound, b), c)


def _divide(a: Linear, b: Linear) -> Linear:
    """a / b where b > 0. (A range that is not empty has b > 0 where a is `n * b - 1`.)"""
    if b.terms and b.constant == 0 and len(b.terms) == 1:
        (atom, times), = b.terms
        if times == 1 and a.constant in (0, -1):
            whole = [_over(x, atom) for x, _ in a.terms]
            if all(w is not None for w in whole):
                total = Linear(a.constant)
                for w, (_, c) in zip(whole, a.terms, strict=True):
                    total = plus(total, linear(w), c) if w is not None else total
                return total
    return quotient(a, b, linear, lambda _: None)


def _over(product: Expr, factor: Expr) -> Expr | None:
    """The product without one of its factors."""
    factors = list(_factors(product))
    if factor not in factors:
        return None
    factors.remove(factor)
    return canonical_product(factors)


def _remainder(a: Linear, b: Linear, c: int, s: Search) -> Linear | None:
    """A lower bound of c * (a % b): a itself where it is in range, else 0 to b - 1."""
    if not b.terms and b.constant <= 0:
        return None
    low = least(a, s.facts)
    gap = least(shifted(minus(b, a), -1), s.facts)
    if low is not None and low >= 0 and gap is not None and gap >= 0:
        return scaled(a, c)
    if b.terms and (least(b, s.facts) or 0) < 1:
        return None if c < 0 or (least(b, s.facts) or -1) < 0 else Linear(0)
    return Linear(0) if c > 0 else scaled(shifted(b, -1), c)


def _product(atom: Expr, c: int, rank: int, s: Search) -> Linear | None:
    """A lower bound of c * f * g * ..: one factor moves, the others must not be negative."""
    factors = list(_factors(atom))
    moving = [f for f in factors if _rank(of_atom(f).keys[0], f, s) == rank]
    if len(moving) != 1:
        return None
    others = [f for f in factors if f is not moving[0]]
    if any((least(linear(f), s.facts) or 0) < 0 or least(linear(f), s.facts) is None for f in others):
        return None
    inner = replace(s, floor=rank)
    x = linear(moving[0])
    bound = _lower(x, inner) if c > 0 else _upper(x, inner)
    if bound is None or bound == x:
        return None
    return scaled(linear(Binary(Op.MUL, to_expr(bound), canonical_product(others))), c)


def _opaque(atom: Expr, c: int, s: Search) -> Linear | None:
    """A lower bound of c * atom from what is known of its values."""
    name = _buffer(atom)
    if name is not None and name in s.facts.rank:
        bound = s.facts.limits(name)[0 if c > 0 else 1]
        return None if bound is None else scaled(bound, c)
    low, high = value_range(atom, s.facts)
    value = low if c > 0 else high
    return None if value is None else Linear(value * c)


def _upper(form: Linear, s: Search) -> Linear | None:
    found = _lower(scaled(form, -1), s)
    return None if found is None else scaled(found, -1)


def _least_of(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None:
        return None
    return extreme(Op.MIN, a, b, linear, lambda _: None)


def _best_of(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None:
        return b if a is None else a
    return extreme(Op.MAX, a, b, linear, lambda _: None)

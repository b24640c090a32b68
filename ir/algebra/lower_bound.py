"""The search for a lower bound of a linear form: equal atoms have cancelled, variables are replaced
by their bounds, innermost first.

Symbolic bounds replace the variables whose range is bounded and keep the rest; constant ones must
replace all, and may use any condition that is known to hold.
"""

from __future__ import annotations

from typing import Final

from hbc.ir.algebra.division import quotient
from hbc.ir.algebra.extremes import extreme
from hbc.ir.algebra.facts import Facts
from hbc.ir.algebra.form import MOST_REMEMBERED
from hbc.ir.algebra.linear import (
    Linear,
    factors,
    linear,
    minus,
    of_atom,
    plus,
    product_of,
    scaled,
    shifted,
    to_expr,
    unknown,
    without,
)
from hbc.ir.algebra.value_range import value_range
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import names_read

MAX_STEPS: Final = 400  # of one search; beyond, the answer is "unknown"
MAX_DEPTH: Final = 40


_UNKNOWN: Final = Linear(0)  # of what is not remembered


@mutable
class Budget:
    """Steps that a search may still take, and how deep it is."""

    left: int = MAX_STEPS
    depth: int = 0


@record
class Search:
    """`symbolic`: which variables stay (see above). `floor`: those of lower rank stay too."""

    facts: Facts
    symbolic: bool
    budget: Budget
    floor: int = -1
    used: tuple[int, ...] = ()

    def down_to(self, rank: int) -> Search:
        """The same, in which what has a lower rank stays."""
        return Search(self.facts, self.symbolic, self.budget, rank, self.used)

    def having_used(self, number: int) -> Search:
        """The same without the condition of that number."""
        return Search(self.facts, self.symbolic, self.budget, self.floor, (*self.used, number))


def lower_bound(form: Linear, facts: Facts, symbolic: bool) -> Linear | None:
    """A form that `form` never goes below; a constant one unless `symbolic`."""
    return _lower(form, Search(facts, symbolic, Budget()))


def least(form: Linear, facts: Facts) -> int | None:
    """A constant that the form never goes below."""
    bound = lower_bound(form, facts, symbolic=False)
    return None if bound is None else bound.constant


def _lower(form: Linear, s: Search) -> Linear | None:
    if not form.terms:
        return form
    signature = (s.symbolic, s.floor, s.used, form.keys, tuple([t[1] for t in form.terms]))
    known = s.facts.found.get(signature, _UNKNOWN)
    if known is not _UNKNOWN:
        return None if known is None else shifted(known, form.constant)
    s.budget.left = s.budget.left - 1 if s.budget.depth < MAX_DEPTH else -1
    if s.budget.left < 0:
        return None
    s.budget.depth += 1
    bound = _step(Linear(0, form.terms, form.keys), s)
    s.budget.depth -= 1
    if s.budget.left >= 0:
        s.facts.found[signature] = bound
    return None if bound is None else shifted(bound, form.constant)


def _step(form: Linear, s: Search) -> Linear | None:
    """Replaces one atom, and goes on."""
    position, rank = _choose(form, s)
    if position is None:
        return form if s.symbolic or s.floor >= 0 else None
    atom, c = form.terms[position]
    rest = without(form, form.keys[position])
    match atom:
        case ir.Var(name=name):
            return _variable(form, rest, form.keys[position], name, c, s)
        case ir.Binary(op=ir.Op.MIN | ir.Op.MAX as op, a=a, b=b):
            x, y = (_lower(plus(rest, linear(e), c), s) for e in (a, b))
            if (op is ir.Op.MIN) == (c > 0):
                return _least_of(x, y)
            return _best_of(_best_of(x, y, s), _middle(atom, rest, c, rank, s), s)
        case ir.Select(a=a, b=b):
            x, y = (_lower(plus(rest, linear(e), c), s) for e in (a, b))
            return _least_of(x, y)
        case ir.Binary(op=ir.Op.DIV, a=a, b=ir.Const(value=d)) if _joins(c, int(d), s):
            # rest + a / d = (d * rest + a) / d, which a condition may bound as a whole
            whole = plus(scaled(rest, int(d)), linear(a), c)
            low = _lower(shifted(whole, 1 - int(d)) if c > 0 else whole, s)
            return None if low is None else _above(low, int(d))
        case ir.Binary(op=ir.Op.DIV, a=a, b=ir.Const(value=d)) if _mentions(rest, rank, s) and (
            parts := _divided_extreme(linear(a), int(d))
        ):
            way, one, other = parts
            x, y = (_lower(plus(rest, e, c), s) for e in (one, other))
            return _least_of(x, y) if (way is ir.Op.MIN) == (c > 0) else _best_of(x, y, s)
        case ir.Binary(op=ir.Op.DIV, a=a, b=b):
            part = _quotient(linear(a), linear(b), c, _mentions(rest, rank, s), s, rank)
        case ir.Binary(op=ir.Op.MOD, a=a, b=b):
            part = _remainder(linear(a), linear(b), c, s)
        case ir.Binary(op=ir.Op.MUL):
            part = _product(atom, c, rank, s)
        case _:
            part = _opaque(atom, c, s)
    bound = None if part is None else _lower(plus(rest, part), s)
    if s.symbolic:
        return bound
    bound = _best_of(bound, _difference(form, position, s), s)
    return _by_conditions(form, form.keys[position], c, bound, s)


def _choose(form: Linear, s: Search) -> tuple[int | None, int]:
    """The atom to replace next: of the innermost variable; of its atoms, one that is not linear."""
    best: int | None = None
    best_order = (-1, False)
    for i, (key, (atom, _)) in enumerate(zip(form.keys, form.terms, strict=True)):
        rank = _rank(key, atom, s)
        curved = not isinstance(atom, ir.Var)
        hopeless = rank < 0 and (s.symbolic or not (curved or s.facts.known))
        if rank < s.floor or hopeless:
            continue
        if best is None or (rank, curved) > best_order:
            best, best_order = i, (rank, curved)
    return best, best_order[0]


def _rank(key: str, atom: ir.Expr, s: Search) -> int:
    """The position of the innermost variable of the atom that is to be replaced, or -1."""
    facts = s.facts
    ranks = facts.ranks[s.symbolic]
    known = ranks.get(key)
    if known is None:
        known = -1
        for name in _names_in(key, atom):
            if name in facts.rank and (not s.symbolic or facts.ranges[name].goes):
                known = max(known, facts.rank[name])
        ranks[key] = known
    return known


def _names_in(key: str, atom: ir.Expr) -> frozenset[str]:
    """The variables and buffers of the atom of that key, whatever is known of them."""
    names = _names.get(key)
    if names is None:
        if len(_names) >= MOST_REMEMBERED:
            _names.clear()
        names = _names[key] = frozenset(names_read(atom, buffers=True))
    return names


_names: Final[dict[str, frozenset[str]]] = {}


def _buffer(n: object) -> str | None:
    match n:
        case ir.Load(buffer=name) | ir.Access(array=name):
            return name
        case _:
            return None


def _mentions(rest: Linear, rank: int, s: Search) -> bool:
    """Does the rest mention the variable of that rank?"""
    return any(
        _rank(key, atom, s) == rank for key, (atom, _) in zip(rest.keys, rest.terms, strict=True)
    )


def _middle(atom: ir.Binary, rest: Linear, c: int, rank: int, s: Search) -> Linear | None:
    """A lower bound of rest + c * atom for -min(a, b) or max(a, b): neither is nearer than half of
    a + b, where that does not depend on the innermost variable (a mirrored index)."""
    total = plus(linear(atom.a), linear(atom.b))
    if _mentions(total, rank, s):
        return None
    half = _above(total, 2) if atom.op is ir.Op.MAX else _below(total, 2)
    return _lower(plus(rest, half, c), s)


def _variable(form: Linear, rest: Linear, key: str, name: str, c: int, s: Search) -> Linear | None:
    lo, hi = s.facts.limits(name) if name in s.facts.rank else (None, None)
    bound = lo if c > 0 else hi
    lower = None if bound is None else _lower(plus(rest, bound, c), s)
    return _by_conditions(form, key, c, lower, s)


def _by_conditions(form: Linear, key: str, c: int, best: Linear | None, s: Search) -> Linear | None:
    """The best of `best` and the bounds that follow from conditions on the atom of that key, whose
    coefficient in the form is c."""
    for fact in s.facts.on(key) if s.facts.known else ():
        f = fact.coefficient
        if fact.number in s.used or f * c <= 0:
            continue
        # |f| * form = (|f| * form - |c| * fact) + |c| * fact, and the fact is >= 0.
        other = plus(scaled(form, abs(f)), fact.form, -abs(c))
        bound = _lower(other, s.having_used(fact.number))
        if bound is not None and (s.symbolic or s.floor >= 0 or not bound.terms):
            best = _best_of(best, _above(bound, abs(f)), s)
    return best


def _joins(c: int, d: int, s: Search) -> bool:
    return s.symbolic and s.facts.known != () and abs(c) == 1 and d > 1


def _below(form: Linear, d: int) -> Linear:
    """form / d, rounded down."""
    return quotient(form, Linear(d), linear, unknown)


def _above(form: Linear, d: int) -> Linear:
    """form / d, rounded up."""
    if all(c < 0 for _, c in form.terms):
        return scaled(_below(scaled(form, -1), d), -1)
    return _below(shifted(form, d - 1), d)


def _divided_extreme(a: Linear, d: int) -> tuple[ir.Op, Linear, Linear] | None:
    """What min(x, y) / d or max(x, y) / d is the min or max of: x / d and y / d."""
    for key, (atom, c) in zip(a.keys, a.terms, strict=True):
        match atom:
            case ir.Binary(op=ir.Op.MIN | ir.Op.MAX as op) if d > 0:
                rest, turned = without(a, key), ir.Op.MAX if op is ir.Op.MIN else ir.Op.MIN
                x, y = (_below(plus(rest, linear(e), c), d) for e in (atom.a, atom.b))
                return op if c > 0 else turned, x, y
    return None


def _quotient(a: Linear, b: Linear, c: int, elsewhere: bool, s: Search, rank: int) -> Linear | None:
    """A lower bound of c * (a / b), without the innermost variable of a or nearer to it."""
    d = b.constant
    if b.terms:
        if not _at_least(b, 0, s):
            return None
    elif d <= 0:
        return None
    elif c % d == 0 and elsewhere:
        # a - (d - 1) <= d * (a / d) <= a
        return scaled(shifted(a, 1 - d) if c > 0 else a, c // d)
    inner = s.down_to(rank)
    bound = _lower(a, inner) if c > 0 else _upper(a, inner)
    if bound is None or bound == a:
        return None
    # From 0 <= a <= n * b - 1 follows b > 0.
    positive = _at_least(b, 1, s) or (c < 0 and bound.constant == -1 and _at_least(a, 0, s))
    return scaled(_divide(bound, b, positive), c)


def _difference(form: Linear, position: int, s: Search) -> Linear | None:
    """A lower bound of a form with n * (a / d) - n * (b / d), one of them at the position, by
    a / d - b / d >= (a - b) / d, where what a and b have in common goes away."""
    atom, c = form.terms[position]
    match atom:
        case ir.Binary(op=ir.Op.DIV, b=ir.Const(value=d)) if int(d) > 1:
            pass
        case _:
            return None
    for i, (other, n) in enumerate(form.terms):
        if n == -c and isinstance(other, ir.Binary) and (other.op, other.b) == (ir.Op.DIV, atom.b):
            above, below = (atom.a, other.a) if c > 0 else (other.a, atom.a)
            gap = minus(linear(above), linear(below))
            rest = without(without(form, form.keys[position]), form.keys[i])
            low = _constant(gap, s)
            return None if low is None else _lower(shifted(rest, abs(c) * (low // int(d))), s)
    return None


def _divide(a: Linear, b: Linear, positive: bool) -> Linear:
    """a / b, where `n * b / b` is n and `(n * b - 1) / b` is n - 1 if b is positive."""
    plain = len(b.terms) == 1 and b.constant == 0 and b.terms[0][1] == 1
    if positive and plain and a.constant in (0, -1):
        whole = [_without_factor(x, b.terms[0][0]) for x, _ in a.terms]
        total = Linear(a.constant)
        for w, (_, c) in zip(whole, a.terms, strict=True):
            if w is None:
                break
            total = plus(total, w, c)
        else:
            return total
    return quotient(a, b, linear, unknown)


def _without_factor(product: ir.Expr, factor: ir.Expr) -> Linear | None:
    """The product without one of its factors."""
    parts = factors(product)
    if factor not in parts:
        return None
    parts.remove(factor)
    return linear(product_of(parts)) if parts else Linear(1)


def _remainder(a: Linear, b: Linear, c: int, s: Search) -> Linear | None:
    """A lower bound of c * (a % b): a itself where it is in range, that of its value where it has
    only one, else 0 to b - 1."""
    below = shifted(minus(b, a), -1)
    if _at_least(a, 0, s) and _at_least(below, 0, s):
        return scaled(a, c)
    if s.symbolic and (value := _lower(a, s)) is not None and value != a and value == _upper(a, s):
        return scaled(linear(ir.Binary(ir.Op.MOD, to_expr(value), to_expr(b))), c)
    if not _at_least(b, 0, s):
        return None
    if c > 0:
        return Linear(0)
    top = shifted(b, -1)
    return scaled(top if _at_least(b, 1, s) else _extreme(ir.Op.MAX, top, Linear(0)), c)


def _product(atom: ir.Expr, c: int, rank: int, s: Search) -> Linear | None:
    """A lower bound of c * f * g * ..: one factor moves, the others must not be negative."""
    parts = factors(atom)
    moving = [i for i, f in enumerate(parts) if _rank(of_atom(f).keys[0], f, s) == rank]
    if rank < 0 or len(moving) != 1:
        return None
    x = linear(parts.pop(moving[0]))
    if not all(_at_least(linear(f), 0, s) for f in parts):
        return None
    inner = s.down_to(rank)
    bound = _lower(x, inner) if c > 0 else _upper(x, inner)
    if bound is None or bound == x:
        return None
    return scaled(linear(ir.Binary(ir.Op.MUL, to_expr(bound), product_of(parts))), c)


def _opaque(atom: ir.Expr, c: int, s: Search) -> Linear | None:
    """A lower bound of c * atom from what is known of its values."""
    inner = atom.value if isinstance(atom, ir.Cast) and atom.value.type.element.is_int else atom
    name = inner.name if isinstance(inner, ir.Var) else _buffer(inner)
    if name is not None and name in s.facts.rank:
        bound = s.facts.limits(name)[0 if c > 0 else 1]
        return None if bound is None else scaled(bound, c)
    low, high = value_range(atom, s.facts.ranges, lambda e: _range_within(e, s))
    value = low if c > 0 else high
    return None if value is None else Linear(value * c)


def _range_within(e: ir.Expr, s: Search) -> tuple[int | None, int | None]:
    """As `constant_range`, within the search that asks: a condition may bound a name by an expression of
    that very name."""
    form = linear(e)
    most = _constant(scaled(form, -1), s)
    return _constant(form, s), None if most is None else -most


def constant_range(e: ir.Expr, facts: Facts) -> tuple[int | None, int | None]:
    """The least and greatest value of an i64 expression, where known."""
    form = linear(e)
    most = least(scaled(form, -1), facts)
    return least(form, facts), None if most is None else -most


def _at_least(form: Linear, value: int, s: Search) -> bool:
    bound = _constant(form, s)
    return bound is not None and bound >= value


def _constant(form: Linear, s: Search) -> int | None:
    """As `least`, within the search that asks: on its budget, and by the conditions it left."""
    bound = _lower(form, Search(s.facts, False, s.budget, used=s.used))
    return None if bound is None or bound.terms else bound.constant


def _upper(form: Linear, s: Search) -> Linear | None:
    bound = _lower(scaled(form, -1), s)
    return None if bound is None else scaled(bound, -1)


def _least_of(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None:
        return None
    return _extreme(ir.Op.MIN, a, b)


def _best_of(a: Linear | None, b: Linear | None, s: Search) -> Linear | None:
    if a is None or b is None:
        return b if a is None else a
    return extreme(ir.Op.MAX, a, b, linear, lambda form: _constant(form, s))


def _extreme(op: ir.Op, a: Linear, b: Linear) -> Linear:
    return extreme(op, a, b, linear, unknown)

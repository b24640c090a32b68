"""Sums of integer multiples of atoms: the data that `linear` reads expressions into, and its sums.

Index arithmetic is assumed not to overflow 64 bits; that is what lets terms move freely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import lru_cache
from itertools import compress
from typing import Final

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import neg
from hbc.ir.lang.fold import wrap
from hbc.ir.lang.show import show
from hbc.ir.lang.types import I64

LEAST: Final = I64.limits[0]
ARITHMETIC: Final = frozenset(
    {ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.DIV, ir.Op.MOD, ir.Op.MIN, ir.Op.MAX}
)
"""The operators that linear forms are read through; what others make is an atom."""


@record
class Linear:
    """`constant + sum(coefficient * atom)`: no coefficient is 0, no atom appears twice, and atoms
    are in the order of their `keys` (their text, lower case before upper)."""

    constant: int
    terms: tuple[tuple[ir.Expr, int], ...] = ()
    keys: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def signature(self) -> tuple[int | tuple[str, ...], ...]:
        """Equal for equal forms alone, and sooner hashed than they are."""
        return (self.constant, self.keys, *[t[1] for t in self.terms])


Sum = dict[str, tuple[ir.Expr, int]]
"""Terms by key, while they are being added up."""


MOST_REMEMBERED: Final = 4096  # nodes; then all is forgotten

# By identity: the form holds its atom, so no other node can have its place in memory. Texts of atoms
# are asked for again and again: a third of the time of a simplification.
_forms: dict[int, Linear] = {}


def _remember(atom: ir.Expr) -> Linear:
    if len(_forms) >= MOST_REMEMBERED:
        _forms.clear()
    form = _forms[id(atom)] = Linear(0, ((atom, 1),), (show(atom).swapcase(),))
    return form


@lru_cache(MOST_REMEMBERED)
def _of_variable(name: str) -> Linear:
    return Linear(0, ((ir.Var(name), 1),), (name.swapcase(),))


def of_atom(atom: ir.Expr, coefficient: int = 1) -> Linear:
    """coefficient * atom, for an atom already in canonical form."""
    if isinstance(atom, ir.Var):
        form = _of_variable(atom.name)
    else:
        known = _forms.get(id(atom))
        form = _remember(atom) if known is None else known
    if coefficient == 1:
        return form
    return Linear(0, ((atom, coefficient),), form.keys)


def plus(a: Linear, b: Linear, times: int = 1) -> Linear:
    """a + times * b."""
    if times == 0 or not (b.terms or b.constant):
        return a
    if not b.terms:
        return Linear(a.constant + times * b.constant, a.terms, a.keys)
    if not a.terms:
        return plus(scaled(b, times), Linear(a.constant))
    total: Sum = dict(zip(a.keys, a.terms, strict=True))
    accumulate(total, b, times)
    return finish(a.constant + times * b.constant, total)


def minus(a: Linear, b: Linear) -> Linear:
    """a - b."""
    return plus(a, b, -1)


def scaled(a: Linear, factor: int) -> Linear:
    """factor * a."""
    if factor == 1:
        return a
    if factor == 0:
        return Linear(0)
    return Linear(a.constant * factor, tuple([(t[0], t[1] * factor) for t in a.terms]), a.keys)


def shifted(a: Linear, offset: int) -> Linear:
    """a + offset."""
    return Linear(a.constant + offset, a.terms, a.keys) if offset else a


def coefficient(a: Linear, name: str) -> int:
    """The coefficient of a variable, 0 when it is not a term. (It may still occur in atoms.)"""
    return next((c for atom, c in a.terms if isinstance(atom, ir.Var) and atom.name == name), 0)


def without(a: Linear, key: str) -> Linear:
    """The form less the term of that key."""
    keys, terms = a.keys, a.terms
    if key not in keys:
        return a
    at = keys.index(key)
    return Linear(a.constant, terms[:at] + terms[at + 1 :], keys[:at] + keys[at + 1 :])


def keep(a: Linear, wanted: Callable[[str], bool]) -> Linear:
    """The terms whose key is wanted, and the constant."""
    kept = [wanted(k) for k in a.keys]
    return Linear(a.constant, tuple(compress(a.terms, kept)), tuple(compress(a.keys, kept)))


def by_divisor(a: Linear, d: int) -> tuple[Linear, Linear]:
    """The terms that d divides and those that it does not, both without the constant."""
    if d == 1 or not a.terms:
        return Linear(0, a.terms, a.keys), Linear(0)
    divided = [t[1] % d == 0 for t in a.terms]
    if all(divided):
        return Linear(0, a.terms, a.keys), Linear(0)
    if not any(divided):
        return Linear(0), Linear(0, a.terms, a.keys)
    others = [not x for x in divided]
    return (
        Linear(0, tuple(compress(a.terms, divided)), tuple(compress(a.keys, divided))),
        Linear(0, tuple(compress(a.terms, others)), tuple(compress(a.keys, others))),
    )


def accumulate(total: Sum, part: Linear, times: int) -> None:
    """total += times * part, its constant excepted."""
    if times == 0:
        return
    for key, term in zip(part.keys, part.terms, strict=True):
        old = total.get(key)
        if old is not None:
            total[key] = (term[0], term[1] * times + old[1])
        elif times == 1:
            total[key] = term
        else:
            total[key] = (term[0], term[1] * times)


def finish(constant: int, total: Sum) -> Linear:
    """The form of the terms added up."""
    keys = sorted([key for key, term in total.items() if term[1]])
    return Linear(constant, tuple([total[k] for k in keys]), tuple(keys))


# By the identity of what they are made of, which the entry holds: atoms that are made again are the same
# object, of which texts and forms are known.
_written: dict[tuple[int, ...], tuple[Linear, ir.Expr]] = {}
_made: dict[tuple[ir.Op, int, int], ir.Binary] = {}


def binary(op: ir.Op, a: ir.Expr, b: ir.Expr) -> ir.Binary:
    """The operation of two expressions in canonical form: one object for each."""
    key = op, id(a), id(b)
    known = _made.get(key)
    if known is None:
        if len(_made) >= MOST_REMEMBERED:
            _made.clear()
        known = _made[key] = ir.Binary(op, a, b)
    return known


@lru_cache(MOST_REMEMBERED)
def number(value: int) -> ir.Const:
    """The constant: one object for each."""
    return ir.const_index(value)


def to_expr(a: Linear) -> ir.Expr:
    """A readable expression: `4*i + j - 1`, positive terms first; the same object for the same atoms.
    Numbers wrap as i64 does; the least one has no opposite, so it is added and not subtracted."""
    if not a.terms:
        return number(wrap(a.constant, I64))
    key = (a.constant, *[x for atom, c in a.terms for x in (id(atom), c)])
    known = _written.get(key)
    if known is None:
        if len(_written) >= MOST_REMEMBERED:
            _written.clear()
        known = _written[key] = a, _to_expr(a)
    return known[1]


def _to_expr(a: Linear) -> ir.Expr:
    total: ir.Expr | None = None
    terms = [(atom, wrap(c, I64)) for atom, c in a.terms]
    terms = [(atom, c) for atom, c in terms if c]
    for atom, c in terms:
        if c > 0 or c == LEAST:
            term = _term(atom, c)
            total = term if total is None else binary(ir.Op.ADD, total, term)
    rest = wrap(a.constant, I64)
    if total is None and (rest > 0 or not terms):
        total, rest = number(rest), 0
    for atom, c in terms:
        if LEAST < c < 0:
            if total is None:
                total = neg(atom) if c == -1 else _term(atom, c)
            else:
                total = binary(ir.Op.SUB, total, _term(atom, -c))
    assert total is not None  # without terms, the constant was taken
    if rest:
        op = ir.Op.ADD if rest > 0 or rest == LEAST else ir.Op.SUB
        total = binary(op, total, number(rest if op is ir.Op.ADD else -rest))
    return total


def _term(atom: ir.Expr, c: int) -> ir.Expr:
    if c == 1:
        return atom
    if isinstance(atom, ir.Binary) and atom.op is ir.Op.MUL:
        return binary(ir.Op.MUL, _term(atom.a, c), atom.b)
    return binary(ir.Op.MUL, number(c), atom)

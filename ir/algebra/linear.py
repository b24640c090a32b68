"""The canonical linear form of scalar i64 index expressions: constant + sum(coefficient * atom).

Index arithmetic is assumed not to overflow 64 bits. Atoms are variables, products of atoms, and
what is not linear: min, max, `/`, `%`, select, loads, whose own operands are in canonical form.
Equal forms print as equal expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache
from math import gcd
from typing import Final

from hbc.ir.algebra.division import Least, join, quotient, remainder
from hbc.ir.algebra.extremes import extreme
from hbc.ir.algebra.form import (
    ARITHMETIC,
    MOST_REMEMBERED,
    Linear,
    Sum,
    accumulate,
    binary,
    coefficient,
    finish,
    minus,
    of_atom,
    plus,
    scaled,
    shifted,
    to_expr,
    without,
)
from hbc.ir.algebra.wide_data import has_data, may_wrap
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import ExprMap, map_children

__all__ = [
    "Linear",
    "Reading",
    "canonical",
    "coefficient",
    "combined",
    "difference",
    "factors",
    "is_polynomial",
    "linear",
    "minus",
    "of_atom",
    "plus",
    "product_of",
    "read",
    "scaled",
    "shifted",
    "to_expr",
    "unknown",
    "without",
]

MAX_PRODUCT_TERMS: Final = 64  # a product of sums with more terms is kept as one atom


def unknown(_: Linear) -> int | None:
    """Knows no bound."""
    return None


Operations = dict[tuple[object, ...], tuple[Linear, Linear, Linear]]
"""By the operator and the identity of the atoms of the operands, which the entry holds: those, and the
result."""


@record
class Reading:
    """How to read: whether products of sums are multiplied out; `atom`, the canonical form of what
    is not arithmetic; `least`, what is known of the range of a form, to decide min, max, / and %.
    `seen` remembers by identity, and holds the expression to keep it alive; `operations` what depends on
    `least`."""

    expand: bool
    atom: ExprMap
    least: Least = unknown
    seen: dict[int, tuple[ir.Expr, Linear]] = field(default_factory=dict)
    operations: Operations = field(default_factory=dict)


_MULTIPLIED: Final = Reading(True, lambda e: _canonical_atom(e))
"""Kept, since the operands of an atom are read wherever that atom turns up."""


_KEPT: Final = Reading(False, lambda e: _canonical_atom(e))
"""The same, for products that stay products."""
_REREAD: Final = (Reading(False, lambda e: e), Reading(True, lambda e: e))
"""Products kept and multiplied out, of what is in canonical form already: operands of an atom, which are
read wherever it turns up. Remembered, since each of a chain of minima is an operand of the next."""
_canonical: dict[int, tuple[ir.Expr, ir.Expr]] = {}
"""By the id of an expression: that, and its canonical form."""


def linear(e: ir.Expr) -> Linear:
    """The form of a scalar i64 expression, products of sums multiplied out."""
    if len(_MULTIPLIED.seen) >= MOST_REMEMBERED:
        _MULTIPLIED.seen.clear()
    return read(e, _MULTIPLIED)


def canonical(e: ir.Expr) -> ir.Expr:
    """`e` with every scalar i64 expression in it in canonical form, products left as products; the
    same object when nothing changes."""
    if isinstance(e, ir.Var | ir.Const):
        return e
    if e.type == INDEX:
        known = _canonical.get(id(e))
        if known is not None:
            return known[1]
        if len(_KEPT.seen) >= MOST_REMEMBERED:
            _KEPT.seen.clear()
        if len(_canonical) >= MOST_REMEMBERED:
            _canonical.clear()
        new = to_expr(read(e, _KEPT))
        new = e if new == e else new
        _canonical[id(e)] = e, new
        _canonical[id(new)] = new, new
        return new
    return map_children(e, canonical)


def combined(parts: Iterable[tuple[ir.Expr, int]]) -> ir.Expr:
    """The sum of so many times each of the scalar i64 expressions, in canonical form."""
    total: Sum = {}
    rest = 0
    for e, times in parts:
        part = read(e, _KEPT)
        rest += times * part.constant
        accumulate(total, part, times)
    return to_expr(join(finish(rest, total), _again_kept))


def is_polynomial(e: ir.Expr) -> bool:
    """Whether a scalar i64 expression is made of variables, sums and products alone: what is known of
    their ranges makes it no simpler than `canonical` does."""
    stack = [e]
    while stack:
        top = stack.pop()
        if top.__class__ is ir.Binary:
            if top.op not in _OF_POLYNOMIALS:
                return False
            stack += (top.a, top.b)
        elif top.__class__ is not ir.Var and top.__class__ is not ir.Const:
            return False
    return True


_OF_POLYNOMIALS: Final = (ir.Op.ADD, ir.Op.SUB, ir.Op.MUL)


def difference(a: ir.Expr, b: ir.Expr) -> int | None:
    """a - b when that is a constant."""
    if a is b:
        return 0
    d = linear(ir.Binary(ir.Op.SUB, a, b))
    return None if d.terms else d.constant


def read(e: ir.Expr, reading: Reading) -> Linear:
    """The form of a scalar i64 expression."""
    if e.__class__ is ir.Const:
        return Linear(int(e.value))
    if e.__class__ is ir.Var:
        return of_atom(e)
    known = reading.seen.get(id(e))
    if known is None:
        known = (e, _read(e, reading))
        reading.seen[id(e)] = known
    return known[1]


def _read(e: ir.Expr, reading: Reading) -> Linear:
    match e:
        case ir.Binary(op=ir.Op.ADD | ir.Op.SUB):
            return _sum(e, reading)
        case ir.Binary(op=op, a=a, b=b) if op in ARITHMETIC:
            return _operation(op, read(a, reading), read(b, reading), reading)
        case ir.Unary(op=ir.UnaryOp.NEG, a=a):
            return scaled(read(a, reading), -1)
        case _:
            atom = reading.atom(e)
            return read(atom, reading) if _is_arithmetic(atom) else of_atom(atom)


def _again(e: ir.Expr, reading: Reading) -> Linear:
    if len(reading.seen) >= MOST_REMEMBERED:
        reading.seen.clear()
    return read(e, reading)


def _again_kept(e: ir.Expr) -> Linear:
    """The form of what is in canonical form, products left as products."""
    return _again(e, _REREAD[False])


def _again_multiplied(e: ir.Expr) -> Linear:
    """The same, products of sums multiplied out."""
    return _again(e, _REREAD[True])


_AGAIN: Final = (_again_kept, _again_multiplied)


def _operation(op: ir.Op, a: Linear, b: Linear, reading: Reading) -> Linear:
    """Found out once for the same operands: copies of an expression, as where a Func is put in place of its
    uses, are read once."""
    pure = reading.least is unknown or op is ir.Op.MUL
    remembered = _operations[reading.expand] if pure else reading.operations
    key = (op, _identity(a), _identity(b))
    known = remembered.get(key)
    if known is None:
        if len(remembered) >= MOST_REMEMBERED:
            remembered.clear()
        known = remembered[key] = a, b, _operated(op, a, b, reading)
    return known[2]


_operations: Final[tuple[Operations, Operations]] = ({}, {})
"""What needs no ranges, products kept and multiplied out."""


def _identity(form: Linear) -> tuple[int, ...]:
    """The same for the same numbers of the same atoms alone, while these live."""
    return (form.constant, *[x for atom, c in form.terms for x in (id(atom), c)])


def _operated(op: ir.Op, a: Linear, b: Linear, reading: Reading) -> Linear:
    again = _AGAIN[reading.expand]
    match op:
        case ir.Op.MUL:
            return _product(a, b, reading)
        case ir.Op.MIN | ir.Op.MAX if has_data(a) or has_data(b):
            return a if a == b else of_atom(binary(op, to_expr(a), to_expr(b)))
        case ir.Op.DIV | ir.Op.MOD if may_wrap(a) or may_wrap(b):
            return of_atom(binary(op, to_expr(a), to_expr(b)))
        case ir.Op.DIV:
            return quotient(a, b, again, reading.least)
        case ir.Op.MOD:
            return remainder(a, b, reading.least)
        case _:
            return extreme(op, a, b, again, reading.least)


def _sum(e: ir.Expr, reading: Reading) -> Linear:
    """A chain of + and -, added up in one go and without recursion."""
    total: Sum = {}
    rest = 0
    stack = [(e, 1)]
    while stack:
        top, times = stack.pop()
        if top.__class__ is ir.Const:
            rest += times * int(top.value)
        elif top.__class__ is ir.Binary and (top.op is ir.Op.ADD or top.op is ir.Op.SUB):
            stack.append((top.b, times if top.op is ir.Op.ADD else -times))
            stack.append((top.a, times))
        else:
            part = read(top, reading)
            rest += times * part.constant
            accumulate(total, part, times)
    return join(finish(rest, total), _AGAIN[reading.expand])


def _product(a: Linear, b: Linear, reading: Reading) -> Linear:
    if not a.terms:
        return scaled(b, a.constant)
    if not b.terms:
        return scaled(a, b.constant)
    if len(a.terms) == len(b.terms) == 1 and not a.constant and not b.constant:
        (x, m), (y, n) = a.terms[0], b.terms[0]
        if isinstance(x, ir.Var) and isinstance(
            y, ir.Var
        ):  # as most are: a step of a loop times a stride
            return scaled(_of_two(x.name, y.name), m * n)
    pieces = (len(a.terms) + (a.constant != 0)) * (len(b.terms) + (b.constant != 0))
    if reading.expand and pieces <= MAX_PRODUCT_TERMS:
        total: Sum = {}
        accumulate(total, a, b.constant)
        accumulate(total, b, a.constant)
        for x, p in a.terms:
            for y, q in b.terms:
                accumulate(total, of_atom(product_of([*factors(x), *factors(y)])), p * q)
        return finish(a.constant * b.constant, total)
    a, p = _primitive(a)
    b, q = _primitive(b)
    return of_atom(product_of([*factors(to_expr(a)), *factors(to_expr(b))]), p * q)


@lru_cache(MOST_REMEMBERED)
def _of_two(a: str, b: str) -> Linear:
    """The product of two variables: one object for each."""
    return of_atom(product_of([ir.Var(a), ir.Var(b)]))


def _primitive(a: Linear) -> tuple[Linear, int]:
    """The form divided by the greatest common divisor of its numbers, and that divisor; the first
    coefficient becomes positive."""
    g = gcd(a.constant, *(c for _, c in a.terms))
    g = -g if a.terms[0][1] < 0 else g
    terms = tuple((atom, c // g) for atom, c in a.terms)
    return Linear(a.constant // g, terms, a.keys), g


def factors(e: ir.Expr) -> list[ir.Expr]:
    """The factors of an atom that is a product; else the atom."""
    if isinstance(e, ir.Binary) and e.op is ir.Op.MUL:
        return [*factors(e.a), *factors(e.b)]
    return [e]


def product_of(parts: list[ir.Expr]) -> ir.Expr:
    """The atom that is the product of these."""
    first, *others = sorted(parts, key=_text)
    result = first
    for f in others:
        result = binary(ir.Op.MUL, result, f)
    return result


def _text(e: ir.Expr) -> str:
    """What atoms are ordered by: that of a node is written once."""
    return show(e).swapcase() if isinstance(e, ir.Var) else of_atom(e).keys[0]


def _is_arithmetic(e: ir.Expr) -> bool:
    match e:
        case ir.Const() | ir.Var() | ir.Unary(op=ir.UnaryOp.NEG):
            return True
        case ir.Binary(op=op):
            return op in ARITHMETIC
        case _:
            return False


def _canonical_atom(e: ir.Expr) -> ir.Expr:
    return map_children(e, canonical)

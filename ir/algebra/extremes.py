"""min and max of linear forms: chains flattened and sorted, what operands share taken out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hbc.ir.algebra.division import Least, Reader
from hbc.ir.algebra.form import (
    MOST_REMEMBERED,
    Linear,
    binary,
    minus,
    of_atom,
    plus,
    scaled,
    to_expr,
    without,
)
from hbc.ir.lang import nodes as ir

NOTHING: Final = Linear(0)
MOST_NESTED: Final = 4
"""How many min and max in one another are looked through for what cancels."""


def extreme(op: ir.Op, a: Linear, b: Linear, read: Reader, least: Least) -> Linear:
    """min(a, b) or max(a, b)."""
    common = _shared([a, b])
    forms = [*_operands(op, minus(a, common), read), *_operands(op, minus(b, common), read)]
    forms = _undominated(op, forms, read, least)
    if len(forms) == 1:
        return plus(forms[0], common)
    shared = _shared(forms)
    forms = sorted((minus(f, shared) for f in forms), key=_order)
    offset = forms[0].constant if all(f.terms for f in forms) else 0
    result: ir.Expr | None = None
    for f in forms:
        e = to_expr(Linear(f.constant - offset, f.terms, f.keys))
        result = e if result is None else binary(op, result, e)
    assert result is not None
    return plus(plus(of_atom(result), shared), plus(common, Linear(offset)))


def turned(form: Linear, read: Reader, least: Least) -> Linear:
    """The form with `-min(a, b)` as `max(-a, -b)`, and the other way round, at any depth."""
    for key, (atom, c) in zip(form.keys, form.terms, strict=True):
        if c == -1 and isinstance(atom, ir.Binary) and atom.op in (ir.Op.MIN, ir.Op.MAX):
            opposite = ir.Op.MAX if atom.op is ir.Op.MIN else ir.Op.MIN
            a, b = (turned(scaled(read(e), -1), read, least) for e in (atom.a, atom.b))
            rest = turned(without(form, key), read, least)
            return plus(rest, extreme(opposite, a, b, read, least))
    return form


def _undominated(op: ir.Op, forms: list[Linear], read: Reader, least: Least) -> list[Linear]:
    """The forms that can be the extreme; of equal ones the first."""
    kept: list[Linear] = []
    for f in forms:
        if any(_wins(op, k, f, read, least) for k in kept):
            continue
        kept = [k for k in kept if not _wins(op, f, k, read, least)]
        kept.append(f)
    return kept


def _wins(op: ir.Op, a: Linear, b: Linear, read: Reader, least: Least) -> bool:
    """Is the extreme of a and b certainly a?"""
    gap = minus(b, a) if op is ir.Op.MIN else minus(a, b)
    if _absorbed(gap, read):
        return True
    low = least(gap) if gap.terms else None
    return low is not None and low >= 0


# By the way of reading and the signature of a form: of the operands of a chain, each longer chain asks again.
_remembered: dict[tuple[Reader, object], bool] = {}


def _absorbed(gap: Linear, read: Reader) -> bool:
    """Whether the form is at least 0 whatever its variables are: `a - min(a, b)` is, by which
    `max(a, min(a, b))` is `a`."""
    if not gap.terms:
        return gap.constant >= 0
    if not any(_is_extreme(atom) for atom, _ in gap.terms):
        return False
    key = read, gap.signature
    known = _remembered.get(key)
    if known is None:
        if len(_remembered) >= MOST_REMEMBERED:
            _remembered.clear()
        known = _remembered[key] = _absorbs(gap, read, MOST_NESTED)
    return known


def _is_extreme(atom: ir.Expr) -> bool:
    return atom.__class__ is ir.Binary and (atom.op is ir.Op.MIN or atom.op is ir.Op.MAX)


def _absorbs(gap: Linear, read: Reader, depth: int) -> bool:
    if not gap.terms:
        return gap.constant >= 0
    for key, (atom, c) in zip(gap.keys, gap.terms, strict=True) if depth else ():
        if isinstance(atom, ir.Binary) and atom.op in (ir.Op.MIN, ir.Op.MAX):
            rest = without(gap, key)
            above = (plus(rest, read(e), c) for e in (atom.a, atom.b))
            one_does = (atom.op is ir.Op.MAX) == (c > 0)
            if (any if one_does else all)(_absorbs(x, read, depth - 1) for x in above):
                return True
    return False


def _order(a: Linear) -> tuple[bool, list[tuple[str, int]]]:
    """Forms by their terms, a constant last."""
    return not a.terms, [(k, c) for k, (_, c) in zip(a.keys, a.terms, strict=True)]


def _shared(forms: list[Linear]) -> Linear:
    """The terms that all forms have."""
    first, *others = forms
    terms = dict(zip(first.keys, first.terms, strict=True))
    for other in others:
        theirs = dict(zip(other.keys, other.terms, strict=True))
        terms = {k: t for k, t in terms.items() if k in theirs and theirs[k][1] == t[1]}
        if not terms:
            return NOTHING
    return Linear(0, tuple(terms.values()), tuple(terms))


def _operands(op: ir.Op, a: Linear, read: Reader) -> list[Linear]:
    """The forms whose extreme is `a`, when `a` is `op(..) + rest`; else `a` alone."""
    for key, (atom, c) in zip(a.keys, a.terms, strict=True):
        if c == 1 and isinstance(atom, ir.Binary) and atom.op is op:
            rest = without(a, key)
            return [f for e in _chain(op, atom) for f in _operands(op, plus(read(e), rest), read)]
    return [a]


def _chain(op: ir.Op, e: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(e, ir.Binary) and e.op is op:
        yield from _chain(op, e.a)
        yield from _chain(op, e.b)
    else:
        yield e

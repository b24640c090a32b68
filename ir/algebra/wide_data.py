"""Index arithmetic never overflows; arithmetic on i64 data may hold anything, and wraps.

Sums and products of both may be rearranged, since that is right modulo 2^64. Comparisons, min, max,
`/` and `%` of such sums may not: `a[i] + 1 > a[i]` is false for the greatest integer.
"""

from __future__ import annotations

from hbc.ir.algebra.form import MOST_REMEMBERED, Linear
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import I64, U64
from hbc.ir.lang.walk import operands

_known: dict[int, tuple[ir.Expr, bool]] = {}  # by identity; the node is held so that it stays alive


def may_wrap(form: Linear) -> bool:
    """Whether i64 data takes part in arithmetic here. Data by itself does not wrap."""
    if not has_data(form):
        return False
    if form.constant or len(form.terms) != 1 or form.terms[0][1] != 1:
        return True
    return isinstance(form.terms[0][0], ir.Binary | ir.Unary)


def has_data(form: Linear) -> bool:
    """Whether the value is computed from i64 data, or is such."""
    return any(_is_wide(atom) for atom, _ in form.terms)


def _is_wide(atom: ir.Expr) -> bool:
    if isinstance(atom, ir.Var):
        return False
    wide = _known.get(id(atom))
    if wide is None:
        if len(_known) >= MOST_REMEMBERED:
            _known.clear()
        wide = _known[id(atom)] = (atom, _flows_in(atom))
    return wide[1]


def _flows_in(e: ir.Expr) -> bool:
    match e:
        case ir.Load(type=t) | ir.Access(type=t) | ir.Call(type=t):
            return t.element in (I64, U64)
        case ir.Cast(type=t, value=v):
            return t.element == I64 and v.type.element.is_float
        case ir.Select(a=a, b=b):
            return _flows_in(a) or _flows_in(b)
        case _:
            return any(_flows_in(x) for x in operands(e))

"""Bounds of index expressions, alignment, and proofs of comparisons, from what is known of names.

Ranges are taken to be non-empty: bounds hold wherever the loops that they come from run at all.
Equal terms cancel before anything is replaced, so `min(32*x, W - 32) + i - 32*x` is precise.
"""

from __future__ import annotations

from hbc.ir.algebra.alignment import alignment
from hbc.ir.algebra.extremes import turned
from hbc.ir.algebra.facts import Facts, Interval, Ranges, facts_of
from hbc.ir.algebra.intervals import Range
from hbc.ir.algebra.lane_at import NoLaneError, at_lane
from hbc.ir.algebra.linear import Linear, linear, minus, scaled, shifted, to_expr, unknown
from hbc.ir.algebra.lower_bound import constant_range, least, lower_bound
from hbc.ir.algebra.value_range import value_range
from hbc.ir.algebra.wide_data import may_wrap
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX, Kind

__all__ = [
    "Facts",
    "Interval",
    "Ranges",
    "alignment",
    "bounds",
    "constant_bounds",
    "prove",
]

_LANE = "lane of the vector"  # not a name that a program can have


def bounds(e: ir.Expr, ranges: Facts | Ranges) -> Interval:
    """The range of an i64 expression (of all lanes of a vector), in terms of the names without a
    bounded range. A side is None when there is no bound that this file can find."""
    scalar, facts = _scalar(e, facts_of(ranges))
    if scalar is None:
        return Interval(None, None)
    form = linear(scalar)
    low = lower_bound(form, facts, symbolic=True)
    below = lower_bound(scaled(form, -1), facts, symbolic=True)
    high = None if below is None else turned(scaled(below, -1), linear, unknown)
    return Interval(None if low is None else to_expr(low), None if high is None else to_expr(high))


def constant_bounds(e: ir.Expr, ranges: Facts | Ranges) -> Range:
    """The least and greatest value of an integer expression of any width, each None if unknown."""
    scalar, facts = _scalar(e, facts_of(ranges))
    if scalar is None:
        return None, None
    if scalar.type == INDEX:
        return constant_range(scalar, facts)
    return value_range(scalar, facts.ranges, lambda x: constant_range(x, facts))


def prove(condition: ir.Expr, facts: Facts | Ranges) -> bool | None:
    """True when the condition holds (in all lanes), False when it holds nowhere, None when unknown."""
    known = facts_of(facts)
    match condition:
        case ir.Const(value=value):
            return bool(value)
        case ir.Unary(op=ir.UnaryOp.NOT, a=a):
            proved = prove(a, known)
            return None if proved is None else not proved
        case ir.Binary(op=ir.Op.AND | ir.Op.OR as op, a=a, b=b) if (
            condition.type.element.kind is Kind.BOOL
        ):
            x, y = prove(a, known), prove(b, known)
            decides = op is ir.Op.OR
            if decides in (x, y):
                return decides
            return None if x is None or y is None else not decides
        case _ if condition.type.lanes > 1:
            if condition not in known.proofs:  # the masks of many statements are the same
                scalar, inside = _scalar(condition, known)
                known.proofs[condition] = None if scalar is None else prove(scalar, inside)
            return known.proofs[condition]
        case ir.Binary(op=op, a=a, b=b) if a.type == INDEX:
            left, right = linear(a), linear(b)
            wraps = may_wrap(left) or may_wrap(right)
            return None if wraps else _compare(op, minus(right, left), known)
        case ir.Binary(op=op, a=a, b=b) if a.type.element.is_int:
            return _compare_ranges(op, constant_bounds(a, known), constant_bounds(b, known))
        case _:
            return None


def _compare(op: ir.Op, gap: Linear, facts: Facts) -> bool | None:
    """`a op b` where the gap is b - a."""
    other = scaled(gap, -1)
    match op:
        case ir.Op.LT:
            return _decide(shifted(gap, -1), other, facts)
        case ir.Op.LE:
            return _decide(gap, shifted(other, -1), facts)
        case ir.Op.GT:
            return _decide(shifted(other, -1), gap, facts)
        case ir.Op.GE:
            return _decide(other, shifted(gap, -1), facts)
        case ir.Op.EQ:
            if not gap.terms:
                return gap.constant == 0
            if _holds(shifted(gap, -1), facts) or _holds(shifted(other, -1), facts):
                return False
            return True if _holds(gap, facts) and _holds(other, facts) else None
        case ir.Op.NE:
            equal = _compare(ir.Op.EQ, gap, facts)
            return None if equal is None else not equal
        case _:
            return None


def _decide(yes: Linear, no: Linear, facts: Facts) -> bool | None:
    """True if the first form is >= 0, False if the second is."""
    if _holds(yes, facts):
        return True
    return False if _holds(no, facts) else None


def _holds(form: Linear, facts: Facts) -> bool:
    low = least(form, facts)
    return low is not None and low >= 0


def _compare_ranges(op: ir.Op, a: Range, b: Range) -> bool | None:
    (al, ah), (bl, bh) = a, b
    match op:
        case ir.Op.LT | ir.Op.LE:
            strict = op is ir.Op.LT
            if ah is not None and bl is not None and (ah < bl if strict else ah <= bl):
                return True
            if al is not None and bh is not None and (al >= bh if strict else al > bh):
                return False
            return None
        case ir.Op.GT:
            return _compare_ranges(ir.Op.LT, b, a)
        case ir.Op.GE:
            return _compare_ranges(ir.Op.LE, b, a)
        case ir.Op.EQ | ir.Op.NE:
            apart = _compare_ranges(ir.Op.LT, a, b) or _compare_ranges(ir.Op.LT, b, a)
            if apart:
                return op is ir.Op.NE
            same = al is not None and al == ah == bl == bh
            return op is ir.Op.EQ if same else None
        case _:
            return None


def _scalar(e: ir.Expr, facts: Facts) -> tuple[ir.Expr | None, Facts]:
    """One lane, any, of a vector, and the facts with the range of its number."""
    if e.type.lanes == 1:
        return e, facts
    lanes = e.type.lanes
    if lanes not in facts.inside:
        number = Interval(ir.const_index(0), ir.const_index(lanes - 1))
        facts.inside[lanes] = facts.with_range(_LANE, number)
    try:
        return at_lane(e, ir.Var(_LANE)), facts.inside[lanes]
    except NoLaneError:
        return None, facts

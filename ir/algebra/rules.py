"""The rewrite rules of `simplify`, as tables: name, left, right, guard.

Scalar i64 arithmetic is not here (`linear` has its normal form), nor are literals and neutral
elements (`build` folds them), nor strided vector indices (`layout`).
"""

from __future__ import annotations

import math
from typing import Final

from hbc.ir.algebra.bounds import prove
from hbc.ir.algebra.facts import Facts
from hbc.ir.algebra.rewrite import Bindings, Guard, Rewriter, Rule
from hbc.ir.lang import build, fold
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DType, Kind, widen


def _expr(bindings: Bindings, name: str) -> ir.Expr:
    e = bindings[name]
    assert not isinstance(e, int | DType | ir.Op)
    return e


def _element(bindings: Bindings, name: str) -> DType:
    t = bindings[name]
    assert isinstance(t, DType)
    return t


def is_int(name: str) -> Guard:
    """An integer of any width: + - * wrap, so they move freely."""
    return lambda bindings, _: _expr(bindings, name).type.element.is_int


def is_signed(name: str) -> Guard:
    """A float or signed integer."""
    return lambda bindings, _: _expr(bindings, name).type.element.kind is not Kind.UINT


def is_bool(name: str) -> Guard:
    return lambda bindings, _: _expr(bindings, name).type.element.kind is Kind.BOOL


def same_lanes(a: str, b: str) -> Guard:
    return lambda bindings, _: _expr(bindings, a).type.lanes == _expr(bindings, b).type.lanes


def never_above(a: str, b: str) -> Guard:
    """a <= b in all lanes."""
    return lambda bindings, facts: (
        _proved(ir.Op.LE, _expr(bindings, a), _expr(bindings, b), facts) is True
    )


def decided(value: bool) -> Guard:
    """The comparison `rel(x, y)` has this value in all lanes."""

    def guard(bindings: Bindings, facts: Facts) -> bool:
        op = bindings["rel"]
        assert isinstance(op, ir.Op)
        return _proved(op, _expr(bindings, "x"), _expr(bindings, "y"), facts) is value

    return guard


def holds_all(u: str, x: str, t: str) -> Guard:
    """Every value of x is a value of u: going there and on to t is going to t. (Integers wrap,
    floats saturate: the way must not decide which.)"""

    def guard(bindings: Bindings, _: Facts) -> bool:
        source, way, target = (
            _expr(bindings, x).type.element,
            _element(bindings, u),
            _element(bindings, t),
        )
        turns = source.is_int and way.is_float and not target.is_float
        return _is_subset(source, way) and not turns

    return guard


def keeps_low_bits(t: str, u: str, x: str) -> Guard:
    """Integers: going from x to u and on to t wraps as going to t at once does."""

    def guard(bindings: Bindings, _: Facts) -> bool:
        source, first, last = (
            _expr(bindings, x).type.element,
            _element(bindings, u),
            _element(bindings, t),
        )
        return source.is_int and first.is_int and last.is_int and last.bits <= first.bits

    return guard


def has_exact_inverse(c: str) -> Guard:
    """A float literal that is a power of two, far from the ends of the exponent range, as its inverse is."""

    def guard(bindings: Bindings, _: Facts) -> bool:
        e = _expr(bindings, c)
        value = build.const_value(e)
        if not e.type.element.is_float or not isinstance(value, float) or not value:
            return False
        known = fold.round_to(1 / value, e.type.element) == 1 / value  # not 512 as f8e4m3
        return known and abs(math.frexp(value)[0]) == 0.5 and 2**-12 < abs(value) < 2**12

    return guard


def no_zero(*names: str) -> Guard:
    """Not a literal 0.0 or -0.0, of which min and max may return either."""
    return lambda bindings, _: all(
        _expr(bindings, n).type.element.is_int or build.const_value(_expr(bindings, n)) != 0
        for n in names
    )


def _proved(op: ir.Op, a: ir.Expr, b: ir.Expr, facts: Facts) -> bool | None:
    if not a.type.element.is_int:
        return None
    if op in (ir.Op.EQ, ir.Op.NE) and (_never_these_bits(a, b) or _never_these_bits(b, a)):
        return op is ir.Op.NE
    return prove(ir.Binary(op, a, b), facts)


def _never_these_bits(a: ir.Expr, b: ir.Expr) -> bool:
    """`x & 12` has no bits but those, `x | 12` has them all; `b` is a literal that contradicts."""
    value = build.const_value(b)
    if value is None or not isinstance(a, ir.Binary) or a.op not in (ir.Op.AND, ir.Op.OR):
        return False
    bits = build.const_value(a.b)
    if bits is None:
        return False
    stray = int(value) & ~int(bits) if a.op is ir.Op.AND else int(bits) & ~int(value)
    return stray != 0


def _is_subset(a: DType, b: DType) -> bool:
    if a == BOOL or b == BOOL:
        return a == BOOL
    if a.is_int and b.is_float:
        return a.bits - (a.kind is Kind.INT) <= b.precision and b.bits > a.bits
    return widen(a, b) == b


# Conditions.
LOGIC = (
    Rule("and: contradiction", "x & ~x", "false", is_bool("x")),
    Rule("or: excluded middle", "x | ~x", "true", is_bool("x")),
    Rule("and: absorbs or", "x & (x | y)", "x"),
    Rule("or: absorbs and", "x | (x & y)", "x"),
    Rule("and: again", "x & (x & y)", "x & y"),
    Rule("or: again", "x | (x | y)", "x | y"),
    Rule("comparison: always", "rel(x, y)", "true", decided(True)),
    Rule("comparison: never", "rel(x, y)", "false", decided(False)),
)

# Both sides of a select are evaluated, so either may go.
SELECT = (
    Rule("select: the condition", "select(x, true, false)", "x"),
    Rule("select: its opposite", "select(x, false, true)", "~x"),
    Rule("select: turned round", "select(~x, y, z)", "select(x, z, y)"),
    Rule("select: nested, taken", "select(x, select(x, y, z), w)", "select(x, y, w)"),
    Rule("select: nested, not taken", "select(x, y, select(x, z, w))", "select(x, y, w)"),
)

# Each step rounds as before: for floats only what is exact.
ARITHMETIC = (
    Rule("negation: twice", "-(-x)", "x"),
    Rule("add: of a negation", "x + (-y)", "x - y"),
    Rule("sub: of a negation", "x - (-y)", "x + y"),
    Rule("mul: of two negations", "(-x) * (-y)", "x * y"),
    Rule("abs: of a negation", "abs(-x)", "abs(x)", is_signed("x")),
    Rule("abs: twice", "abs(abs(x))", "abs(x)"),
    Rule("div: by a power of two", "x / c0", "x * (1 / c0)", has_exact_inverse("c0")),
    Rule("add: two literals", "(x + c0) + c1", "x + (c0 + c1)", is_int("x")),
    Rule("sub: two literals", "(x - c0) - c1", "x - (c0 + c1)", is_int("x")),
    Rule("mul: two literals", "(x * c0) * c1", "x * (c0 * c1)", is_int("x")),
    Rule("and: two literals", "(x & c0) & c1", "x & (c0 & c1)", is_int("x")),
    Rule("or: two literals", "(x | c0) | c1", "x | (c0 | c1)", is_int("x")),
)

EXTREMES = (
    Rule("min: two literals", "min(min(x, c0), c1)", "min(x, min(c0, c1))", no_zero("c0", "c1")),
    Rule("max: two literals", "max(max(x, c0), c1)", "max(x, max(c0, c1))", no_zero("c0", "c1")),
    Rule("min: again", "min(x, min(x, y))", "min(x, y)"),
    Rule("max: again", "max(x, max(x, y))", "max(x, y)"),
    Rule("min: absorbs max", "min(x, max(x, y))", "x", is_int("x")),
    Rule("max: absorbs min", "max(x, min(x, y))", "x", is_int("x")),
    Rule("min: the first", "min(x, y)", "x", never_above("x", "y")),
    Rule("min: the second", "min(x, y)", "y", never_above("y", "x")),
    Rule("max: the first", "max(x, y)", "x", never_above("y", "x")),
    Rule("max: the second", "max(x, y)", "y", never_above("x", "y")),
)

CASTS = (
    Rule("cast: by way of a wider type", "cast(t, cast(u, x))", "cast(t, x)", holds_all("u", "x", "t")),
    Rule("cast: by way of more bits", "cast(t, cast(u, x))", "cast(t, x)",
         keeps_low_bits("t", "u", "x")),
    Rule("cast: of a broadcast", "cast(t, broadcast(x, n))", "broadcast(cast(t, x), n)"),
)  # fmt: skip

# What is the same in all lanes is computed once. `op` also stands for comparisons, min and max.
VECTORS = (
    Rule("broadcast: twice", "broadcast(broadcast(x, n), m)", "broadcast(broadcast(x, n), m)"),
    Rule("broadcast: one copy", "broadcast(x, 1)", "x"),
    Rule("ramp: one copy", "ramp(x, y, 1)", "x"),
    Rule("ramp: stands still", "ramp(x, 0, n)", "broadcast(x, n)"),
    Rule("operator of broadcasts", "op(broadcast(x, n), broadcast(y, n))",
         "broadcast(op(x, y), n)", same_lanes("x", "y")),
    Rule("negation of a broadcast", "-broadcast(x, n)", "broadcast(-x, n)"),
    Rule("not of a broadcast", "~broadcast(x, n)", "broadcast(~x, n)"),
    Rule("abs of a broadcast", "abs(broadcast(x, n))", "broadcast(abs(x), n)"),
    Rule("select of broadcasts", "select(broadcast(x, n), broadcast(y, n), broadcast(z, n))",
         "broadcast(select(x, y, z), n)", same_lanes("x", "y")),
)  # fmt: skip

REWRITER: Final = Rewriter((*LOGIC, *SELECT, *ARITHMETIC, *EXTREMES, *CASTS, *VECTORS))

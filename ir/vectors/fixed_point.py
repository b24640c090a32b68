"""Integer vectors in one operation each for what a program spells in wider integers.

    u8((u16(a) + u16(b) + 1) / 2)        ->   avgup(a, b)
    i16(clamp(i32(a) + i32(b), -32768, 32767))   ->   addsat(a, b)

Rows as in `ir/algebra/rules.py`; `like(c1, x)` is a literal as one of the type of x. The operations are
native to x86 and NEON, or shorter there than going to wider vectors and back.
"""

from __future__ import annotations

from typing import Final

from hbc.ir.algebra.facts import NOTHING, Facts
from hbc.ir.algebra.rewrite import Bindings, Guard, Rewriter, Rule
from hbc.ir.algebra.rules import CASTS
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, const_value
from hbc.ir.lang.types import DType, Kind, widen
from hbc.ir.lang.walk import rewrite


def _type(bindings: Bindings, name: str) -> DType:
    t = bindings[name]
    if isinstance(t, DType):
        return t
    assert not isinstance(t, int | ir.Op)
    return t.type.element


def _value(bindings: Bindings, name: str) -> int:
    e = bindings[name]
    assert not isinstance(e, int | ir.Op | DType)
    return int(const_value(e) or 0)


def narrow(kinds: str, most: int = 32, least: int = 8) -> Guard:
    """x, and y if there is one, of the same integer type of these kinds and bits."""

    def guard(bindings: Bindings, _: Facts) -> bool:
        t = _type(bindings, "x")
        same = "y" not in bindings or _type(bindings, "y") == t
        return same and t.is_int and t.name[0] in kinds and least <= t.bits <= most

    return guard


def within(wide: str) -> Guard:
    """The type `wide` has all of x, and of sums."""

    def guard(bindings: Bindings, _: Facts) -> bool:
        t, u = _type(bindings, "x"), _type(bindings, wide)
        return u.is_int and widen(t, u) == u and u.bits > t.bits

    return guard


def holds_products(wide: str) -> Guard:
    """The type `wide` has all products of two of x."""

    def guard(bindings: Bindings, facts: Facts) -> bool:
        t, u = _type(bindings, "x"), _type(bindings, wide)
        return within(wide)(bindings, facts) and u.bits >= 2 * t.bits + (u.kind is not t.kind)

    return guard


def signed(wide: str) -> Guard:
    return lambda bindings, _: _type(bindings, wide).kind is Kind.INT


def limits(low: str = "", high: str = "") -> Guard:
    """These literals are the least and the greatest of the type of x."""

    def guard(bindings: Bindings, _: Facts) -> bool:
        least, most = _type(bindings, "x").limits
        return (not low or _value(bindings, low) == least) and (
            not high or _value(bindings, high) == most
        )

    return guard


def half_away(c: str) -> Guard:
    """The literal is the number of bits of x."""
    return lambda bindings, _: _value(bindings, c) == _type(bindings, "x").bits


def in_type(c: str) -> Guard:
    """The literal is a value of the type of x."""

    def guard(bindings: Bindings, _: Facts) -> bool:
        low, high = _type(bindings, "x").limits
        return low <= _value(bindings, c) <= high

    return guard


def typed(name: str, t: str) -> Guard:
    return lambda bindings, _: _type(bindings, name).name == t


def both(*guards: Guard) -> Guard:
    return lambda bindings, facts: all(guard(bindings, facts) for guard in guards)


_SUM = both(narrow("iu"), within("u"))
_BOTH_ENDS = both(narrow("i", 16), within("u"), limits("c1", "c0"))
AVERAGES: Final = (
    Rule("average", "(cast(u, x) + cast(u, y)) >> 1", "cast(u, avg(x, y))", _SUM),
    Rule("average: up", "((cast(u, x) + cast(u, y)) + 1) >> 1", "cast(u, avgup(x, y))", _SUM),
    Rule(
        "average: up, 1 between",
        "((cast(u, x) + 1) + cast(u, y)) >> 1",
        "cast(u, avgup(x, y))",
        _SUM,
    ),
    # Without a wider type: equal bits count whole, others half (Warren, Hacker's Delight, 2-5).
    Rule("average: of bits", "(x & y) + ((x ^ y) >> 1)", "avg(x, y)", narrow("iu")),
    Rule("average: of bits, up", "(x | y) - ((x ^ y) >> 1)", "avgup(x, y)", narrow("iu")),
)
DISTANCES: Final = (
    Rule("distance: of unsigned", "abs(cast(u, x) - cast(u, y))", "cast(u, absd(x, y))",
         both(narrow("u"), within("u"), signed("u"))),
    Rule("distance: of extremes", "max(x, y) - min(x, y)", "absd(x, y)", narrow("iu")),
    Rule("distance: chosen", "select(x < y, y - x, x - y)", "absd(x, y)", narrow("iu")),
    Rule("distance: chosen, or equal", "select(x <= y, y - x, x - y)", "absd(x, y)", narrow("iu")),
)  # fmt: skip
SATURATION: Final = (
    Rule("sum: at most", "min(cast(u, x) + cast(u, y), c0)", "cast(u, addsat(x, y))",
         both(narrow("u"), within("u"), limits(high="c0"))),
    Rule("sum: at most, at least", "max(min(cast(u, x) + cast(u, y), c0), c1)", "cast(u, addsat(x, y))",
         _BOTH_ENDS),
    Rule("sum: at least, at most", "min(max(cast(u, x) + cast(u, y), c1), c0)", "cast(u, addsat(x, y))",
         _BOTH_ENDS),
    Rule("difference: at least 0", "max(cast(u, x) - cast(u, y), 0)", "cast(u, subsat(x, y))",
         both(narrow("u"), within("u"), signed("u"))),
    Rule("difference: at most, at least", "max(min(cast(u, x) - cast(u, y), c0), c1)",
         "cast(u, subsat(x, y))", _BOTH_ENDS),
    Rule("difference: at least, at most", "min(max(cast(u, x) - cast(u, y), c1), c0)",
         "cast(u, subsat(x, y))", _BOTH_ENDS),
    Rule("difference: from the larger", "max(x, y) - y", "subsat(x, y)", narrow("u")),
    Rule("difference: of the smaller", "x - min(x, y)", "subsat(x, y)", narrow("u")),
)  # fmt: skip
PRODUCTS: Final = (
    Rule("product: high half", "(cast(u, x) * cast(u, y)) >> c0", "cast(u, mulhi(x, y))",
         both(narrow("iu", least=16), holds_products("u"), half_away("c0"))),
    Rule("product: high half, by a literal", "(cast(u, x) * c1) >> c0", "cast(u, mulhi(x, like(c1, x)))",
         both(narrow("iu", least=16), holds_products("u"), half_away("c0"), in_type("c1"))),
    Rule("product: rounded", "cast(t, ((cast(u, x) * cast(u, y)) + 16384) >> 15)", "mulround(x, y)",
         both(narrow("i", 16, 16), holds_products("u"), typed("t", "i16"))),
)  # fmt: skip
RULES: Final = (*AVERAGES, *DISTANCES, *SATURATION, *PRODUCTS)
_REWRITER: Final = Rewriter((*RULES, *CASTS))


def fixed_point(e: ir.Expr) -> ir.Expr:
    """The expression with its vectors of integers in these operations."""
    return rewrite(e, _step)


def _step(e: ir.Expr) -> ir.Expr:
    if e.type.lanes == 1 or not e.type.element.is_int:
        return e
    if isinstance(e, ir.Binary) and e.op is ir.Op.DIV:
        d = int(const_value(e.b) or 0)
        if d > 1 and d & (d - 1) == 0:
            e = binary(ir.Op.SHR, e.a, d.bit_length() - 1)
    new = _REWRITER.apply(e, NOTHING)
    return new if new is e else _step(new)

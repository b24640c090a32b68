"""Powers as products, and as exponential functions of a wider type."""

from __future__ import annotations

import math

from hbc.frontend.program.literals import element
from hbc.frontend.program.scope import Scope
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, cast, const, eq, lt, mul, or_, select
from hbc.ir.lang.types import BF16, F8E4M3, F8E5M2, F16, F32, F64, Type

# Where exp(y * log(x)) is computed, so that what it errs by is below half a unit of the type itself.
WIDER = {F8E4M3: F32, F8E5M2: F32, F16: F32, BF16: F32, F32: F64}


def product(a: ir.Expr, count: int, span: Span, scope: Scope) -> ir.Expr:
    """`count` equal factors, and for floats 1 divided by them where it is negative."""
    if count == 0:
        return const(1, a.type)
    x = a if isinstance(a, ir.Var | ir.Const) else ir.Var(scope.fresh("factor"), a.type, a.span)
    factors = _by_squares(x, abs(count), span, scope)
    if count < 0:
        factors = ir.Binary(ir.Op.DIV, const(1.0, a.type), factors, span)
    return ir.Let(x.name, a, factors, span) if isinstance(x, ir.Var) and x is not a else factors


def _by_squares(x: ir.Expr, count: int, span: Span, scope: Scope) -> ir.Expr:
    """x^5 is s * s * x with s = x * x."""
    if count == 1:
        return x
    rest: ir.Expr = ir.Binary(ir.Op.MUL, x, x, span)
    if count > 3:
        name = scope.fresh("square")
        inner = _by_squares(ir.Var(name, x.type, span), count // 2, span, scope)
        rest = ir.Let(name, rest, inner, span)
    return ir.Binary(ir.Op.MUL, rest, x, span) if count % 2 else rest


def exponential(a: ir.Expr, b: ir.Expr, span: Span, scope: Scope) -> ir.Expr:
    """exp(b * log(|a|)), with the sign, the ones and the NaNs that C's `pow` has; b is no whole number that
    is known. The type is one of WIDER."""
    t = element(a)
    wide = Type(WIDER[t])
    x, y = (ir.Var(scope.fresh(n), wide, span) for n in ("base", "exponent"))

    def raised(size: ir.Expr) -> ir.Expr:
        log = ir.Call(ir.MathOp.LOG, (size,), wide, span)
        return ir.Call(ir.MathOp.EXP, (mul(y, log),), wide, span)

    if isinstance(b, ir.Const) and math.isfinite(b.value):
        result = raised(x)
    else:
        size = ir.Unary(ir.UnaryOp.ABS, x, span)
        one = or_(eq(y, 0.0), eq(size, 1.0))
        positive = ir.Var(scope.fresh("positive"), wide, span)
        odd = ir.Binary(ir.Op.NE, mul(_floor(mul(y, 0.5)), 2.0), y, span)
        signed = select(odd, ir.Unary(ir.UnaryOp.NEG, positive, span), positive)
        # Of the two zeros too, whose sign a comparison does not see.
        inverse = ir.Binary(ir.Op.DIV, const(1.0, wide), x, span)
        whole = and_(or_(lt(x, 0.0), lt(inverse, 0.0)), eq(_floor(y), y))
        below = and_(lt(x, 0.0), ir.Binary(ir.Op.NE, _floor(y), y, span))
        chosen = select(below, const(math.nan, wide), select(whole, signed, positive))
        value = select(one, const(1.0, wide), raised(size))
        result = ir.Let(positive.name, value, chosen, span)
    result = ir.Let(y.name, cast(wide, b), result, span)
    return ir.Cast(Type(t), ir.Let(x.name, cast(wide, a), result, span), span)


def _floor(x: ir.Expr) -> ir.Expr:
    return ir.Call(ir.MathOp.FLOOR, (x,), x.type)

"""Literals that have no type yet: they take the type of what they meet.

While an expression is checked, `3` has the type LITERAL_INT and `0.5` LITERAL_FLOAT; `adapt` gives
such an expression the type that its surroundings ask for. BROKEN stands for what was reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from hbc.frontend.text.vocabulary import HIGHEST, LOWEST
from hbc.ir.ground.source import Span
from hbc.ir.lang import fold
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, F32, F64, I32, I64, DType, Kind, Type
from hbc.ir.lang.walk import nodes

if TYPE_CHECKING:
    from hbc.frontend.program.scope import Scope

LITERAL_INT = DType("integer literal", Kind.INT, 64)
LITERAL_FLOAT = DType("number literal", Kind.FLOAT, 64)
UNKNOWN = DType("unknown", Kind.INT, 64)
BROKEN = ir.Const(0, Type(UNKNOWN))

LITERALS = (LITERAL_INT, LITERAL_FLOAT)


def element(e: ir.Expr) -> DType:
    return e.type.element


def is_literal(e: ir.Expr) -> bool:
    """Has no type of its own yet; it need not be constant."""
    return element(e) in LITERALS


def is_broken(e: ir.Expr) -> bool:
    return element(e) is UNKNOWN


def settle(e: ir.Expr, scope: Scope) -> ir.Expr:
    """With the types that literals have when nothing asks for another: f32 and i32."""
    if not is_literal(e):
        return e
    return adapt(e, default_type(element(e)), scope)


def default_type(t: DType) -> DType:
    return F32 if t is LITERAL_FLOAT else I32 if t is LITERAL_INT else t


def adapt(e: ir.Expr, to: DType, scope: Scope) -> ir.Expr:
    """A literal expression in the type `to`; one that has a type stays as it is. What is counted by a
    table's indices is so in 64 bits, and converted then."""
    if not is_literal(e) or is_broken(e):
        return e
    spread = _spread(e, to, scope)  # reports literals that do not fit
    if element(e) is LITERAL_INT and to not in (LITERAL_INT, I64, BOOL) and _counts(e):
        return ir.Cast(Type(to), _spread(e, I64, scope), e.span)
    return spread


def _counts(e: ir.Expr) -> bool:
    """Whether a table's index is in it."""
    return any(isinstance(n, ir.Var) and n.type.element is LITERAL_INT for n in nodes(e))


def _spread(e: ir.Expr, to: DType, scope: Scope) -> ir.Expr:
    """A literal expression with each of its literals in that type."""
    if not is_literal(e) or is_broken(e):
        return e
    t = Type(to)
    match e:
        case ir.Const(value=value):
            return adapt_const(e, value, to, scope)
        case ir.Cast(value=value):
            return ir.Cast(t, value, e.span)
        case ir.Binary(op=op, a=a, b=b):
            if op is ir.Op.DIV and to.is_float and element(e) is LITERAL_INT:
                scope.report(
                    "a quotient of integer literals is rounded down before it becomes a float",
                    e.span, "write one of them with a point: `1.0 / 3`",
                )  # fmt: skip
            return ir.Binary(op, _spread(a, to, scope), _spread(b, to, scope), e.span)
        case ir.Unary(op=uop, a=a):
            return ir.Unary(uop, _spread(a, to, scope), e.span)
        case ir.Select(condition=c, a=a, b=b):
            return ir.Select(c, _spread(a, to, scope), _spread(b, to, scope), e.span)
        case ir.Let(name=name, value=value, body=body):
            return ir.Let(name, value, _spread(body, to, scope), e.span)
        case ir.Call(name=name, args=args):
            return ir.Call(name, tuple(_spread(a, to, scope) for a in args), t, e.span)
        case ir.Access(name=name, indices=indices, part=part):
            return ir.Access(name, indices, t, e.span, part)
        case ir.Var(name=name):
            kept = element(e) is LITERAL_INT or to in LITERALS
            return ir.Var(name, t, e.span) if kept else ir.Cast(t, e, e.span)
        case _:
            raise AssertionError(f"no literal: {e!r}")


def adapt_const(e: ir.Const, value: int | float | bool, to: DType, scope: Scope) -> ir.Expr:
    if to.kind is Kind.BOOL:
        scope.report(f"`{shown(value)}` is no condition", e.span, "write `true` or `false`")
        return BROKEN
    if value in (LOWEST, HIGHEST) and to not in LITERALS:
        return ir.Const(end_of(to, value == HIGHEST), Type(to), e.span)
    if to.is_float:
        wide = float(value) if isinstance(value, float) or abs(value) < 1 << 1000 else math.inf
        rounded = fold.round_to(wide, F64 if to is LITERAL_FLOAT else to)
        if math.isfinite(value) != math.isfinite(rounded) or math.isinf(value) > math.isinf(
            rounded
        ):
            scope.report(f"`{shown(value)}` is beyond the range of {to}", e.span,
                         None if to.bits == 64 else "use a wider type")  # fmt: skip
            return BROKEN
        return ir.Const(rounded, Type(to), e.span)
    assert isinstance(value, int)  # a float never becomes an integer without a cast
    low, high = to.limits
    if not low <= value <= high:
        scope.report(
            f"`{value}` does not fit {to}, which holds {low} .. {high}", e.span,
            f"write `{to}({value})` to wrap it, or use a wider type",
        )  # fmt: skip
        return BROKEN
    return ir.Const(value, Type(to), e.span)


def end_of(t: DType, highest: bool) -> int | float:
    """The greatest or least value of a type of numbers; infinity for floats that have one."""
    return t.ends[highest]


def shown(value: int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def literal(value: int | float, span: Span | None) -> ir.Const:
    kind = LITERAL_FLOAT if isinstance(value, float) else LITERAL_INT
    return ir.Const(value, Type(kind), span)


def fold_binary(op: ir.Op, a: ir.Const, b: ir.Const, span: Span | None) -> ir.Expr | None:
    """The operation on two literals, in exact integers or in f64. None when it has no value."""
    t = LITERAL_FLOAT if LITERAL_FLOAT in (element(a), element(b)) else LITERAL_INT
    x, y = a.value, b.value
    if t is LITERAL_FLOAT:
        value = fold.binary(op, float(x), float(y), F64)
    elif op in (ir.Op.DIV, ir.Op.MOD) and (y == 0 or (op is ir.Op.DIV and x % y)):
        return None  # reported, or kept until it is known whether a float is meant
    else:
        value = fold.binary(op, x, y, I64)
    if value is None:
        return None
    if op in ir.COMPARISONS:
        return ir.Const(bool(value), Type(BOOL), span)
    return ir.Const(value, Type(t), span)


def fold_unary(op: ir.UnaryOp, a: ir.Const, span: Span | None) -> ir.Expr:
    value = fold.unary(op, a.value, F64 if element(a) is LITERAL_FLOAT else I64)
    assert value is not None
    return ir.Const(value, a.type, span)


_FUNCTIONS: dict[ir.MathOp, Callable[[float], float]] = {
    ir.MathOp.EXP: math.exp, ir.MathOp.EXP2: math.exp2, ir.MathOp.LOG: math.log,
    ir.MathOp.SQRT: math.sqrt,
    ir.MathOp.RSQRT: lambda v: 1 / math.sqrt(v), ir.MathOp.SIN: math.sin, ir.MathOp.COS: math.cos,
    ir.MathOp.TANH: math.tanh, ir.MathOp.FLOOR: math.floor, ir.MathOp.CEIL: math.ceil,
    ir.MathOp.ROUND: round, ir.MathOp.TF32: fold.to_tf32,
}  # fmt: skip


def fold_call(name: ir.MathOp, x: float) -> float | None:
    """The function of a literal in f64; None outside its domain."""
    try:
        return float(_FUNCTIONS[name](x))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None

"""Brings operands to one type: implicit widening, and the casts to write where there is none."""

from __future__ import annotations

from hbc.frontend.program.literals import (
    BROKEN,
    LITERAL_FLOAT,
    LITERAL_INT,
    LITERALS,
    adapt,
    element,
    is_broken,
    is_literal,
)  # fmt: skip
from hbc.frontend.program.scope import Env, Scope
from hbc.frontend.text import ast
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DTYPES, F32, I32, I64, INDEX, DType, Type, widen

INDEX_OF_FLOATS = (
    "indices and sizes are integers: divide, as in `n / 2`, which rounds down; an index may also be "
    "`i64(f32(i) * 0.5)`"
)
"""What to write instead of arithmetic with floats where an index stands."""

Operand = tuple[ir.Expr, ast.Expr]
"""A typed expression and what it was written as."""


def join(left: Operand, right: Operand, span: Span, env: Env) -> tuple[ir.Expr, ir.Expr] | None:
    """Both in the type that holds both without loss; None after reporting that there is none."""
    a, b = left[0], right[0]
    s, t = element(a), element(b)
    if is_literal(a) and is_literal(b):
        to = LITERAL_FLOAT if LITERAL_FLOAT in (s, t) else LITERAL_INT
        return retyped(a, to, env), retyped(b, to, env)
    common: DType | None
    if is_literal(a):
        common = t if s is LITERAL_INT or t.is_float else None
    elif is_literal(b):
        common = s if t is LITERAL_INT or s.is_float else None
    else:
        common = widen(s, t)
    if common is None or (common == BOOL and s != t):
        report_no_type(left, right, span, env)
        return None
    a, b = to_type(a, common, env.scope), to_type(b, common, env.scope)
    return None if is_broken(a) or is_broken(b) else (a, b)


def retyped(e: ir.Expr, to: DType, env: Env) -> ir.Expr:
    """A literal as LITERAL_INT or LITERAL_FLOAT."""
    return e if element(e) is to else adapt(e, to, env.scope)


def to_type(e: ir.Expr, to: DType, scope: Scope) -> ir.Expr:
    """The expression in a type that holds its own."""
    if is_literal(e):
        return adapt(e, to, scope)
    if element(e) == to:
        return e
    return whole_size(e, to, scope) or widened(e, to)


def whole_size(e: ir.Expr, to: DType, scope: Scope) -> ir.Expr | None:
    """A scalar that serves as a size, in its own type, as the index that it is."""
    if to == I64 and isinstance(e, ir.Cast) and isinstance(e.value, ir.Var):
        size = scope.sizes.get(e.value.name)
        if size is not None and e.value.type == INDEX and e.type.element == size.element:
            return e.value
    return None


def widened(e: ir.Expr, to: DType) -> ir.Expr:
    """The conversion to a wider type, done at once for constants."""
    if isinstance(e, ir.Const):
        return ir.Const(float(e.value) if to.is_float else e.value, Type(to), e.span)
    return ir.Cast(Type(to), e, e.span)


def report_no_type(left: Operand, right: Operand, span: Span, env: Env) -> None:
    (a, x), (b, y) = left, right
    s, t = element(a), element(b)
    to = suggestion(s, t)
    sides = ((x, s), (y, t))
    casts = [f"`{to}({bare(e)})`" for e, u in sides if u is not to and u not in LITERALS]
    hint = f"write {' and '.join(casts)}" if casts else None
    if env.indexing and to.is_float:
        hint = INDEX_OF_FLOATS
    env.scope.report(
        f"`{text(x)}` is {spoken(s)} and `{text(y)}` is {spoken(t)}: no implicit conversion",
        span, hint,
    )  # fmt: skip


def suggestion(s: DType, t: DType) -> DType:
    """A type to which both can be cast sensibly."""
    floats = [u for u in (s, t) if u.is_float]
    if floats:
        typed = [u for u in floats if u is not LITERAL_FLOAT]
        return typed[0] if len(set(typed)) == 1 else F32
    if BOOL in (s, t):
        other = s if t == BOOL else t
        return I32 if other in LITERALS else other
    return DTYPES[f"i{min(2 * max(s.bits, t.bits), 64)}"]


def convert(e: ir.Expr, written: ast.Expr, to: DType, what: str, scope: Scope) -> ir.Expr:
    """The expression as a value of type `to`, if that loses nothing; `what` names the receiver."""
    if is_broken(e):
        return e
    s = element(e)
    if s is LITERAL_FLOAT and to.is_int:
        pass
    elif is_literal(e) or s == to:
        return adapt(e, to, scope)
    elif widen(s, to) == to:
        return widened(e, to)
    scope.report(
        f"{what} is {to}, and this value is {spoken(s)}", written.span,
        f"write the cast: `{to}({bare(written)})`",
    )  # fmt: skip
    return BROKEN


def wrong(env: Env, e: ast.Expr, t: DType, rule: str, hint: str | None) -> ir.Expr:
    """Reports an operand of the wrong kind."""
    env.scope.report(f"{rule}, and `{text(e)}` is {spoken(t)}", e.span, hint)
    return BROKEN


def spoken(t: DType) -> str:
    """A type in a message."""
    if t in (LITERAL_INT, LITERAL_FLOAT):
        return "an integer literal" if t is LITERAL_INT else "a float literal"
    return str(t)


def bare(e: ast.Expr) -> str:
    """What was written, without parentheses around all of it."""
    shown = text(e)
    inner = shown[1:-1]
    wrapped = shown.startswith("(") and shown.endswith(")")
    return inner if wrapped and "(" not in inner and ")" not in inner else shown


def text(e: ast.Expr, limit: int = 40) -> str:
    """What was written, on one line and not too long."""
    shown = " ".join(e.span.text.split())
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."

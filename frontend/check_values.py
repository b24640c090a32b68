"""Types expressions: names resolved, literals adapted, implicit widening made explicit.

Every function returns a typed IR expression, BROKEN for what was reported, or a literal that has no
type yet (see `literals`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from hbc.frontend import ast
from hbc.frontend.literals import (
    BROKEN,
    LITERAL_FLOAT,
    LITERAL_INT,
    LITERALS,
    adapt,
    element,
    fold_binary,
    fold_unary,
    is_broken,
    is_literal,
    literal,
    settle,
)  # fmt: skip
from hbc.frontend.scope import Scope
from hbc.ir.nodes import COMPARISONS, Binary, Cast, Const, Expr, Let, Op, Unary, UnaryOp, Var
from hbc.ir.source import Span
from hbc.ir.types import BOOL, DTYPES, F32, I32, I64, INDEX, DType, Type, widen

CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
OPERATORS = {str(op): op for op in Op if str(op) not in ("min", "max")}
BITWISE = frozenset({Op.AND, Op.OR, Op.XOR})
SHIFTS = frozenset({Op.SHL, Op.SHR})
REMAINDERS = {Op.MOD: "the remainder of floats is `x - floor(x / y) * y`"}


@dataclass(frozen=True, slots=True)
class Env:
    """What an expression may refer to: the file's names and, by name, the variables around it.
    `place` says in words where the expression stands. `absent` are the pure variables of a Func
    that the left side of an update leaves out."""

    scope: Scope
    locals: Mapping[str, Expr] = field(default_factory=dict)
    place: str = "here"
    absent: frozenset[str] = frozenset()

    def bind(self, name: str, value: Expr) -> Env:
        return replace(self, locals={**self.locals, name: value})


def value(e: ast.Expr, env: Env) -> Expr:
    """The typed expression."""
    from hbc.frontend.check_access import access, edge_access
    from hbc.frontend.check_calls import call

    match e:
        case ast.Number(value=v, span=span):
            return literal(v, span)
        case ast.Boolean(value=v, span=span):
            return Const(v, Type(BOOL), span)
        case ast.Text(span=span):
            env.scope.report("text has no value here", span, "only examples take text")
            return BROKEN
        case ast.Name():
            return name(e, env)
        case ast.Access():
            return access(e, env)
        case ast.EdgeAccess():
            return edge_access(e, env)
        case ast.Call():
            return call(e, env)
        case ast.Unary():
            return unary(e, env)
        case ast.Binary():
            return binary(e, env)
        case ast.Let():
            return let(e, env)
        case _:
            assert_never(e)


def name(e: ast.Name, env: Env) -> Expr:
    """A variable, param, size or named constant."""
    scope, text = env.scope, e.text
    scope.used.add(text)
    if text in env.locals:
        found = env.locals[text]
        match found:
            case Var(name=own, type=t):
                return Var(own, t, e.span)
            case Const(value=v, type=t):
                return Const(v, t, e.span)
            case _:
                return found
    if text in env.absent:
        scope.report(
            f"`{text}` has no value {env.place}: it does not stand on the left", e.span,
            f"write `{text}` on the left in its place, or run along a `reduce` variable",
        )  # fmt: skip
        return BROKEN
    if text in scope.broken:
        return BROKEN
    if text in scope.params:
        param = scope.params[text]
        return Const(param.value, param.type, e.span)
    if text in scope.sizes:
        return Var(text, INDEX, e.span)
    if text in CONSTANTS:
        return literal(CONSTANTS[text], e.span)
    if text in scope.reduces:
        scope.report(
            f"the reduction variable `{text}` has no value {env.place}", e.span,
            f"reductions are updates: `f[...] += ... {text} ...` after `f[...] = 0`",
        )  # fmt: skip
    elif text in scope.inputs or text in scope.funcs or text in scope.aliases:
        what = scope.declared[text].what if text in scope.declared else "a Func"
        scope.report(f"`{text}` is {what} and needs indices", e.span, f"write `{text}[...]`")
    else:
        known = [*env.locals, *scope.sizes, *scope.params]
        scope.unknown("variable", text, e.span, known)
    return BROKEN


def let(e: ast.Let, env: Env) -> Expr:
    """Constants are put in place; other values keep a name that is unique in the file."""
    bound = value(e.value, env)
    text = e.name.text
    if text in env.locals or text in env.scope.declared:
        env.scope.report(f"`{text}` already has a meaning here", e.name.span, "choose another name")
        bound = BROKEN
    if isinstance(bound, Const):
        return value(e.body, env.bind(text, bound))
    bound = settle(bound, env.scope)
    own = env.scope.fresh(text)
    body = value(e.body, env.bind(text, Var(own, bound.type, e.name.span)))
    if is_broken(body):
        return BROKEN
    return Let(own, bound, body, e.span)


def unary(e: ast.Unary, env: Env) -> Expr:
    a = value(e.a, env)
    if is_broken(a):
        return BROKEN
    t = element(a)
    if e.op == "not" and t != BOOL:
        return wrong(env, e.a, t, "`not` takes a condition", "compare: `x != 0`")
    if e.op == "-" and t == BOOL:
        return wrong(env, e.a, t, "`-` takes a number", "cast it: `i32(...)`")
    if e.op == "~" and (t.is_float or t == BOOL):
        hint = "write `not`" if t == BOOL else None
        return wrong(env, e.a, t, "`~` takes an integer", hint)
    op = UnaryOp.NEG if e.op == "-" else UnaryOp.NOT
    if is_literal(a) and isinstance(a, Const):
        return fold_unary(op, a, e.span)
    return Unary(op, a, e.span)


def binary(e: ast.Binary, env: Env) -> Expr:
    a, b = value(e.a, env), value(e.b, env)
    if is_broken(a) or is_broken(b):
        return BROKEN
    if e.op in ("and", "or"):
        for operand, side in ((a, e.a), (b, e.b)):
            if element(operand) != BOOL:
                hint = "compare: `x != 0`; bits are combined by `&` and `|`"
                return wrong(env, side, element(operand), f"`{e.op}` takes conditions", hint)
        return Binary(Op.AND if e.op == "and" else Op.OR, a, b, e.span)
    op = OPERATORS[e.op]
    if op not in (Op.EQ, Op.NE, *BITWISE):
        for operand, side in ((a, e.a), (b, e.b)):
            if element(operand) == BOOL:
                return wrong(env, side, BOOL, f"`{op}` takes numbers", "cast it: `i32(...)`")
    if op in BITWISE | SHIFTS or op is Op.MOD:
        for operand, side in ((a, e.a), (b, e.b)):
            if element(operand).is_float:
                return wrong(env, side, element(operand), f"`{op}` takes integers", REMAINDERS.get(op))
    return operation(op, (a, e.a), (b, e.b), e.span, env)


Operand = tuple[Expr, ast.Expr]
"""A typed expression and what it was written as."""


def operation(op: Op, left: Operand, right: Operand, span: Span, env: Env) -> Expr:
    """`op` of operands that it accepts, brought to one type."""
    a, b = left[0], right[0]
    divides = op in (Op.DIV, Op.MOD) and not element(a).is_float and not element(b).is_float
    if divides and isinstance(b, Const) and b.value == 0:
        env.scope.report("division by zero", right[1].span)
        return BROKEN
    if is_literal(a) and is_literal(b) and isinstance(a, Const) and isinstance(b, Const):
        folded = fold_binary(op, a, b, span)
        if folded is not None:
            return folded
    both = join(left, right, span, env)
    if both is None:
        return BROKEN
    if op in COMPARISONS:
        both = (settle(both[0], env.scope), settle(both[1], env.scope))
    return Binary(op, *both, span)


def join(left: Operand, right: Operand, span: Span, env: Env) -> tuple[Expr, Expr] | None:
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


def retyped(e: Expr, to: DType, env: Env) -> Expr:
    """A literal as LITERAL_INT or LITERAL_FLOAT."""
    return e if element(e) is to else adapt(e, to, env.scope)


def to_type(e: Expr, to: DType, scope: Scope) -> Expr:
    """The expression in a type that holds its own."""
    if is_literal(e):
        return adapt(e, to, scope)
    return e if element(e) == to else Cast(Type(to), e, e.span)


def report_no_type(left: Operand, right: Operand, span: Span, env: Env) -> None:
    (a, x), (b, y) = left, right
    s, t = element(a), element(b)
    to = suggestion(s, t)
    sides = ((x, s), (y, t))
    casts = [f"`{to}({bare(e)})`" for e, u in sides if u is not to and u not in LITERALS]
    hint = f"write {' and '.join(casts)}" if casts else None
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


def convert(e: Expr, written: ast.Expr, to: DType, what: str, scope: Scope) -> Expr:
    """The expression as a value of type `to`, if that loses nothing; `what` names the receiver."""
    if is_broken(e):
        return e
    s = element(e)
    if s is LITERAL_FLOAT and to.is_int:
        pass
    elif is_literal(e) or s == to:
        return adapt(e, to, scope)
    elif widen(s, to) == to:
        return Cast(Type(to), e, e.span)
    scope.report(
        f"{what} is {to}, and this value is {spoken(s)}", written.span,
        f"write the cast: `{to}({bare(written)})`",
    )  # fmt: skip
    return BROKEN


def index(e: ast.Expr, env: Env) -> Expr:
    """An index or extent: i64."""
    v = value(e, env)
    if is_broken(v):
        return v
    t = element(v)
    if t.is_float or t == BOOL:
        env.scope.report(
            f"an index is an integer, and `{text(e)}` is {spoken(t)}", e.span,
            f"write `i64({bare(e)})`",
        )  # fmt: skip
        return BROKEN
    return to_type(v, I64, env.scope)


def condition(e: ast.Expr, env: Env) -> Expr:
    v = value(e, env)
    if is_broken(v) or element(v) == BOOL:
        return v
    return wrong(env, e, element(v), "a condition is expected", "compare: `x != 0`")


def wrong(env: Env, e: ast.Expr, t: DType, rule: str, hint: str | None) -> Expr:
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


"""Types expressions: names resolved, literals adapted, implicit widening made explicit.

Every function returns a typed IR expression, BROKEN for what was reported, or a literal that has no
type yet (see `literals`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from hbc.frontend.checks import let_indices
from hbc.frontend.checks.access import access, edge_access
from hbc.frontend.checks.calls import call
from hbc.frontend.checks.operations import POWER, operation, power
from hbc.frontend.checks.types import bare, spoken, text, to_type, wrong
from hbc.frontend.program.constants import with_numbers
from hbc.frontend.program.literals import (
    BROKEN,
    LITERAL_FLOAT,
    element,
    fold_unary,
    is_broken,
    is_literal,
    literal,
    settle,
)  # fmt: skip
from hbc.frontend.program.scope import Env
from hbc.frontend.text import ast
from hbc.frontend.text.giants import LONGEST
from hbc.frontend.text.vocabulary import CONSTANTS
from hbc.ir.ground.diag import Note
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, I64, INDEX, Type
from hbc.ir.lang.walk import contains, nodes

OPERATORS = {str(op): op for op in ir.Op if str(op) not in ("min", "max")}
BITWISE = frozenset({ir.Op.AND, ir.Op.OR, ir.Op.XOR})
SHIFTS = frozenset({ir.Op.SHL, ir.Op.SHR})
NO_DATA = frozenset({"in a constant", "in a schedule", "in an example", "in an extent"})
"""Places of expressions that read no data."""
OF_FLOATS = {
    ir.Op.XOR: "a power is written `x ** y`",
}


def value(e: ast.Expr, env: Env) -> ir.Expr:
    """The typed expression."""
    match e:
        case ast.Number(value=v, span=span):
            return literal(v, span)
        case ast.Boolean(value=v, span=span):
            return ir.Const(v, Type(BOOL), span)
        case ast.Text(span=span):
            only = "only `file(...)` of examples takes text"
            hint = "write a number" if env.place == "in an example" else only
            env.scope.report("text has no value here", span, hint)
            return BROKEN
        case ast.Name():
            return name(e, env)
        case ast.Access():
            return access(e, [index(i, env) for i in e.indices], env)
        case ast.EdgeAccess():
            return edge_access(e, [index(i, env) for i in e.indices], env)
        case ast.Call():
            return call(e, env, value)
        case ast.Unary():
            return unary(e, env)
        case ast.Binary():
            return binary(e, env)
        case ast.Let():
            return let(e, env)
        case ast.Inlined():
            return inlined(e, env)
        case ast.MemberAccess():
            env.scope.report(f"a member of a family has no value {env.place}", e.span)
            return BROKEN
        case ast.Tuple():
            env.scope.report(
                f"a tuple has no value {env.place}", e.span,
                "it gives several Funcs their values: `(a[x], b[x]) = (p, q)`",
            )  # fmt: skip
            return BROKEN
        case ast.Reduction():
            env.scope.report(
                f"a reduction has no value {env.place}", e.span,
                "it stands in the definition of a Func",
            )  # fmt: skip
            return BROKEN
        case _:
            assert_never(e)


def name(e: ast.Name, env: Env) -> ir.Expr:
    """A variable, param, size or named constant."""
    scope, text = env.scope, e.text
    scope.used.add(text)
    if text in env.locals:
        local = env.locals[text]
        match local:
            case ir.Var(name=own, type=t):
                return ir.Var(own, t, e.span)
            case ir.Const(value=v, type=t):
                return ir.Const(v, t, e.span)
            case _:
                return local
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
        return ir.Const(param.value, param.type, e.span)
    if text in scope.sizes:
        size, here = scope.sizes[text], ir.Var(text, INDEX, e.span)
        if size.element is None or env.indexing:
            return here
        return ir.Cast(Type(size.element), here, e.span)
    if text in scope.inputs and scope.inputs[text].is_scalar:
        return ir.Access(text, (), Type(scope.inputs[text].element), e.span)
    if text in CONSTANTS:
        return literal(CONSTANTS[text], e.span)
    if text in scope.reduces:
        scope.report(
            f"the reduction variable `{text}` has no value {env.place}", e.span,
            f"reductions are updates: `f[...] += ... {text} ...` after `f[...] = 0`",
        )  # fmt: skip
    elif text in scope.inputs or text in scope.funcs or text in scope.aliases:
        what = scope.declared[text].what if text in scope.declared else "a Func"
        numbers = "sizes, params and numbers stand here"
        hint = numbers if env.place in NO_DATA else f"write `{text}[...]`"
        scope.report(f"`{text}` is {what} and needs indices", e.span, hint)
    else:
        known = [*env.locals, *scope.sizes, *scope.params]
        scope.unknown("variable", text, e.span, known)
    return BROKEN


def let(e: ast.Let, env: Env) -> ir.Expr:
    """Constants are put in place; other values keep a name that is unique in the file, but for where
    they are part of an index. What the type of a Func depends on has none of its own yet."""
    bound = value(e.value, env)
    text = e.name.text
    if text in env.locals or text in env.scope.declared:
        env.scope.report(f"`{text}` already has a meaning here", e.name.span, "choose another name")
        bound = BROKEN
    if isinstance(bound, ir.Const):
        return value(e.body, env.bind(text, bound))
    if not any(isinstance(n, ir.Access | ir.Var | ir.Cast) and is_literal(n) for n in nodes(bound)):
        bound = settle(bound, env.scope)
    own = env.scope.fresh(text)
    body = value(e.body, env.bind(text, ir.Var(own, bound.type, e.name.span)))
    if is_broken(body):
        return BROKEN
    constant = let_indices.bind(own, bound, body, e.span)
    return long_index(e.span, env) if constant is None else constant


def long_index(span: Span, env: Env) -> ir.Expr:
    env.scope.report(
        f"an index without its `let`s is more than {LONGEST:,} operations long", span,
        "make one of the values a Func, and say `compute_root` of it in a schedule",
    )  # fmt: skip
    return BROKEN


def inlined(e: ast.Inlined, env: Env) -> ir.Expr:
    """The body of a function at a call of it. What is wrong in it is wrong of this call, which its
    message names."""
    before = len(env.scope.mistakes)
    result = value(e.body, env)
    note = Note(f"in this call of `{e.name}`", e.call)
    mistakes = list(env.scope.mistakes)
    if len(mistakes) > before:
        new = [replace(d, notes=(*d.notes, note)) for d in mistakes[before:]]
        env.scope.mistakes = dict.fromkeys([*mistakes[:before], *new])
    return result


def unary(e: ast.Unary, env: Env) -> ir.Expr:
    a = value(e.a, env)
    if is_broken(a):
        return BROKEN
    t = element(a)
    if e.op == "not" and t != BOOL:
        return wrong(env, e.a, t, "`not` takes a condition", "compare: `x != 0`")
    if e.op == "-" and t == BOOL:
        return wrong(env, e.a, t, "`-` takes a number", "cast it: `i32(...)`")
    if e.op == "~" and (t.is_float or t == BOOL):
        hint = "write `not`" if t == BOOL else "cast it: `i32(...)`"
        return wrong(env, e.a, t, "`~` takes an integer", hint)
    op = ir.UnaryOp.NEG if e.op == "-" else ir.UnaryOp.NOT
    if is_literal(a) and isinstance(a, ir.Const):
        return fold_unary(op, a, e.span)
    return ir.Unary(op, a, e.span)


def binary(e: ast.Binary, env: Env) -> ir.Expr:
    a, b = value(e.a, env), value(e.b, env)
    if is_broken(a) or is_broken(b):
        return BROKEN
    if e.op in ("and", "or"):
        for operand, side in ((a, e.a), (b, e.b)):
            if element(operand) != BOOL:
                hint = "compare: `x != 0`; bits are combined by `&` and `|`"
                return wrong(env, side, element(operand), f"`{e.op}` takes conditions", hint)
        return ir.Binary(ir.Op.AND if e.op == "and" else ir.Op.OR, a, b, e.span)
    if e.op not in ("==", "!=", *map(str, BITWISE)):
        for operand, side in ((a, e.a), (b, e.b)):
            if element(operand) == BOOL:
                return wrong(env, side, BOOL, f"`{e.op}` takes numbers", "cast it: `i32(...)`")
    if e.op == POWER:
        return power((a, e.a), (b, e.b), e.span, env)
    op = OPERATORS[e.op]
    if op in BITWISE | SHIFTS:
        for operand, side in ((a, e.a), (b, e.b)):
            if element(operand).is_float:
                return wrong(
                    env,
                    side,
                    element(operand),
                    f"`{op}` takes integers",
                    OF_FLOATS.get(op, "cast it: `i32(...)`"),
                )
    return operation(op, (a, e.a), (b, e.b), e.span, env)


def index(e: ast.Expr, env: Env) -> ir.Expr:
    """An index or extent: i64."""
    v = value(e, replace(env, indexing=True))
    if is_broken(v):
        return v
    t = element(v)
    if t.is_float or t == BOOL:
        env.scope.report(
            f"an index is an integer, and `{text(e)}` is {spoken(t)}", e.span,
            "write a whole number" if t is LITERAL_FLOAT
            else f"write `i64({bare(e)})`, in `clamp(..., 0, N - 1)` where nothing bounds it",
        )  # fmt: skip
        return BROKEN
    form = let_indices.without_lets(with_numbers(to_type(v, I64, env.scope)))
    return long_index(e.span, env) if contains(form, ir.Let) or let_indices.is_long(form) else form


def condition(e: ast.Expr, env: Env) -> ir.Expr:
    v = value(e, env)
    if is_broken(v) or element(v) == BOOL:
        return v
    return wrong(env, e, element(v), "a condition is expected", "compare: `x != 0`")

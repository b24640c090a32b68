"""Types calls: casts, `select`, `min`, `max`, `abs`, `clamp` and the functions of mathematics."""

from __future__ import annotations

from collections.abc import Callable

from hbc.frontend.checks.foreign_names import FOREIGN_FUNCTIONS
from hbc.frontend.checks.operations import operation
from hbc.frontend.checks.types import Operand, join, retyped, text, wrong
from hbc.frontend.expand.library import library_functions
from hbc.frontend.program.literals import (
    BROKEN,
    LITERAL_FLOAT,
    LITERAL_INT,
    adapt,
    element,
    fold_call,
    is_broken,
    is_literal,
    literal,
    settle,
)  # fmt: skip
from hbc.frontend.program.scope import Env
from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import BYTES, EDGES, FILLS, FUNCTIONS, MATHEMATICS, SHAPES
from hbc.ir.ground.diag import did_you_mean
from hbc.ir.lang import fold
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, F32, F64, I64, DType, Type

Typing = Callable[[ast.Expr, Env], ir.Expr]


def call(e: ast.Call, env: Env, value: Typing) -> ir.Expr:
    """A cast or a function of the language; `value` types an argument."""
    name, scope = e.name.text, env.scope
    least, most, form = SHAPES.get(name, (1, 1, f"{name}(x)"))
    if name in EDGES:
        scope.report(
            f"`{name}` needs indices", e.span,
            f"write `{name}(A)[...]`, or name it: `P = {name}(A)` and `P[...]`",
        )  # fmt: skip
        return BROKEN
    if name == BYTES:
        return bytes_of(e, env)
    if name not in scope.types and name not in SHAPES and name not in MATHEMATICS:
        return unknown(e, env, value)
    args: list[Operand] = [(value(a, env), a) for a in e.args]
    if not least <= len(args) <= most:
        count = f"{least}" if least == most else f"at least {least}"
        noun = "argument" if count == "1" else "arguments"
        scope.report(f"`{name}` takes {count} {noun}, not {len(args)}", e.span, f"write `{form}`")
        return BROKEN
    if any(is_broken(a) for a, _ in args):
        return BROKEN
    if name in scope.types:
        scope.used.add(name)
        return cast(e, args[0][0], scope.types[name], env)
    if name in MATHEMATICS:
        return mathematics(e, args[0], env)
    if name == "select":
        return select(e, args, env)
    if name == "abs":
        return absolute(e, args[0], env)
    for arg, written in args:
        if element(arg) == BOOL:
            return wrong(env, written, BOOL, f"`{name}` takes numbers", "use `and` and `or`")
    if name == "clamp":
        low = operation(ir.Op.MAX, args[0], args[1], e.span, env)
        if is_broken(low):
            return BROKEN
        return operation(ir.Op.MIN, (low, e.args[0]), args[2], e.span, env)
    total = args[0]
    for operand in args[1:]:
        joined = operation(ir.Op.MIN if name == "min" else ir.Op.MAX, total, operand, e.span, env)
        if is_broken(joined):
            return BROKEN
        total = (joined, e)
    return total[0]


def unknown(e: ast.Call, env: Env, value: Typing) -> ir.Expr:
    name, scope = e.name.text, env.scope
    if name in scope.inputs or name in scope.funcs or name in scope.aliases:
        inside = ", ".join(text(a) for a in e.args)
        scope.report(f"`{name}` is no function", e.span, f"read it with `{name}[{inside}]`")
    elif name in FILLS:
        scope.report(f"`{name}` only fills inputs of examples", e.span,
                     f"declare an input, and fill it there: `example {{ X = {text(e)} }}`")  # fmt: skip
    else:
        known = [*FUNCTIONS, *scope.types]
        library = library_functions()
        hint = (
            FOREIGN_FUNCTIONS.get(name)
            or library.get(name)
            or did_you_mean(name, [*known, *library])
        )
        scope.report(f"unknown function `{name}`", e.name.span, hint)
    for arg in e.args:
        if not (isinstance(arg, ast.Name) and arg.text in scope.types):  # as C++ passes types
            value(arg, env)
    return BROKEN


def bytes_of(e: ast.Call, env: Env) -> ir.Expr:
    """The size of a type, as a literal."""
    scope = env.scope
    match e.args:
        case (ast.Name(text=name),) if name in scope.types:
            scope.used.add(name)
            return literal(scope.types[name].bytes, e.span)
        case (ast.Name(text=name, span=span),):
            scope.unknown("type", name, span, scope.types)
        case _:
            scope.report(f"`{BYTES}` takes the name of a type", e.span, f"write `{BYTES}(f32)`")
    return BROKEN


def cast(e: ast.Call, a: ir.Expr, to: DType, env: Env) -> ir.Expr:
    """Literals are converted at once."""
    t = Type(to)
    if is_literal(a) and isinstance(a, ir.Const):
        source = F64 if element(a) is LITERAL_FLOAT else I64
        folded = fold.convert(a.value, source, to)
        if folded is not None:
            return ir.Const(folded, t, e.span)
    if element(a) is LITERAL_INT and to.is_int:  # exactly, and wrapped then
        return ir.Cast(t, adapt(a, I64, env.scope), e.span)
    if is_literal(a) and not (element(a) is LITERAL_FLOAT and not to.is_float) and to != BOOL:
        return adapt(a, to, env.scope)
    settled = settle(a, env.scope)
    return settled if element(settled) == to else ir.Cast(t, settled, e.span)


def mathematics(e: ast.Call, operand: Operand, env: Env) -> ir.Expr:
    a, written = operand
    op = MATHEMATICS[e.name.text]
    if is_literal(a):
        if isinstance(a, ir.Const):
            folded = fold_call(op, float(a.value))
            if folded is not None:
                return literal(folded, e.span)
        a = retyped(a, LITERAL_FLOAT, env)
    if not element(a).is_float:
        t = element(a)
        return wrong(env, written, t, f"`{op}` takes a float", f"write `f32({text(written)})`")
    if op is ir.MathOp.TF32 and element(a) != F32:
        hint = f"write `tf32(f32({text(written)}))`"
        return wrong(env, written, element(a), "`tf32` rounds f32", hint)
    return ir.Call(op, (a,), a.type, e.span)


def select(e: ast.Call, args: list[Operand], env: Env) -> ir.Expr:
    c, written = args[0]
    if element(c) != BOOL:
        return wrong(env, written, element(c), "`select` takes a condition first",
                     "compare: `x != 0`")  # fmt: skip
    both = join(args[1], args[2], e.span, env)
    return BROKEN if both is None else ir.Select(c, *both, e.span)


def absolute(e: ast.Call, operand: Operand, env: Env) -> ir.Expr:
    a, written = operand
    if element(a) == BOOL:
        return wrong(env, written, BOOL, "`abs` takes a number", "cast it: `i32(...)`")
    if is_literal(a) and isinstance(a, ir.Const):
        return literal(abs(a.value), e.span)
    return ir.Unary(ir.UnaryOp.ABS, a, e.span)

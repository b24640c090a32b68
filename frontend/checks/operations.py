"""Operations on typed operands, powers among them: brought to one type, folded where both are literals."""

from __future__ import annotations

import math

from hbc.frontend.checks.types import Operand, join, text
from hbc.frontend.program.literals import BROKEN, element, fold_binary, is_literal, literal, settle
from hbc.frontend.program.powers import WIDER, exponential, product
from hbc.frontend.program.scope import Env
from hbc.frontend.text import ast
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir

POWER = "**"
LONGEST = 64  # bits of the exact power of a literal


def operation(op: ir.Op, left: Operand, right: Operand, span: Span, env: Env) -> ir.Expr:
    """`op` of operands that it accepts, brought to one type."""
    a, b = left[0], right[0]
    divides = op in (ir.Op.DIV, ir.Op.MOD) and not element(a).is_float and not element(b).is_float
    if divides and isinstance(b, ir.Const) and b.value == 0:
        env.scope.report("division by zero", right[1].span)
        return BROKEN
    if is_literal(a) and is_literal(b) and isinstance(a, ir.Const) and isinstance(b, ir.Const):
        folded = fold_binary(op, a, b, span)
        if folded is not None:
            return folded
    both = join(left, right, span, env)
    if both is None:
        return BROKEN
    if op in ir.COMPARISONS:
        both = (settle(both[0], env.scope), settle(both[1], env.scope))
    if op is ir.Op.MOD and element(both[0]).is_float:
        return _remainder(*both, span)
    return ir.Binary(op, *both, span)


def _remainder(a: ir.Expr, b: ir.Expr, span: Span) -> ir.Expr:
    """Of floats: `a - floor(a / b) * b`, which has the sign of `b` as that of integers."""
    times = ir.Call(ir.MathOp.FLOOR, (ir.Binary(ir.Op.DIV, a, b, span),), a.type, span)
    return ir.Binary(ir.Op.SUB, a, ir.Binary(ir.Op.MUL, times, b, span), span)


def power(left: Operand, right: Operand, span: Span, env: Env) -> ir.Expr:
    """`a ** b` of two numbers."""
    (a, base), (b, exponent) = left, right
    count = b.value if isinstance(b, ir.Const) else None
    if isinstance(count, float):
        if is_literal(a) and isinstance(a, ir.Const):
            return _of_literals(float(a.value), count, span, env)
        if element(a).is_float or is_literal(a):
            count = int(count) if count.is_integer() else None
    if isinstance(count, int):
        return _whole(left, count, exponent, span, env)
    both = join(left, right, span, env)
    if both is None:
        return BROKEN
    a, b = (settle(e, env.scope) for e in both)
    t = element(a)
    if t.is_int:
        two = isinstance(a, ir.Const) and a.value == 2
        env.scope.report(
            f"`{text(exponent)}` is not known when the kernel is compiled, and this is a power of integers",
            exponent.span,
            f"write `1 << {text(exponent)}`" if two else
            f"write `product(k in 0 .. {text(exponent)}: {text(base)})`, or cast both: `f32(...)`",
        )  # fmt: skip
        return BROKEN
    if isinstance(b, ir.Const) and b.value == 0.5:
        return ir.Call(ir.MathOp.SQRT, (a,), a.type, span)
    if t not in WIDER:
        env.scope.report(
            f"`**` of {t} takes a whole number as its exponent", span,
            "write `exp(y * log(x))`, whose relative error is that of `y * log(x)`, or cast both to f32",
        )  # fmt: skip
        return BROKEN
    return exponential(a, b, span, env.scope)


def _of_literals(a: float, b: float, span: Span, env: Env) -> ir.Expr:
    try:
        return literal(math.pow(a, b), span)
    except (ValueError, OverflowError):
        env.scope.report(f"`{' '.join(span.text.split())}` has no value", span)
        return BROKEN


def _whole(left: Operand, count: int, exponent: ast.Expr, span: Span, env: Env) -> ir.Expr:
    """A product of `count` equal factors; for floats one divided by it where the count is negative."""
    a, base = left
    whole = not element(a).is_float
    if whole and count < 0:
        env.scope.report(
            f"an integer to the power {count} is no integer", exponent.span,
            f"write `1.0 / {text(base)} ** {-count}`" if is_literal(a) else
            f"cast what is raised: `f32({text(base)}) ** {count}`",
        )  # fmt: skip
        return BROKEN
    if is_literal(a) and isinstance(a, ir.Const):
        if isinstance(a.value, float):
            return _of_literals(a.value, float(count), span, env)
        if abs(a.value) > 1 and (abs(a.value).bit_length() - 1) * count > LONGEST:
            env.scope.report(
                f"`{' '.join(span.text.split())}` is beyond the range of all integers", span
            )
            return BROKEN
        return literal(
            int(a.value) ** (count if abs(a.value) > 1 else min(count, 2 + count % 2)), span
        )
    return product(settle(a, env.scope), count, span, env.scope)

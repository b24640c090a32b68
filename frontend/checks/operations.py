"""Operations on typed operands: brought to one type, folded where both are literals."""

from __future__ import annotations

from hbc.frontend.checks.types import Operand, join
from hbc.frontend.program.literals import BROKEN, element, fold_binary, is_literal, settle
from hbc.frontend.program.scope import Env
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir


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

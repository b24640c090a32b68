"""Evaluates constant expressions: params, table cells, conditions over numbers."""

from __future__ import annotations

from collections.abc import Mapping

from hbc.frontend.program.literals import LITERAL_FLOAT, LITERAL_INT, fold_call
from hbc.ir.lang import fold
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import F64, I64, DType
from hbc.ir.lang.walk import operands, rewrite

Number = int | float | bool


def evaluate(
    e: ir.Expr,
    variables: Mapping[str, Number] | None = None,
    tables: Mapping[str, Mapping[tuple[int, ...], Number]] | None = None,
) -> Number | None:
    """The value of `e`, rounded as its types say; None when it depends on anything else.

    Functions of mathematics are evaluated in f64 and rounded once."""
    known = variables or {}

    def of(x: ir.Expr) -> Number | None:
        return evaluate(x, known, tables)

    t = plain(e.type.element)
    match e:
        case ir.Const(value=value):
            return value
        case ir.Var(name=name):
            return known.get(name)
        case ir.Cast(value=inner):
            a = of(inner)
            return None if a is None else fold.convert(a, plain(inner.type.element), t)
        case ir.Unary(op=op, a=x):
            a = of(x)
            return None if a is None else fold.unary(op, a, t)
        case ir.Binary(op=op, a=x, b=y):
            a, b = of(x), of(y)
            if a is None or b is None:
                return None
            return fold.binary(op, a, b, plain(x.type.element))
        case ir.Select(condition=condition, a=x, b=y):
            test = of(condition)
            return None if test is None else of(x) if test else of(y)
        case ir.Call(name=name, args=(x,)):
            a = of(x)
            result = None if a is None else fold_call(name, float(a))
            return None if result is None else fold.round_to(result, t)
        case ir.Let(name=name, value=value, body=body):
            bound = of(value)
            if bound is None:
                return None
            return evaluate(body, {**known, name: bound}, tables)
        case ir.Access(name=name, indices=indices) if tables is not None and name in tables:
            point = tuple(of(i) for i in indices)
            return tables[name].get(tuple(int(i) for i in point if i is not None))
        case _:
            return None


def with_numbers(e: ir.Expr) -> ir.Expr:
    """`e` with a number for each part that has a value, rounded as its types say: integer params may
    stand in sums of sizes, in types of their own."""

    def number(x: ir.Expr) -> ir.Expr:
        if isinstance(x, ir.Const | ir.Var) or not all(
            isinstance(c, ir.Const) for c in operands(x)
        ):
            return x
        found = evaluate(x)
        return x if found is None else ir.Const(found, x.type, x.span)

    return rewrite(e, number)


def plain(t: DType) -> DType:
    """The type in which a literal is computed."""
    return F64 if t is LITERAL_FLOAT else I64 if t is LITERAL_INT else t

"""Evaluates constant expressions: params, table cells, conditions over numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol

from hbc.frontend.program.literals import LITERAL_FLOAT, LITERAL_INT, fold_call
from hbc.ir.algebra.domain import Domain, Of, fold
from hbc.ir.lang import fold as literal
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import F64, I64, DType, Kind
from hbc.ir.lang.walk import operands, rewrite

Number = int | float | bool


class Known(Protocol):
    """The cells of a table, by their places."""

    def get(self, point: Sequence[int], /) -> Number | None:
        """None outside."""


_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


def evaluate(
    e: ir.Expr,
    variables: Mapping[str, Number] = _NONE,
    tables: Mapping[str, Known] = _NONE,
) -> Number | None:
    """The value of `e`, rounded as its types say; None when it depends on anything else.

    Functions of mathematics are evaluated in f64 and rounded once."""
    return fold(e, _domain(plain, tables) if tables else _LITERALS, variables)


def index_value(e: ir.Expr, sizes: Mapping[str, int]) -> int | None:
    """The value of an index expression or condition over the sizes, which never overflows; None where
    it depends on anything else."""
    value = fold(e, _INDICES, sizes)
    return None if value is None else int(value)


def _domain(
    type_of: Callable[[DType], DType],
    tables: Mapping[str, Known] = _NONE,
) -> Domain[Number | None]:
    """Values of expressions, in the types that stand for theirs."""

    def type_(e: ir.Expr) -> DType:
        return type_of(e.type.element)

    def unary(e: ir.Unary, of: Of[Number | None]) -> Number | None:
        a = of(e.a)
        return None if a is None else literal.unary(e.op, a, type_(e))

    def binary(e: ir.Binary, of: Of[Number | None]) -> Number | None:
        a, b = of(e.a), of(e.b)
        return None if a is None or b is None else literal.binary(e.op, a, b, type_(e.a))

    def cast(e: ir.Cast, of: Of[Number | None]) -> Number | None:
        a = of(e.value)
        return None if a is None else literal.convert(a, type_(e.value), type_(e))

    def select(e: ir.Select, of: Of[Number | None]) -> Number | None:
        test = of(e.condition)
        return None if test is None else of(e.a if test else e.b)

    def other(e: ir.Expr, of: Of[Number | None]) -> Number | None:
        match e:
            case ir.Call(name=name, args=(x,)):
                a = of(x)
                result = None if a is None else fold_call(name, float(a))
                return None if result is None else literal.round_to(result, type_(e))
            case ir.Access(name=name, indices=indices) if name in tables:
                point = tuple(of(i) for i in indices)
                known = [int(i) for i in point if i is not None]
                return tables[name].get(known) if len(known) == len(point) else None
            case _:
                return None

    return Domain(lambda e: e.value, unary, binary, cast, select, other)


def with_numbers(e: ir.Expr) -> ir.Expr:
    """`e` with a number for each part that has a value, rounded as its types say: integer params may
    stand in sums of sizes, in types of their own."""

    def number(x: ir.Expr) -> ir.Expr:
        if isinstance(x, ir.Const | ir.Var) or not all(
            isinstance(c, ir.Const) for c in operands(x)
        ):
            return x
        value = evaluate(x)
        return x if value is None else ir.Const(value, x.type, x.span)

    return rewrite(e, number)


def plain(t: DType) -> DType:
    """The type in which a literal is computed."""
    return F64 if t is LITERAL_FLOAT else I64 if t is LITERAL_INT else t


def _unbounded(t: DType) -> DType:
    """The same where indices are integers of any size."""
    return _WHOLE if t is I64 else plain(t)


_WHOLE = DType("index of any size", Kind.INT, 1 << 12)
_LITERALS, _INDICES = _domain(plain), _domain(_unbounded)

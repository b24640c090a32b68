"""One walk over an expression for all that may be found out of its value: a range, bits, the value itself.

    fold(a + min(b, 7), INTERVALS, {"a": (0, 3), "b": (0, None)})   ->   (0, 10)

A domain says of each kind of node what is known of its value, from what is known of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir

V = TypeVar("V")
Of = Callable[[ir.Expr], V]
"""What is known of an operand; a function that does not need it does not ask."""


@record
class Domain(Generic[V]):
    """A function for each kind of node. `other`: names that nothing binds, what reads memory, vectors.
    `let`: where a name is not simply what is known of its value."""

    constant: Callable[[ir.Const], V]
    unary: Callable[[ir.Unary, Of[V]], V]
    binary: Callable[[ir.Binary, Of[V]], V]
    cast: Callable[[ir.Cast, Of[V]], V]
    select: Callable[[ir.Select, Of[V]], V]
    other: Callable[[ir.Expr, Of[V]], V]
    let: Callable[[ir.Let, Of[V]], V] | None = None


def fold(e: ir.Expr, domain: Domain[V], names: Mapping[str, V]) -> V:
    """What is known of the expression where the names in it have these values."""

    def of(e: ir.Expr) -> V:
        match e:
            case ir.Binary():
                return domain.binary(e, of)
            case ir.Const():
                return domain.constant(e)
            case ir.Var(name=name) if name in names:
                return names[name]
            case ir.Cast():
                return domain.cast(e, of)
            case ir.Unary():
                return domain.unary(e, of)
            case ir.Select():
                return domain.select(e, of)
            case ir.Let() if domain.let is not None:
                return domain.let(e, of)
            case ir.Let(name=name, value=value, body=body):
                return fold(body, domain, {**names, name: of(value)})
            case _:
                return domain.other(e, of)

    return of(e)

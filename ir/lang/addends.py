"""Sums taken apart into what they add: reductions add products one by one, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hbc.ir.lang.build import const_value
from hbc.ir.lang.nodes import Binary, Broadcast, Cast, Expr, Op, Select


def addends(e: Expr, view: Callable[[Expr], Expr] = lambda e: e) -> Iterator[Expr]:
    """What the sum adds up, each under the masks of all. `view` says what to take a part for."""
    match view(e):
        case Binary(op=Op.ADD, a=a, b=b):
            yield from addends(a, view)
            yield from addends(b, view)
        case Select(condition=c, a=a, b=none) if const_value(none) == 0:
            for term in addends(a, view):
                yield Select(c, term, none)
        case term:
            yield term


def is_product(e: Expr) -> bool:
    """Whether it is a product, maybe under masks and casts."""
    match e:
        case Binary(op=Op.MUL):
            return True
        case Select(a=x) | Cast(value=x) | Broadcast(value=x):
            return is_product(x)
        case _:
            return False

"""Sums taken apart into what they add: reductions add products one by one, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value


def addends(e: ir.Expr, view: Callable[[ir.Expr], ir.Expr] = lambda e: e) -> Iterator[ir.Expr]:
    """What the sum adds up, each under the masks of all. `view` says what to take a part for."""
    match view(e):
        case ir.Binary(op=ir.Op.ADD, a=a, b=b):
            yield from addends(a, view)
            yield from addends(b, view)
        case ir.Select(condition=c, a=a, b=none) if const_value(none) == 0:
            for term in addends(a, view):
                yield ir.Select(c, term, none)
        case term:
            yield term


def is_product(e: ir.Expr) -> bool:
    """Whether it is a product, maybe under masks and casts."""
    match e:
        case ir.Binary(op=ir.Op.MUL):
            return True
        case ir.Select(a=x) | ir.Cast(value=x) | ir.Broadcast(value=x):
            return is_product(x)
        case _:
            return False

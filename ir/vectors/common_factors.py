"""Vectors of integers: terms of a sum with the same constant factor share one product.

    a * 3 + b * 5 + c * 5 - d * 3   ->   (a - d) * 3 + (b + c) * 5

Integers wrap, so both are the same in every bit. Filters are symmetric, and half of their products go away.
"""

from __future__ import annotations

from collections.abc import Iterator

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import map_children

Term = tuple[bool, ir.Expr, ir.Expr | None]
"""Whether it is subtracted, what, and its constant factor, a vector."""


def common_factors(e: ir.Expr) -> ir.Expr:
    """The expression with each of its sums so, the same object where none has two such terms. Addresses and
    masks stay as they are."""
    if isinstance(e, ir.Load):
        return e
    if not _is_sum(e):
        return map_children(e, common_factors)
    terms = list(_terms(e, False))
    groups: dict[ir.Expr | int, list[Term]] = {}
    for n, term in enumerate(terms):
        groups.setdefault(n if term[2] is None else term[2], []).append(term)
    if len(groups) == len(terms):
        return map_children(e, common_factors)
    (_, result), *others = (_product(group) for group in groups.values())
    for negative, value in others:
        result = ir.Binary(ir.Op.SUB if negative else ir.Op.ADD, result, value)
    return result


def _is_sum(e: ir.Expr) -> bool:
    return (
        isinstance(e, ir.Binary)
        and e.op in (ir.Op.ADD, ir.Op.SUB)
        and e.type.lanes > 1
        and e.type.element.is_int
        and e.type.element != INDEX.element
    )


def _terms(e: ir.Expr, negative: bool) -> Iterator[Term]:
    """What a sum adds up, from its left; the first is never subtracted."""
    if isinstance(e, ir.Binary) and _is_sum(e):
        yield from _terms(e.a, negative)
        yield from _terms(e.b, negative != (e.op is ir.Op.SUB))
    elif isinstance(e, ir.Binary) and e.op is ir.Op.MUL and const_value(e.b) is not None:
        yield negative, e.a, e.b
    else:
        yield negative, e, None


def _product(group: list[Term]) -> tuple[bool, ir.Expr]:
    """The sum of some terms with one factor, and whether that is subtracted."""
    (negative, first, factor), *others = group
    total = common_factors(first)
    for other, value, _ in others:
        op = ir.Op.ADD if other == negative else ir.Op.SUB
        total = ir.Binary(op, total, common_factors(value))
    return negative, total if factor is None else ir.Binary(ir.Op.MUL, total, factor)

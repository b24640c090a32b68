"""Sums of several products, one statement for each: instructions add products one by one.

    acc += reduce(a * b + c * d)   ->   acc += reduce(a * b); acc += reduce(c * d)

Lanes are summed in any order, those of floats too.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.lang.addends import addends, is_product
from hbc.ir.lang.nodes import Binary, Load, Op, Stmt, Store, VectorReduce
from hbc.ir.lang.walk import block, map_stmt, reads


def products_apart(s: Stmt) -> Stmt:
    """The statement with an update for each product that it adds to the same elements."""
    if not isinstance(s, Store):
        return map_stmt(s, lambda e: e, products_apart)
    match s.value:
        case Binary(
            op=Op.ADD,
            a=Load(buffer=buffer, index=index) as own,
            b=VectorReduce(op=Op.ADD, value=value, lanes=lanes),
        ) if (buffer, index) == (s.buffer, s.index) and s.atomic is None:
            terms = list(addends(value))
            if len(terms) > 1 and all(map(is_product, terms)) and not reads(value, buffer):
                sums = (Binary(Op.ADD, own, VectorReduce(Op.ADD, t, lanes)) for t in terms)
                return block(*(replace(s, value=total) for total in sums))
    return s

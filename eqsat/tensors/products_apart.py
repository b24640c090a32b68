"""Sums of several products, one statement for each: instructions add products one by one.

    acc += reduce(a * b + c * d)   ->   acc += reduce(a * b); acc += reduce(c * d)

Lanes are summed in any order, those of floats too.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.addends import addends, is_product
from hbc.ir.lang.walk import block, map_stmt, reads


def products_apart(s: ir.Stmt) -> ir.Stmt:
    """The statement with an update for each product that it adds to the same elements."""
    if not isinstance(s, ir.Store):
        return map_stmt(s, lambda e: e, products_apart)
    match s.value:
        case ir.Binary(
            op=ir.Op.ADD,
            a=ir.Load(buffer=buffer, index=index) as own,
            b=ir.VectorReduce(op=ir.Op.ADD, value=value, lanes=lanes),
        ) if (buffer, index) == (s.buffer, s.index) and s.atomic is None:
            terms = list(addends(value))
            if len(terms) > 1 and all(map(is_product, terms)) and not reads(value, buffer):
                sums = (
                    ir.Binary(ir.Op.ADD, own, ir.VectorReduce(ir.Op.ADD, t, lanes)) for t in terms
                )
                return block(*(replace(s, value=total) for total in sums))
    return s

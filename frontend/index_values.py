"""Loop positions in place of variables, so that quotients and remainders stay recognisable.

In the tail of a split, k is `K - k_tail + ki`, which fits the bounds of arrays; but that it begins at a
multiple of the factor shows only in `32 * (K / 32) + ki`. Operands of `/` and `%` get that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.frontend.nest import Nest
from hbc.frontend.plan import Tail
from hbc.ir.nodes import Binary, Const, Expr, Let, Op, Var
from hbc.ir.types import INDEX
from hbc.ir.walk import map_children, substitute

Values = Mapping[str, Expr]


def aligned_values(nest: Nest) -> Values:
    """The roots, each piece beginning at a multiple of its factor unless it was shifted."""
    bases = {s: base for s, base in nest.bases.items() if s.tail is Tail.SHIFT}
    aligned = replace(nest, bases=bases)
    return {root: aligned.value(root) for root in nest.stage.roots}


def at_position(e: Expr, plain: Values, aligned: Values) -> Expr:
    """The expression with the values of variables: `aligned` where it is divided by a number."""
    match e:
        case Binary(op=Op.DIV | Op.MOD, b=Const()) if e.type == INDEX:
            return substitute(e, dict(aligned))
        case Var(name=name):
            return plain.get(name, e)
        case Let():
            return substitute(e, dict(plain))
        case _:
            return map_children(e, lambda c: at_position(c, plain, aligned))

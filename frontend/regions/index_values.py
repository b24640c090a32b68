"""Loop positions in place of variables, so that quotients and remainders stay recognisable.

In the tail of a split, k is `K - k_tail + ki`, which fits the bounds of arrays; but that it begins at a
multiple of the factor shows only in `32 * (K / 32) + ki`. Operands of `/` and `%` get that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.frontend.plans.plan import Tail
from hbc.frontend.regions.nest import Nest
from hbc.ir.algebra.bounds import Interval
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import map_children, substitute

Values = Mapping[str, ir.Expr]


def aligned_name(root: str) -> str:
    """Of the range of a root as `aligned_values` has it, beside that of the root itself."""
    return f"{root} from a multiple"


def nest_ranges(nest: Nest) -> Mapping[str, Interval]:
    """The values the variables of a stage take in the loops still to come; of those that begin at a
    multiple of a factor also by their `aligned_name`."""
    plain = {root: nest.span(root) for root in nest.stage.roots}
    aligned = {root: _aligned(nest).span(root) for root in nest.stage.roots}
    others = {aligned_name(r): x for r, x in aligned.items() if x != plain[r]}
    return plain | others


def aligned_values(nest: Nest) -> Values:
    """The roots, each piece beginning at a multiple of its factor unless it was shifted."""
    aligned = _aligned(nest)
    return {root: aligned.value(root) for root in nest.stage.roots}


def _aligned(nest: Nest) -> Nest:
    bases = {s: base for s, base in nest.bases.items() if s.tail is Tail.SHIFT}
    return replace(nest, bases=bases)


def at_position(e: ir.Expr, plain: Values, aligned: Values) -> ir.Expr:
    """The expression with the values of variables: `aligned` where it is divided by a number."""
    match e:
        case ir.Binary(op=ir.Op.DIV | ir.Op.MOD, b=ir.Const()) if e.type == INDEX:
            return substitute(e, dict(aligned))
        case ir.Var(name=name):
            return plain.get(name, e)
        case ir.Let():
            return substitute(e, dict(plain))
        case _:
            return map_children(e, lambda c: at_position(c, plain, aligned))

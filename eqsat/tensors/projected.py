"""Conditions that move along more than a factor does: `A[i, k] * B[k, j] where k <= i`.

A factor is 0 where the condition does not hold, if it moves along all that the condition does: A. The
other is then multiplied by 0. It need not know of each i, only where the conditions hold for any: B is
read where `k <= 15` in rows 0 to 15, and of the last `n` rows where `k <= n - 1`. What is read stays
among what was read before: `any_point.py` has the proof.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.eqsat.tensors.any_point import for_any
from hbc.eqsat.tensors.tensor import Apply, Masked, Reduce, Tensor, strides_along
from hbc.ir.lang import nodes as ir


def with_projected(x: Tensor) -> Tensor:
    """The value with such conditions of its summed products on one factor alone."""
    match x:
        case Reduce(op=ir.Op.ADD, value=value):
            return replace(x, value=with_projected(value))
        case Apply(node=ir.Binary(op=ir.Op.ADD), args=args):
            return replace(x, args=tuple(map(with_projected, args)))
        case Masked() | Apply(node=ir.Binary(op=ir.Op.MUL)):
            return _product(x) or x
        case _:
            return x


def _product(x: Tensor) -> Tensor | None:
    """A product under conditions, of which one is to be changed; None where none is."""
    around: list[Tensor] = []
    while isinstance(x, Masked):
        around.append(x.condition)
        x = x.value
    if not (isinstance(x, Apply) and isinstance(x.node, ir.Binary) and x.node.op is ir.Op.MUL):
        return None
    split = [_split(a) for a in x.args]
    shared = dict.fromkeys((*around, *(c for conditions, _ in split for c in conditions)))
    crossing = [c for c in shared if _crosses(c, [factor for _, factor in split])]
    if not crossing:
        return None
    by_factor: list[list[Tensor]] = []
    for conditions, factor in split:
        own = [c for c in shared if c not in crossing and (c in conditions or c in around)]
        whole = [c for c in crossing if strides_along(c) <= strides_along(factor)]
        if len(whole) < len(crossing):
            seen = for_any([c for c in shared if c not in whole], strides_along(factor))
            if seen is None:
                return None
            own += seen
        by_factor.append([*own, *whole])
    args = (_under(own, a) for own, a in zip(by_factor, x.args, strict=True))
    return Apply(x.node, tuple(args))


def _crosses(c: Tensor, factors: list[Tensor]) -> bool:
    """Whether some factor moves along all that the condition does, and some along less."""
    moves = strides_along(c)
    whole = [moves <= strides_along(factor) for factor in factors]
    return any(whole) and not all(whole) and len(moves) > 1


def _split(x: Tensor) -> tuple[list[Tensor], Tensor]:
    """The conditions of a factor, and what it is without them."""
    match x:
        case Masked(condition=c, value=value):
            conditions, factor = _split(value)
            return [c, *conditions], factor
        case Apply(node=ir.Cast() as node, args=(a,)):
            conditions, factor = _split(a)
            return conditions, Apply(node, (factor,))
        case _:
            return [], x


def _under(conditions: list[Tensor], x: Tensor) -> Tensor:
    """The factor under these conditions instead of its own, which are those of what is read."""
    match x:
        case Masked(value=value):
            return _under(conditions, value)
        case Apply(node=ir.Cast() as node, args=(a,)):
            return Apply(node, (_under(conditions, a),))
        case _:
            for c in conditions:
                x = Masked(c, x)
            return x

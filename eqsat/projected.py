"""Conditions that move along more than a factor does: `A[i, k] * B[k, j] where k <= i`.

A factor is 0 where the condition does not hold, if it moves along all that the condition does: A. The
other is then multiplied by 0. It need not know of each i, only where the condition holds for any: B is
read where `k <= 15` in rows 0 to 15. What is read stays among what was read before.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.eqsat.tensor import Apply, Dim, Line, Masked, Reduce, Tensor, Uniform, strides_along
from hbc.ir.build import add, const_value, mul
from hbc.ir.nodes import Binary, Cast, Expr, Op

_GROWS = {Op.LT: -1, Op.LE: -1, Op.GT: 1, Op.GE: 1}
"""In which direction the first of two operands makes the comparison true."""


def with_projected(x: Tensor) -> Tensor:
    """The value with such conditions of its summed products on one factor alone."""
    match x:
        case Reduce(op=Op.ADD, value=value):
            return replace(x, value=with_projected(value))
        case Apply(node=Binary(op=Op.ADD), args=args):
            return replace(x, args=tuple(map(with_projected, args)))
        case Masked() | Apply(node=Binary(op=Op.MUL)):
            return _product(x) or x
        case _:
            return x


def _product(x: Tensor) -> Tensor | None:
    """A product under conditions, of which one is to be changed; None where none is."""
    around: list[Tensor] = []
    while isinstance(x, Masked):
        around.append(x.condition)
        x = x.value
    if not (isinstance(x, Apply) and isinstance(x.node, Binary) and x.node.op is Op.MUL):
        return None
    split = [_split(a) for a in x.args]
    shared = dict.fromkeys((*around, *(c for conditions, _ in split for c in conditions)))
    changed = False
    found: list[list[Tensor]] = [[], []]
    for c in shared:
        moves = strides_along(c)
        whole = [moves <= strides_along(factor) for _, factor in split]
        if all(whole) or not any(whole) or len(moves) < 2:
            for own, (conditions, _) in zip(found, split, strict=True):
                own += [c] if c in conditions or c in around else []
            continue
        for own, is_whole, (_, factor) in zip(found, whole, split, strict=True):
            seen = c if is_whole else _for_any(c, moves - strides_along(factor))
            if seen is None:
                return None
            own += [seen] if strides_along(seen) else []
            changed |= seen != c
    if not changed:
        return None
    args = (_under(own, a) for own, a in zip(found, x.args, strict=True))
    return Apply(x.node, tuple(args))


def _split(x: Tensor) -> tuple[list[Tensor], Tensor]:
    """The conditions of a factor, and what it is without them."""
    match x:
        case Masked(condition=c, value=value):
            conditions, factor = _split(value)
            return [c, *conditions], factor
        case Apply(node=Cast() as node, args=(a,)):
            conditions, factor = _split(a)
            return conditions, Apply(node, (factor,))
        case _:
            return [], x


def _under(conditions: list[Tensor], x: Tensor) -> Tensor:
    """The factor under these conditions instead of its own, which are those of what is read."""
    match x:
        case Masked(value=value):
            return _under(conditions, value)
        case Apply(node=Cast() as node, args=(a,)):
            return Apply(node, (_under(conditions, a),))
        case _:
            for c in conditions:
                x = Masked(c, x)
            return x


def _for_any(c: Tensor, dims: frozenset[Dim]) -> Tensor | None:
    """The condition at those points of the dimensions where it holds if it holds at any; None where
    these are not known."""
    match c:
        case Apply(node=Binary(op=op), args=(a, b)) if op in _GROWS:
            first, second = _at_end(a, dims, _GROWS[op]), _at_end(b, dims, -_GROWS[op])
            if first is None or second is None:
                return None
            return replace(c, args=(first, second))
        case _:
            return None


def _at_end(x: Tensor, dims: frozenset[Dim], direction: int) -> Tensor | None:
    """An index at the point of the dimensions where it is greatest, or with -1 least."""
    match x:
        case Uniform():
            return x
        case Line(base=base, strides=strides):
            kept: list[tuple[Dim, Expr]] = []
            for d, stride in strides:
                step = const_value(stride)
                if d not in dims:
                    kept.append((d, stride))
                elif step is None:
                    return None
                elif step * direction > 0:
                    base = add(base, mul(stride, d.extent - 1))
            return replace(x, base=base, strides=tuple(kept))
        case _:
            return None

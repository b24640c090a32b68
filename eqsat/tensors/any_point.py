"""Where conditions hold at any point of some dimensions, as conditions without these.

    k <= i and i < n and i - 3 < k     for any i in 0 to 15
->  k <= 15 and k <= n - 1 and -3 < k

Each condition bounds i from below or from above, and there is such an i where no lower bound is
greater than an upper one. Of each two one must be a whole number, i itself and not a multiple of it:
then it is put in place of i in the other (Fourier and Motzkin's elimination).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

from hbc.eqsat.tensors.tensor import Apply, Dim, Line, Tensor, Uniform, operand_name, strides_along
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, mul, sub
from hbc.ir.lang.types import I64, INDEX

_ORDER = {ir.Op.LT: (1, 1), ir.Op.LE: (1, 0), ir.Op.GT: (-1, 1), ir.Op.GE: (-1, 0)}
"""By how much the second operand is greater than the first where the comparison holds: in which
direction, and at least how much."""


@record
class _Linear:
    """An index that is linear along dimensions, of which none has stride 0."""

    base: ir.Expr
    strides: tuple[tuple[Dim, ir.Expr], ...]

    def along(self, d: Dim) -> ir.Expr:
        return dict(self.strides).get(d, ir.const_index(0))


_ORIGIN = _Linear(ir.const_index(0), ())
Comparison = tuple[ir.Op, _Linear, _Linear]


@record
class _Bound:
    """A bound of a dimension d: `step * d + rest >= 0`, and the comparison that says so; None for its
    ends."""

    step: int
    rest: _Linear
    comparison: Comparison | None


def for_any(conditions: Sequence[Tensor], kept: frozenset[Dim]) -> list[Tensor] | None:
    """What holds along the dimensions `kept` where all conditions hold at a point of the others, of those
    conditions that move along others. None where that is not known. (What is no comparison of indices
    may be left out if it moves along others only: bounds of arrays do not depend on it.)"""
    system: list[Comparison] = []
    for c in conditions:
        moves = strides_along(c)
        if moves <= kept:
            continue
        comparisons = _comparisons(c)
        if not comparisons and moves & kept:
            return None
        system += comparisons
    others = {d for c in conditions for d in strides_along(c)} - kept
    system, dims = _merged(system, sorted(others, key=lambda d: d.name))
    for d in dims:
        rest = _without(system, d)
        if rest is None:
            return None
        system = rest
    return [_tensor(*c) for c in system if c[1].strides or c[2].strides]


def _comparisons(c: Tensor) -> list[Comparison]:
    """A condition as comparisons of linear indices that hold together; none if it is no such."""
    match c:
        case Apply(node=ir.Binary(op=op), args=(a, b)) if op in _ORDER or op is ir.Op.EQ:
            x, y = _linear(a), _linear(b)
            if x is None or y is None:
                return []
            return [(o, x, y) for o in ((ir.Op.LE, ir.Op.GE) if op is ir.Op.EQ else (op,))]
        case _:
            return []


def _linear(x: Tensor) -> _Linear | None:
    match x:
        case Line(base=base, strides=strides):
            return _Linear(base, strides)
        case Uniform(value=value) if value.type == INDEX:
            return _Linear(value, ())
        case _:
            return None


def _tensor(op: ir.Op, a: _Linear, b: _Linear) -> Tensor:
    x, y = (Line(s.base, s.strides) if s.strides else Uniform(s.base) for s in (a, b))
    name = operand_name(I64)
    return Apply(ir.Binary(op, name, name), (x, y))


def _without(comparisons: list[Comparison], d: Dim) -> list[Comparison] | None:
    """What the comparisons say of the other dimensions, for any point of d; None where not known."""
    last = _Linear(ir.const_index(d.extent - 1), ())
    lower, upper = [_Bound(1, _ORIGIN, None)], [_Bound(-1, last, None)]
    implied: list[Comparison] = []
    for c in comparisons:
        step = const_value(_difference(c).along(d))
        if step is None:
            return None
        if step == 0:
            implied.append(_where(c, d, _ORIGIN))
        else:
            (lower if int(step) > 0 else upper).append(_Bound(int(step), _rest(c, d), c))
    for low, high in product(lower, upper):
        if low.comparison is None and high.comparison is None:
            continue
        whole = [(x, y) for x, y in ((high, low), (low, high)) if abs(x.step) == 1]
        pairs = [(x, y.comparison) for x, y in whole if y.comparison is not None]
        if not pairs:
            return None
        at, other = pairs[0]
        point = at.rest if at.step < 0 else _times(at.rest, -1)  # step * d + rest is 0 there
        new = _where(other, d, point)
        if not _always(new) and new not in implied:
            implied.append(new)
    return implied


def _rest(c: Comparison, d: Dim) -> _Linear:
    """What is at least 0 where the comparison holds, at 0 of the dimension."""
    return _at(_difference(c), d, _ORIGIN)


def _difference(c: Comparison) -> _Linear:
    """What is at least 0 where the comparison holds."""
    op, a, b = c
    sign, least = _ORDER[op]
    apart = _plus(_times(b, sign), _times(a, -sign))
    return _Linear(canonical(sub(apart.base, least)), apart.strides)


def _always(c: Comparison) -> bool:
    difference = _difference(c)
    least = const_value(difference.base)
    return not difference.strides and least is not None and int(least) >= 0


def _plus(a: _Linear, b: _Linear) -> _Linear:
    dims = dict.fromkeys(d for x in (a, b) for d, _ in x.strides)
    strides = [(d, canonical(add(a.along(d), b.along(d)))) for d in dims]
    base = canonical(add(a.base, b.base))
    return _Linear(base, tuple((d, s) for d, s in strides if s != ir.const_index(0)))


def _times(a: _Linear, factor: ir.Expr | int) -> _Linear:
    strides = tuple((d, canonical(mul(s, factor))) for d, s in a.strides)
    return _Linear(canonical(mul(a.base, factor)), strides)


def _where(c: Comparison, d: Dim, point: _Linear) -> Comparison:
    """The comparison at a point of d."""
    op, a, b = c
    return op, _at(a, d, point), _at(b, d, point)


def _at(a: _Linear, d: Dim, point: _Linear) -> _Linear:
    """The index at a point of d."""
    stride = a.along(d)
    if stride == ir.const_index(0):
        return a
    rest = _Linear(a.base, tuple((e, s) for e, s in a.strides if e != d))
    return _plus(rest, _times(point, stride))


def _merged(comparisons: list[Comparison], dims: list[Dim]) -> tuple[list[Comparison], list[Dim]]:
    """The same with fewer dimensions: two along which all indices go on evenly are one."""
    sides = [side for c in comparisons for side in c[1:]]
    for outer, inner in permutations(dims, 2):
        if all(s.along(outer) == canonical(mul(s.along(inner), inner.extent)) for s in sides):
            both = Dim(inner.name, outer.extent * inner.extent, inner.reduced)
            merged = [
                (op, _joined(a, outer, inner, both), _joined(b, outer, inner, both))
                for op, a, b in comparisons
            ]
            return _merged(merged, [both if d == inner else d for d in dims if d != outer])
    return comparisons, dims


def _joined(a: _Linear, outer: Dim, inner: Dim, both: Dim) -> _Linear:
    """The index with one dimension for two."""
    return _Linear(
        a.base, tuple((both if d == inner else d, s) for d, s in a.strides if d != outer)
    )

"""Vector indices as a strided layout: a base and a list of (extent, stride), outermost first.

`ramp(x4(b), x4(s), 8)` is b with ((8, s), (4, 0)). Every nest of Ramp and Broadcast, and every sum of
such, has one normal form, however it was spelled.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, prod

from hbc.ir.algebra.alignment import alignment
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, broadcast, const_value, floordiv, mod, mul, sub
from hbc.ir.lang.types import I64
from hbc.ir.lang.walk import ExprMap

Dim = tuple[int, ir.Expr]
"""Extent and stride."""
Dims = tuple[Dim, ...]

_ZERO = ir.const_index(0)


@record
class Layout:
    """Lane (i0, .., in), in row-major order, is `base + sum(i_d * stride_d)`."""

    base: ir.Expr
    dims: Dims = ()

    @property
    def lanes(self) -> int:
        return prod(extent for extent, _ in self.dims)


def layout(e: ir.Expr, scalar: ExprMap = canonical) -> Layout | None:
    """The normal form of an i64 expression, or None when it is not strided. `scalar` brings the base
    and the strides to their normal form."""
    if e.type.element != I64:
        return None
    read = _read(e)
    return None if read is None else normal(read, scalar)


def to_index(x: Layout) -> ir.Expr:
    """The nest of Ramp and Broadcast with these lanes."""
    e = x.base
    lanes = e.type.lanes
    for extent, stride in reversed(x.dims):
        if extent == 1:
            continue
        if const_value(stride) == 0:
            e = broadcast(e, extent)
        else:
            e = ir.Ramp(e, broadcast(stride, lanes), extent)
        lanes *= extent
    return e


def normal(x: Layout, scalar: ExprMap = canonical) -> Layout:
    """Canonical base and strides, no extent of 1, dims merged where the strides nest."""
    dims: list[Dim] = []
    for extent, stride in reversed(x.dims):
        stride = scalar(stride)
        if extent == 1:
            continue
        if dims and _nests(stride, dims[-1], scalar):
            dims[-1] = (extent * dims[-1][0], dims[-1][1])
        else:
            dims.append((extent, stride))
    return Layout(scalar(x.base), tuple(reversed(dims)))


def split(x: Layout, dim: int, inner: int) -> Layout:
    """The dim as two, the inner of the given extent (which divides). (12, s) by 4: (3, 4*s), (4, s)."""
    extent, stride = x.dims[dim]
    if extent % inner:
        raise ValueError(f"{inner} does not divide the extent {extent}")
    two = ((extent // inner, canonical(mul(inner, stride))), (inner, stride))
    return Layout(x.base, (*x.dims[:dim], *two, *x.dims[dim + 1 :]))


def permute(x: Layout, order: Iterable[int]) -> Layout:
    """The dims in another order: a transposition of the lanes."""
    return Layout(x.base, tuple(x.dims[d] for d in order))


def transposed(x: Layout, rows: int) -> Layout | None:
    """The lanes, so many rows, by columns; None where no dims are just the rows."""
    count, at = 1, 0
    while count < rows and at < len(x.dims):
        count *= x.dims[at][0]
        at += 1
    return Layout(x.base, (*x.dims[at:], *x.dims[:at])) if count == rows else None


def refine(a: Dims, b: Dims) -> tuple[Dims, Dims] | None:
    """Both lists split so that their extents agree; None where one does not divide the other."""
    left, right = list(a), list(b)
    first: list[Dim] = []
    second: list[Dim] = []
    while left and right:
        (m, s), (n, t) = left.pop(), right.pop()
        inner = min(m, n)
        if m % inner or n % inner:
            return None
        first.append((inner, s))
        second.append((inner, t))
        if m > inner:
            left.append((m // inner, mul(inner, s)))
        if n > inner:
            right.append((n // inner, mul(inner, t)))
    if left or right:
        return None
    return tuple(reversed(first)), tuple(reversed(second))


def _read(e: ir.Expr) -> Layout | None:
    match e:
        case ir.Broadcast(value=v, lanes=lanes) if lanes > 1:
            inner = _read(v)
            return None if inner is None else Layout(inner.base, ((lanes, _ZERO), *inner.dims))
        case ir.Ramp(base=base, stride=stride, lanes=lanes) if lanes > 1:
            inner, step = _read(base), _uniform(stride)
            if inner is None or step is None:
                return None
            return Layout(inner.base, ((lanes, step), *inner.dims))
        case _ if e.type.lanes == 1:
            return Layout(e)
        case ir.Binary(op=op, a=a, b=b):
            x, y = _read(a), _read(b)
            return None if x is None or y is None else _operation(op, x, y)
        case ir.Unary(op=ir.UnaryOp.NEG, a=a):
            x = _read(a)
            return None if x is None else _scaled(x, ir.const_index(-1))
        case _:
            return None


def _operation(op: ir.Op, x: Layout, y: Layout) -> Layout | None:
    match op:
        case ir.Op.ADD | ir.Op.SUB:
            both = refine(_merged(x.dims), _merged(y.dims))
            if both is None:
                return None
            join = add if op is ir.Op.ADD else sub
            dims = tuple((n, join(s, t)) for (n, s), (_, t) in zip(*both, strict=True))
            return Layout(join(x.base, y.base), dims)
        case ir.Op.MUL:
            if _is_uniform(y):
                return _scaled(x, y.base)
            return _scaled(y, x.base) if _is_uniform(x) else None
        case ir.Op.DIV | ir.Op.MOD:
            divisor = y.base if _is_uniform(y) else None
            if not isinstance(divisor, ir.Const) or divisor.value <= 0:
                return None
            return _division(op, normal(x), int(divisor.value))
        case _:
            return None


def _division(op: ir.Op, x: Layout, d: int) -> Layout | None:
    """`x / d` or `x % d` when each dim moves only the quotient or only the remainder."""
    modulus, remainder = alignment(x.base)
    step = gcd(modulus, d)  # the base is `remainder` modulo this
    dims: list[Dim] = []
    reach = [remainder % step, remainder % step]
    for extent, stride in x.dims:
        s = const_value(stride)
        if s is None:
            return None
        s = int(s)
        count = d // s if s > 0 and d % s == 0 else 0
        if s % d and count and extent > count and extent % count == 0:
            dims += [(extent // count, ir.const_index(d)), (count, stride)]
            reach[1] += s * (count - 1)
        else:
            dims.append((extent, stride))
            if s % d:
                reach[0 if s < 0 else 1] += s * (extent - 1)
    if reach[0] < 0 or reach[1] >= step:
        return None
    if op is ir.Op.DIV:
        kept = tuple((n, ir.const_index(_int(s) // d if _int(s) % d == 0 else 0)) for n, s in dims)
        return Layout(floordiv(x.base, d), kept)
    kept = tuple((n, ir.const_index(_int(s) if _int(s) % d else 0)) for n, s in dims)
    return Layout(mod(x.base, d), kept)


def _int(e: ir.Expr) -> int:
    return int(const_value(e) or 0)


def _scaled(x: Layout, factor: ir.Expr) -> Layout:
    return Layout(mul(x.base, factor), tuple((n, mul(s, factor)) for n, s in x.dims))


def _uniform(e: ir.Expr) -> ir.Expr | None:
    """The value that all lanes have, if they have the same."""
    inner = e
    while isinstance(inner, ir.Broadcast):
        inner = inner.value
    if isinstance(inner, ir.Const | ir.Var) and inner.type.lanes == 1:
        return inner
    x = _read(e)
    return x.base if x is not None and _is_uniform(x) else None


def _is_uniform(x: Layout) -> bool:
    return all(const_value(s) == 0 for n, s in x.dims if n > 1)


def _merged(dims: Dims) -> Dims:
    """Adjacent dims that do not move, as one: what `refine` can cut to measure."""
    merged: list[Dim] = []
    for extent, stride in dims:
        if merged and const_value(stride) == 0 and const_value(merged[-1][1]) == 0:
            merged[-1] = (merged[-1][0] * extent, stride)
        else:
            merged.append((extent, stride))
    return tuple(merged)


def _nests(outer: ir.Expr, inner: Dim, scalar: ExprMap) -> bool:
    extent, stride = inner
    a, b = const_value(outer), const_value(stride)
    if a is not None and b is not None:
        return a == extent * b
    return a is None and b is None and scalar(mul(extent, stride)) == outer

"""The points that the oracle evaluates at once, and the arrays that it has evaluated so far."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from hbc.frontend.oracle.value import Value, may_hold, uncertainty
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType
from hbc.ir.meaning.numpy_types import Array

Box = tuple[tuple[int, int], ...]
"""Least and greatest coordinate in each dimension."""


@record
class Axis:
    """A variable along array axis `position`: start, start + step, ..., `count` values."""

    position: int
    start: int
    count: int
    step: int = 1


@mutable
class Points:
    """A grid of points: some variables along axes, others (and the sizes) fixed. Where `mask` is
    false a point is not really evaluated: its accesses may be outside. Where `perhaps` is true, nobody
    knows whether it is: what it reads outside may be anything."""

    rank: int
    axes: Mapping[str, Axis]
    fixed: Mapping[str, int]
    mask: Array | None = None
    perhaps: Array | None = None
    lets: dict[str, Value] = field(default_factory=dict)
    grids: dict[str, Array] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        shape = [1] * self.rank
        for axis in self.axes.values():
            shape[axis.position] = axis.count
        return tuple(shape)

    def variable(self, name: str) -> Array:
        """The values of a variable, shaped to broadcast along its axis."""
        if name not in self.grids:
            axis = self.axes.get(name)
            if axis is None:
                self.grids[name] = np.asarray(self.fixed[name], np.int64)
            else:
                grid = np.arange(axis.count, dtype=np.int64) * axis.step + axis.start
                shape = [1] * self.rank
                shape[axis.position] = axis.count
                self.grids[name] = grid.reshape(shape)
        return self.grids[name]

    @property
    def certain(self) -> Array:
        """Where a point is evaluated for certain, and may read nothing that is outside."""
        mask = np.ones((), np.bool_) if self.mask is None else self.mask
        return mask if self.perhaps is None else mask & ~self.perhaps

    def where(self, condition: Value) -> Points:
        """The same points, of which only those count where the condition holds, or may."""
        mask = np.broadcast_to(may_hold(condition), self.shape)
        perhaps = None if condition.e is None else np.broadcast_to(condition.e, self.shape)
        return Points(self.rank, self.axes, self.fixed, mask, perhaps, {}, self.grids)


Ranges = Mapping[str, tuple[int, int]]
"""First value and number of values of each variable."""


def grid(ranges: Ranges, fixed: Mapping[str, int]) -> Points:
    """All points of the ranges, one axis for each, in their order."""
    axes = {name: Axis(n, *r) for n, (name, r) in enumerate(ranges.items())}
    return Points(len(axes), axes, fixed)


def chunks(ranges: Ranges, limit: int) -> Iterator[dict[str, tuple[int, int]]]:
    """The ranges cut into pieces of at most `limit` points, the last variables whole if they fit."""
    lengths: dict[str, int] = {}
    for name, (_, count) in reversed(list(ranges.items())):
        lengths[name] = min(count, max(limit, 1))
        limit //= max(lengths[name], 1)
    yield from cut(ranges, lengths)


def cut(ranges: Ranges, lengths: Mapping[str, int]) -> Iterator[dict[str, tuple[int, int]]]:
    """The ranges cut into pieces of the given lengths; none when a range is empty."""
    if any(count <= 0 for _, count in ranges.values()):
        return
    cuts = [
        [(name, piece) for piece in _cut(start, count, lengths[name])]
        for name, (start, count) in ranges.items()
    ]
    for pieces in itertools.product(*cuts):
        yield dict(pieces)


def _cut(start: int, count: int, length: int) -> list[tuple[int, int]]:
    end = start + count
    return [(at, min(length, end - at)) for at in range(start, end, length)]


@dataclass(slots=True, eq=False)
class Stored:
    """An input, table or Func over a box; `origin` is the coordinate of its first element."""

    name: str
    element: DType
    value: Value
    origin: tuple[int, ...]
    shape: tuple[int, ...]

    def raise_error(self, shape: tuple[int, ...]) -> Array:
        """`value.e` as an array of its own that can be written to."""
        if self.value.e is None:
            dtype = uncertainty(self.value, self.element).dtype
            self.value.e = np.zeros(shape, dtype)
        return self.value.e


Buffers = Callable[[str], Stored]


@record
class Linear:
    """constant + sum of coefficient * variable."""

    constant: int
    terms: tuple[tuple[str, int], ...]


def linear(e: ir.Expr) -> Linear | None:
    """`e` as a sum of variables times constants, or None."""
    match e:
        case ir.Const(value=value):
            return Linear(int(value), ())
        case ir.Var(name=name):
            return Linear(0, ((name, 1),))
        case ir.Unary(op=ir.UnaryOp.NEG, a=a):
            return _scaled(linear(a), -1)
        case ir.Binary(op=ir.Op.ADD, a=a, b=b):
            return _sum(linear(a), linear(b))
        case ir.Binary(op=ir.Op.SUB, a=a, b=b):
            return _sum(linear(a), _scaled(linear(b), -1))
        case (
            ir.Binary(op=ir.Op.MUL, a=a, b=ir.Const(value=k))
            | ir.Binary(op=ir.Op.MUL, a=ir.Const(value=k), b=a)
        ):
            return _scaled(linear(a), int(k))
        case _:
            return None


def _scaled(x: Linear | None, by: int) -> Linear | None:
    if x is None:
        return None
    return Linear(x.constant * by, tuple((name, k * by) for name, k in x.terms))


def _sum(x: Linear | None, y: Linear | None) -> Linear | None:
    if x is None or y is None:
        return None
    terms = dict(x.terms)
    for name, k in y.terms:
        terms[name] = terms.get(name, 0) + k
    return Linear(x.constant + y.constant, tuple((n, k) for n, k in terms.items() if k))

"""Tensor expressions at chosen points, as vector expressions of the IR.

Where each dimension stands is an affine function of the lanes: a place and, for every extent of the
vector, a step. Points beyond the end of a dimension give 0 and touch no memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import product
from math import prod

from hbc.eqsat.tensors.plan import Parts
from hbc.eqsat.tensors.tensor import (
    Apply,
    Band,
    Dim,
    Dims,
    Line,
    Masked,
    Read,
    Reduce,
    Tensor,
    Uniform,
    reads,
    strides_along,
)
from hbc.ir.algebra.layout import Layout, normal, to_index
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import (
    add,
    and_,
    broadcast,
    const,
    const_value,
    eq,
    floordiv,
    ge,
    lt,
    mod,
    mul,
)
from hbc.ir.lang.build import select as select_between
from hbc.ir.lang.build import sub as difference
from hbc.ir.lang.types import BOOL

FAR = 1 << 40  # the extent of what has its own mask


@record
class Place:
    """`start + sum of lane_l * steps[l]` over the extents of the vector. `extent`: points from there
    on, and below 0, do not exist. `last`: how far a start that is not constant may go, where that can
    be beyond the end. `apart`: the dimension stands where that is divided by this, and only the lanes
    count at which it is a multiple. `first`: of a banded matrix points below it are 0."""

    start: ir.Expr
    steps: tuple[int, ...]
    extent: int
    last: int = 0
    apart: int = 1
    first: int = 0


@record
class Points:
    """The extents of the vector, outermost first, and where each dimension stands. A dimension that
    is not named stands at 0."""

    extents: tuple[int, ...]
    places: Mapping[Dim, Place]
    known: Mapping[str, ir.Expr] = field(default_factory=dict)  # buffers whose value here is given

    @property
    def lanes(self) -> int:
        return prod(self.extents)


def whole_box(dims: Dims) -> Points:
    """All points of the dimensions."""
    places = {}
    for n, d in enumerate(dims):
        steps = tuple(int(m == n) for m in range(len(dims)))
        places[d] = Place(ir.const_index(0), steps, d.extent)
    return Points(tuple(d.extent for d in dims), places)


def given(at: Points, buffer: str, e: ir.Expr) -> Points:
    """The same points, where the buffer has this value."""
    return replace(at, known={**at.known, buffer: e})


def shifted(at: Points, steps: Parts, index: Mapping[Dim, ir.Expr]) -> Points:
    """The points of other steps than the first."""
    places = dict(at.places)
    for p in steps:
        step = index.get(p.dim, ir.const_index(0))
        old = places.get(p.dim) or Place(ir.const_index(0), (0,) * len(at.extents), p.dim.extent)
        places[p.dim] = replace(old, start=add(old.start, p.start(step)), first=p.covered(step))
    return replace(at, places=places)


def value(x: Tensor, at: Points) -> ir.Expr:
    """The vector of `x` at the points, in row-major order of the extents; a scalar for one lane."""
    match x:
        case Uniform(value=e):
            return broadcast(e, at.lanes)
        case Read():
            return load(x, at)
        case Apply(node=node, args=args):
            return apply(node, tuple(value(a, at) for a in args))
        case Reduce(op=op, dims=dims, value=v):
            inner = prod(d.extent for d in dims)
            if inner == 1:
                return value(v, with_dims(at, dims))
            if at.lanes > 1 and not strides_along(x) and not any(True for _ in reads(x)):
                return broadcast(value(x, Points((), {})), at.lanes)  # how many there are
            return ir.VectorReduce(op, value(v, with_dims(at, dims)), at.lanes)
        case Band():
            return band(x, at)
        case Line():
            return address(x, at)
        case Masked():
            return _under(x, at)


def _under(x: Masked, at: Points) -> ir.Expr:
    """A value under masks, which go to its loads."""
    conditions: list[ir.Expr] = []
    inner: Tensor = x
    while isinstance(inner, Masked):
        conditions.append(value(inner.condition, at))
        inner = inner.value
    there = and_(*conditions)
    if isinstance(inner, Read) and inner.buffer not in at.known:
        inside = exists(tuple(d for d, _ in inner.strides), at)
        return _load(inner, at, there if inside is None else and_(there, inside))
    return select_between(there, _masked(inner, at, there), 0)


def load(x: Read, at: Points) -> ir.Expr:
    """The load of an array's elements; a broadcast of a load where the outer lanes do not move."""
    if x.buffer in at.known:
        return at.known[x.buffer]
    there = exists(tuple(d for d, _ in x.strides), at)
    return _load(x, at, there)


def _load(x: Read, at: Points, there: ir.Expr | None) -> ir.Expr:
    index = address(x, at)
    t = x.element(at.lanes)
    if there is not None and const_value(there) is False:
        return const(False if x.element == BOOL else 0, t)
    if isinstance(index, ir.Broadcast) and there is None:
        return broadcast(
            ir.Load(x.buffer, index.value, x.element(index.value.type.lanes)), index.lanes
        )
    if (
        isinstance(index, ir.Broadcast)
        and isinstance(there, ir.Broadcast)
        and (there.lanes == index.lanes)
    ):
        inner = index.value.type.lanes
        return broadcast(ir.Load(x.buffer, index.value, x.element(inner), there.value), index.lanes)
    return ir.Load(x.buffer, index, t, there)


def address(x: Read | Line, at: Points) -> ir.Expr:
    """The elements' offsets in the buffer, as a nest of Ramp and Broadcast, and of what is no affine
    function of the lanes. (Those of the values of a Line in general.)"""
    apart = {d for d, _ in x.strides if d in at.places and at.places[d].apart > 1}
    rest = replace(x, strides=tuple((d, s) for d, s in x.strides if d not in apart))
    index = to_index(normal(_layout(rest, at)))
    for d, stride in x.strides:
        if d in apart:
            at_d = floordiv(coordinate(at.places[d], at.extents), at.places[d].apart)
            index = add(index, mul(at_d, broadcast(stride, at.lanes)))
    return index


def layout_of(x: Read, at: Points) -> Layout:
    """The same as base and strides, in normal form."""
    return normal(raw_layout(x, at))


def raw_layout(x: Read, at: Points) -> Layout:
    """One dim for each extent of the vector, none merged."""
    return _layout(x, at)


def _layout(x: Read | Line, at: Points) -> Layout:
    base = x.base
    for d, stride in x.strides:
        place = at.places.get(d)
        if place is not None and const_value(place.start) != 0:
            base = add(base, mul(place.start, stride))
    return Layout(canonical(base), strides_at(x, at))


def strides_at(x: Read | Line, at: Points) -> tuple[tuple[int, ir.Expr], ...]:
    """One extent and stride for each extent of the vector."""
    numbers = [0] * len(at.extents)
    others: list[ir.Expr | None] = [None] * len(at.extents)
    for d, stride in x.strides:
        place = at.places.get(d)
        if place is None:
            continue
        constant = const_value(stride)
        for lane, n in enumerate(place.steps):
            if n and constant is not None:
                numbers[lane] += n * int(constant)
            elif n:
                before = others[lane]
                others[lane] = mul(n, stride) if before is None else add(before, mul(n, stride))
    steps = (
        ir.const_index(n) if e is None else canonical(add(e, n))
        for e, n in zip(others, numbers, strict=True)
    )
    return tuple(zip(at.extents, steps, strict=True))


def exists(dims: tuple[Dim, ...], at: Points) -> ir.Expr | None:
    """The mask of the points that lie inside all of `dims`; None when all do."""
    conditions = []
    for d in dims:
        place = at.places.get(d)
        if place is not None and may_leave(place, at.extents):
            conditions.append(lt(coordinate(place, at.extents), place.extent))
    if not conditions:
        return None
    inside = and_(*conditions)
    return None if const_value(inside) is True else inside


def may_leave(place: Place, extents: tuple[int, ...]) -> bool:
    """Whether a point can lie beyond the end."""
    return reach(place, extents) >= place.extent


def reach(place: Place, extents: tuple[int, ...]) -> int:
    """How far the points go. Places that are not constant are starts of loops that stay inside, unless
    they say how far they go."""
    start = const_value(place.start)
    if start is None:
        return place.last
    return int(start) + sum((n - 1) * s for n, s in zip(extents, place.steps, strict=True) if s > 0)


def coordinate(place: Place, extents: tuple[int, ...]) -> ir.Expr:
    """Where the dimension stands at each lane."""
    steps = ((n, ir.const_index(s)) for n, s in zip(extents, place.steps, strict=True))
    return to_index(normal(Layout(place.start, tuple(steps))))


def with_dims(at: Points, dims: tuple[Dim, ...]) -> Points:
    """The points times all points of more dimensions, innermost."""
    extents = (*at.extents, *(d.extent for d in dims))
    places = {d: replace(p, steps=(*p.steps, *(0 for _ in dims))) for d, p in at.places.items()}
    for n, d in enumerate(dims):
        steps = [0] * len(extents)
        steps[len(at.extents) + n] = 1
        places[d] = Place(ir.const_index(0), tuple(steps), d.extent)
    return Points(extents, places)


def band(x: Band, at: Points, under: ir.Expr | None = None) -> ir.Expr:
    """The filter where t - d_step * d is a point of it, 0 elsewhere; nothing is read where `under`,
    which another band around it says, does not hold."""
    d, t = at.places[x.d], at.places[x.t]
    start = canonical(difference(t.start, mul(d.start, x.d_step)))
    steps = tuple(a - x.d_step * b for a, b in zip(t.steps, d.steps, strict=True))
    along = Place(start, steps, x.r.extent * x.r_step)
    where = coordinate(along, at.extents)
    inside = and_(ge(where, 0), lt(where, along.extent))
    if t.first:
        inside = and_(inside, ge(coordinate(t, at.extents), t.first))
    if x.r_step > 1:
        inside = and_(inside, eq(mod(where, x.r_step), 0))
    lanes = _constant_mask(along, x.r_step, at.extents)
    if lanes is not None and not any(lanes):
        return const(0, x.element(at.lanes))
    others = _others(x, at)
    there: ir.Expr | None = inside if others is None else and_(inside, others)
    if lanes is not None and all(lanes) and others is None and not t.first:
        there = None
    if under is not None:
        there = under if there is None else and_(under, there)
    along = replace(along, apart=x.r_step)
    places = {d: replace(q, extent=FAR) for d, q in {**at.places, x.r: along}.items()}
    inner = Points(at.extents, places, at.known)
    if there is None or isinstance(_unmasked(x.value), Read | Band):
        return _masked(x.value, inner, there)
    return select_between(there, _masked(x.value, inner, there), 0)


def _unmasked(x: Tensor) -> Tensor:
    """What the masks are on."""
    while isinstance(x, Masked):
        x = x.value
    return x


def _others(x: Band, at: Points) -> ir.Expr | None:
    """The mask of the dimensions besides that of the filter."""
    return exists(tuple(d for d in strides_along(x.value) if d != x.r), at)


def _masked(x: Tensor, at: Points, there: ir.Expr | None) -> ir.Expr:
    """`x` with every load under a mask."""
    match x:
        case Read() if x.buffer not in at.known:
            inside = exists(tuple(d for d, _ in x.strides), at)
            return _load(x, at, there if inside is None else _both(there, inside))
        case Apply(node=node, args=args):
            return apply(node, tuple(_masked(a, at, there) for a in args))
        case Masked(condition=c, value=v):
            own = value(c, at)
            inner = _masked(v, at, _both(there, own))
            if isinstance(_unmasked(v), Read | Band):
                return inner
            return select_between(own, inner, 0)
        case Band():
            return band(x, at, there)
        case _:
            return value(x, at)


def _both(there: ir.Expr | None, own: ir.Expr) -> ir.Expr:
    return own if there is None else and_(there, own)


def _constant_mask(along: Place, step: int, extents: tuple[int, ...]) -> list[bool] | None:
    start = const_value(along.start)
    if start is None:
        return None
    lanes = []
    for lane in product(*(range(n) for n in extents)):
        at = int(start) + sum(s * i for s, i in zip(along.steps, lane, strict=True))
        lanes.append(0 <= at < along.extent and at % step == 0)
    return lanes


def apply(
    node: ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call, args: tuple[ir.Expr, ...]
) -> ir.Expr:
    """The operation of a template on vectors."""
    lanes = args[0].type.lanes
    match node:
        case ir.Cast(type=t):
            return (
                args[0] if t.element == args[0].type.element else ir.Cast(t.element(lanes), args[0])
            )
        case ir.Binary(op=op):
            return ir.Binary(op, args[0], args[1])
        case ir.Unary(op=uop):
            return ir.Unary(uop, args[0])
        case ir.Select():
            return ir.Select(args[0], args[1], args[2])
        case ir.Call(name=name, type=t):
            return ir.Call(name, args, t.element(lanes))

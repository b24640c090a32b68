"""An index vector as rows: lanes whose places in memory differ by constants lie in one row.

    ramp(ramp(b, s, 4), x4(1), 16)   ->   4 rows, at b, b + s, b + 2*s and b + 3*s: lanes 0, 4, 8, ..
                                          of the first at offsets 0, 1, 2, ..

`lane_offsets` finds one row or nothing; here the strides may be any scalars.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, mul

Numbers = tuple[int, ...]


@record
class Row:
    """Lane `lanes[i]` is `base + offsets[i]`."""

    base: ir.Expr
    lanes: Numbers
    offsets: Numbers


@record
class _Sum:
    """Lane l is base + offsets[l] + the sum over units of unit * times[unit][l]."""

    base: ir.Expr
    offsets: Numbers
    times: Mapping[ir.Expr, Numbers] = field(default_factory=dict)


def lane_rows(e: ir.Expr) -> list[Row] | None:
    """The rows of an index vector, in the order of their first lanes; None when lanes differ by what
    is neither constant nor a multiple of a scalar."""
    form = _sum(e)
    if form is None:
        return None
    units = list(form.times)
    lanes: dict[Numbers, list[int]] = {}
    for lane in range(e.type.lanes):
        lanes.setdefault(tuple(form.times[u][lane] for u in units), []).append(lane)
    rows = []
    for key, own in lanes.items():
        base = form.base
        for unit, times in zip(units, key, strict=True):
            base = add(base, mul(unit, times))
        rows.append(Row(base, tuple(own), tuple(form.offsets[lane] for lane in own)))
    return rows


def _sum(e: ir.Expr) -> _Sum | None:
    if e.type.lanes == 1:
        value = const_value(e)
        return _Sum(e, (0,)) if value is None else _Sum(ir.const_index(0), (int(value),))
    match e:
        case ir.Broadcast(value=v, lanes=lanes):
            inner = _sum(v)
            return None if inner is None else _picked(inner, tuple(range(v.type.lanes)) * lanes)
        case ir.Gather(value=v, lanes=picks):
            inner = _sum(v)
            return None if inner is None or min(picks) < 0 else _picked(inner, picks)
        case ir.Ramp(base=base, stride=stride, lanes=lanes):
            inner, step = _sum(base), _sum(stride)
            if inner is None or step is None:
                return None
            every = tuple(range(base.type.lanes)) * lanes
            counts = tuple(i for i in range(lanes) for _ in range(base.type.lanes))
            return _added(_picked(inner, every), _multiplied(_picked(step, every), counts))
        case ir.Binary(op=op, a=a, b=b) if op in (ir.Op.ADD, ir.Op.SUB, ir.Op.MUL):
            x, y = _sum(a), _sum(b)
            return None if x is None or y is None else _combined(op, x, y)
        case _:
            return None


def _combined(op: ir.Op, x: _Sum, y: _Sum) -> _Sum | None:
    if op is not ir.Op.MUL:
        sign = 1 if op is ir.Op.ADD else -1
        return _added(x, _multiplied(y, (sign,) * len(y.offsets)))
    for one, other in ((x, y), (y, x)):
        if const_value(one.base) == 0 and not one.times:
            return _multiplied(other, one.offsets)
    return None


def _picked(x: _Sum, picks: Numbers) -> _Sum:
    times = {u: tuple(n[p] for p in picks) for u, n in x.times.items()}
    return _Sum(x.base, tuple(x.offsets[p] for p in picks), times)


def _multiplied(x: _Sum, by: Numbers) -> _Sum:
    """Each lane by a number. Unless all are multiplied alike, the base becomes a unit."""
    times = {u: tuple(n * b for n, b in zip(ns, by, strict=True)) for u, ns in x.times.items()}
    offsets = tuple(o * b for o, b in zip(x.offsets, by, strict=True))
    if len(set(by)) == 1:
        return _Sum(mul(x.base, by[0]), offsets, times)
    unit, factor = factored(x.base)
    if factor:
        own = times.get(unit, (0,) * len(by))
        times[unit] = tuple(n + factor * b for n, b in zip(own, by, strict=True))
    return _Sum(ir.const_index(0), offsets, times)


def _added(x: _Sum, y: _Sum) -> _Sum:
    times = dict(x.times)
    for u, ns in y.times.items():
        own = times.get(u, (0,) * len(ns))
        times[u] = tuple(a + b for a, b in zip(own, ns, strict=True))
    offsets = tuple(a + b for a, b in zip(x.offsets, y.offsets, strict=True))
    return _Sum(add(x.base, y.base), offsets, times)


def factored(e: ir.Expr) -> tuple[ir.Expr, int]:
    """A scalar as something times a number."""
    e = canonical(e)
    match e:
        case ir.Const(value=v):
            return ir.const_index(1), int(v)
        case (
            ir.Binary(op=ir.Op.MUL, a=a, b=ir.Const(value=v))
            | ir.Binary(op=ir.Op.MUL, a=ir.Const(value=v), b=a)
        ):
            return a, int(v)
        case _:
            return e, 1

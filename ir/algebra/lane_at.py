"""One lane of a vector expression, at a number that is not known before it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hbc.ir.algebra.layout import layout
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, floordiv, mod, mul
from hbc.ir.lang.walk import map_children


class NoLaneError(Exception):
    """The lanes of an expression cannot be told apart by a formula."""


def at_lane(e: ir.Expr, lane: ir.Expr) -> ir.Expr:
    """The scalar that is lane number `lane` of `e`. Raises NoLaneError for sums over lanes, swizzles
    and instructions."""
    if e.type.lanes == 1:
        return e
    match e:
        case ir.Ramp() | ir.Broadcast() if (flat := layout(e)) is not None:
            index, inner = flat.base, 1
            for extent, stride in reversed(flat.dims):
                outer = inner * extent
                digit = floordiv(lane, inner) if inner > 1 else lane
                if outer < flat.lanes:
                    digit = mod(digit, extent)
                index = add(index, mul(digit, stride))
                inner = outer
            return index
        case ir.Broadcast(value=value):
            return at_lane(value, mod(lane, value.type.lanes))
        case ir.Ramp(base=base, stride=stride):
            n = ir.const_index(base.type.lanes)
            inner_lane = mod(lane, n)
            step = at_lane(stride, inner_lane)
            return add(at_lane(base, inner_lane), mul(floordiv(lane, n), step))
        case ir.Load(buffer=buffer, index=index, type=t, mask=mask):
            there = None if mask is None else at_lane(mask, lane)
            return ir.Load(buffer, at_lane(index, lane), t.element(1), there, e.span)
        case ir.Cast(type=t, value=value):
            return ir.Cast(t.element(1), at_lane(value, lane), e.span)
        case ir.Call(type=t, args=args):
            return replace(e, args=tuple(at_lane(a, lane) for a in args), type=t.element(1))
        case ir.Binary() | ir.Unary() | ir.Select():
            return map_children(e, lambda c: at_lane(c, lane))
        case _:
            raise NoLaneError


def by_distance(index: ir.Expr) -> Callable[[ir.Expr], ir.Expr]:
    """The lanes of an index in an order in which its places in memory go up: neighbouring threads
    then store neighbouring elements, whatever the order of the vector."""
    flat = layout(index)
    steps = [] if flat is None else [const_value(stride) for _, stride in flat.dims]
    if flat is None or None in steps:
        return lambda number: number
    inner, dims = 1, list[tuple[int, int, int]]()  # stride, extent, lanes from one to the next
    for (extent, _), step in zip(reversed(flat.dims), reversed(steps), strict=True):
        dims.append((int(step or 0), extent, inner))
        inner *= extent
    dims.sort(key=lambda d: abs(d[0]))

    def lane(number: ir.Expr) -> ir.Expr:
        place: ir.Expr = ir.const_index(0)
        covered = 1
        for _, extent, lanes in dims:
            digit = mod(floordiv(number, covered), extent)
            place = add(place, mul(digit, lanes))
            covered *= extent
        return place

    ascends = [lanes for *_, lanes in dims] == sorted(lanes for *_, lanes in dims)
    return (lambda number: number) if ascends else lane

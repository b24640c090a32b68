"""Lanes in another order, repeated or left out, as strides rather than as a list of picks.

    view(f(a[ramp(b, 1, 64)]) < x16(c), ((16, 1), (4, 16)))          # 4 x 16 lanes as 16 x 4
->  f(a[ramp(ramp(b, 16, 4), x4(1), 16)]) < x64(c)

A view has one (extent, stride) for each of its dimensions, outermost first: lane (x0, x1, ..), in
row-major order, is lane `x0 * stride0 + x1 * stride1 + ..` of what is viewed.
"""

from __future__ import annotations

from math import prod

from hbc.ir.algebra.layout import Layout, layout, to_index
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, broadcast, mul
from hbc.ir.lang.types import I64
from hbc.ir.lang.walk import map_children

View = tuple[tuple[int, int], ...]
# Extent, stride among blocks of lanes, stride within a block.
_Cut = tuple[int, int, int]


def view(e: ir.Expr, dims: View) -> ir.Expr:
    """`e` with these lanes, put to its leaves; leaves without strides are picked from."""
    if e.type.lanes == 1:
        return broadcast(e, prod(extent for extent, _ in dims))
    if e.type.element == I64:
        index = _index(e, dims)
        if index is not None:
            return index
    match e:
        case ir.Broadcast(value=value):
            cut = _cut(dims, value.type.lanes)
            if cut is not None:
                return view(value, tuple((extent, inner) for extent, _, inner in cut))
        case ir.Load(buffer=buffer, index=index, type=t, mask=mask):
            at = view(index, dims)
            live = None if mask is None else view(mask, dims)
            return ir.Load(buffer, at, t.with_lanes(at.type.lanes), live, e.span)
        case ir.VectorReduce(op=op, value=value, lanes=lanes):
            summed = value.type.lanes // lanes
            terms = view(value, (*((n, stride * summed) for n, stride in dims), (summed, 1)))
            return ir.VectorReduce(op, terms, terms.type.lanes // summed, e.span)
        case ir.Cast() | ir.Binary() | ir.Unary() | ir.Select() | ir.Call():
            return map_children(e, lambda c: view(c, dims) if c.type.lanes > 1 else c)
    return ir.Gather(e, _picks(dims))


def _index(e: ir.Expr, dims: View) -> ir.Expr | None:
    """A strided index in a view of its lanes; None where the view cuts its strides."""
    at = layout(e)
    if at is None:
        return None
    left = dims
    moves: tuple[ir.Expr, ...] = tuple(ir.const_index(0) for _ in dims)
    for extent, stride in reversed(at.dims):
        cut = _cut(left, extent)
        if cut is None:
            return None
        before = _refined(left, moves, cut)
        left = tuple((n, outer) for n, outer, _ in cut)
        moves = tuple(
            add(move, mul(inner, stride)) for move, (_, _, inner) in zip(before, cut, strict=True)
        )
    return to_index(Layout(at.base, tuple((n, m) for (n, _), m in zip(left, moves, strict=True))))


def _cut(dims: View, block: int) -> tuple[_Cut, ...] | None:
    """Each dimension as steps among blocks of so many lanes and steps within one, divided in two
    where it does both; None where a step within leads into the next block."""
    cut: list[_Cut] = []
    for extent, stride in dims:
        steps = block // stride if stride and block % stride == 0 else 0
        if stride % block == 0:
            cut.append((extent, stride // block, 0))
        elif (extent - 1) * stride < block:
            cut.append((extent, 0, stride))
        elif steps and extent % steps == 0:
            cut += [(extent // steps, 1, 0), (steps, 0, stride)]
        else:
            return None
    return tuple(cut) if sum((n - 1) * inner for n, _, inner in cut) < block else None


def _refined(dims: View, moves: tuple[ir.Expr, ...], cut: tuple[_Cut, ...]) -> tuple[ir.Expr, ...]:
    """The moves of the dimensions, for each of the pieces into which they were cut."""
    refined: list[ir.Expr] = []
    pieces = list(reversed(cut))
    for (extent, _), move in zip(dims, moves, strict=True):
        first = pieces.pop()[0]
        if first == extent:
            refined.append(move)
        else:
            refined += [mul(extent // first, move), move]
            pieces.pop()
    return tuple(refined)


def _picks(dims: View) -> tuple[int, ...]:
    picks: tuple[int, ...] = (0,)
    for extent, stride in dims:
        picks = tuple(p + x * stride for p in picks for x in range(extent))
    return picks

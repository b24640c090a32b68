"""Reads Funcs and inputs at the oracle's points: views where indices are linear, else gathers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hbc.frontend.oracle import reach as oracle_reach
from hbc.frontend.oracle.points import Buffers, Linear, Points, Stored, linear
from hbc.frontend.oracle.value import Value, tidy, uncertainty
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL
from hbc.ir.meaning.numpy_types import Array

Meaning = Callable[[Points], Value]


def access(e: ir.Access, indices: tuple[Meaning, ...], buffers: Buffers) -> Meaning:
    """What the access gives at some points. Raises HbcError when it leaves the array."""
    forms = tuple(linear(i) for i in e.indices)

    def read(points: Points) -> Value:
        stored = buffers(e.array)
        view = _view(stored, forms, points)
        if view is not None:
            return view
        return _gather(e, stored, tuple(index(points) for index in indices), points)

    return read


def _view(stored: Stored, forms: tuple[Linear | None, ...], points: Points) -> Value | None:
    """A strided view, when each index follows at most one axis, each axis once, all inside."""
    picks: list[int | slice] = []
    positions: list[int] = []
    for form, origin, extent in zip(forms, stored.origin, stored.shape, strict=True):
        if form is None:
            return None
        first, step, count, position = form.constant - origin, 0, 1, -1
        for name, k in form.terms:
            if name in points.lets:
                return None
            axis = points.axes.get(name)
            if axis is None:
                first += k * points.fixed[name]
                continue
            if step:
                return None
            first += k * axis.start
            step, count, position = k * axis.step, axis.count, axis.position
        last = first + step * (count - 1)
        if count and not (0 <= first < extent and 0 <= last < extent):
            return None
        if not step:
            picks.append(first)
            continue
        if position in positions:
            return None
        end: int | None = first + step * count
        picks.append(slice(first, None if end is not None and end < 0 else end, step))
        positions.append(position)
    x = _placed(stored.value.x, picks, positions, points.rank)
    e = stored.value.e
    return Value(x, None if e is None else _placed(e, picks, positions, points.rank))


def _placed(data: Array, picks: list[int | slice], positions: list[int], rank: int) -> Array:
    """The picked part with its axes at `positions` of `rank`."""
    part = data[tuple(picks)]
    order = sorted(range(len(positions)), key=positions.__getitem__)
    expanded = tuple(slice(None) if n in positions else None for n in range(rank))
    return np.transpose(part, order)[expanded]


def _gather(e: ir.Access, stored: Stored, indices: tuple[Value, ...], points: Points) -> Value:
    at = []
    unsure: Array = np.zeros((), np.bool_)
    lost: Array = np.zeros((), np.bool_)
    for dim, (index, origin) in enumerate(zip(indices, stored.origin, strict=True)):
        offset = index.x - origin
        outside = (offset < 0) | (offset >= stored.shape[dim])
        if index.e is not None:
            unsure = unsure | (index.e > 0)
        if not outside.any():
            at.append(offset)
            continue
        if points.perhaps is not None:
            lost = lost | (outside & points.perhaps)
        wrong = outside & points.certain
        if wrong.any():
            _refuse(e, stored, indices, np.argmax(np.broadcast_to(wrong, points.shape)), points)
        at.append(np.clip(offset, 0, max(stored.shape[dim] - 1, 0)))
    if not all(stored.shape):
        return Value(np.zeros(points.shape, stored.value.x.dtype))
    places = tuple(at)
    x = stored.value.x[places]
    error_at = None if stored.value.e is None else stored.value.e[places]
    if lost.any():
        known = uncertainty(Value(x, error_at), stored.element)
        error_at = np.where(lost, True if stored.element == BOOL else np.inf, known)
    if not unsure.any():
        return Value(x, error_at)
    spread = np.array(np.broadcast_to(uncertainty(Value(x, error_at), stored.element), x.shape))
    some = np.broadcast_to(unsure, x.shape)
    spread[some] = oracle_reach.read(
        stored,
        tuple(np.broadcast_to(i, x.shape)[some] for i in places),
        tuple(o[some] for o in oracle_reach.distances(indices, x.shape)),
    )
    return tidy(x, spread)


def _refuse(
    e: ir.Access, stored: Stored, indices: tuple[Value, ...], which: np.intp, points: Points
) -> None:
    here = np.unravel_index(which, points.shape)

    def value(x: Array) -> int:
        return int(np.broadcast_to(x, points.shape)[here])

    shown = ", ".join(str(value(index.x)) for index in indices)
    extents = " x ".join(map(str, stored.shape))
    where = ", ".join(f"{name} = {value(points.variable(name))}" for name in points.axes)
    raise error(
        f"`{e.array}[{shown}]` lies outside the extents {extents} of `{e.array}`"
        + (f" (at {where})" if where else ""),
        e.span,
        f"write `clamp_edge({e.array})` or `zero_edge({e.array})`, or make `{e.array}` larger",
    )

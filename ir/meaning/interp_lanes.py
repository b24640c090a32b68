"""What nodes are that make lanes of other lanes: a row each. And indices whose lanes are a scalar plus
constants, which the interpreter computes ahead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import I64, DType
from hbc.ir.meaning import arith, arith_cast
from hbc.ir.meaning.numpy_types import Array


@cache
def _ramp(element: DType, lanes: int) -> Callable[..., Array]:
    steps = arith_cast.cast(np.arange(lanes)[:, None], I64, element)

    def ramp(base: Array, stride: Array) -> Array:
        rows = base[..., None, :] + steps * stride[..., None, :]
        return np.asarray(rows.reshape(*rows.shape[:-2], -1))

    return ramp


@cache
def _reduction(op: ir.Op, element: DType, lanes: int) -> Callable[..., Array]:
    def reduction(x: Array) -> Array:
        runs = x.size // x.shape[-1] * lanes
        return arith.reduce(op, element, x.reshape(-1), runs).reshape(*x.shape[:-1], lanes)

    return reduction


@cache
def _gather(picks: tuple[int, ...]) -> Callable[..., Array]:
    at = np.array(picks)
    none = at < 0

    def gather(x: Array) -> Array:
        picked: Array = x[..., at]
        picked[..., none] = 0
        return picked

    return gather


LANES: Final[Mapping[type[ir.Lanes], Callable[[Any], Callable[..., Array]]]] = {
    ir.Ramp: lambda e: _ramp(e.type.element, e.lanes),
    ir.Broadcast: lambda e: _gather(tuple(range(e.value.type.lanes)) * e.lanes),
    ir.VectorReduce: lambda e: _reduction(e.op, e.type.element, e.lanes),
    ir.Gather: lambda e: _gather(e.lanes),
}
"""From a node to a function from its operands to its value, arrays whose last axis has their lanes."""


@dataclass(frozen=True, slots=True, eq=False)
class Offsets:
    """What the lanes are beyond the scalar. `adjacent`: each is the one before plus 1."""

    lanes: Array
    low: int
    high: int
    adjacent: bool


def offsets_of(e: ir.Expr) -> tuple[ir.Expr, Offsets] | None:
    """The scalar and the rest of an index vector; None where its lanes are not that simple."""
    if e.type.element != I64 or e.type.lanes == 1:
        return None
    split = _split(e)
    if split is None:
        return None
    base, lanes = split
    low, high = int(lanes.min()), int(lanes.max())
    if not -(1 << 40) < low <= high < 1 << 40:  # so that no sum wraps
        return None
    adjacent = bool((lanes == np.arange(low, low + len(lanes))).all())
    return base, Offsets(lanes, low, high, adjacent)


def _split(e: ir.Expr) -> tuple[ir.Expr, Array] | None:
    if e.type.lanes == 1:
        return e, np.zeros(1, np.int64)
    match e:
        case ir.Broadcast(value=value, lanes=lanes):
            inner = _split(value)
            return None if inner is None else (inner[0], np.tile(inner[1], lanes))
        case ir.Ramp(base=base, stride=stride, lanes=lanes):
            inner, step = _split(base), _constant(stride)
            if inner is None or step is None:
                return None
            outer = np.arange(lanes)[:, None] * step
            return inner[0], np.asarray(inner[1] + outer).ravel()
        case _:
            return None


def _constant(e: ir.Expr) -> Array | None:
    split = _split(e)
    if split is None or not isinstance(split[0], ir.Const):
        return None
    return split[1] + int(split[0].value)

"""What nodes are that make lanes of other lanes: a row each. And indices whose lanes are a scalar plus
constants, which the interpreter computes ahead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import I64, DType
from hbc.ir.meaning import arith, arith_cast
from hbc.ir.meaning.numpy_types import Array


@record
class Meaning:
    """`of`: a function from the operands of a node to its value, arrays whose last axis has their lanes.
    `wrong`: what is wrong with a node, or None."""

    of: Callable[[Any], Callable[..., Array]]
    wrong: Callable[[Any], str | None]


def _wrong_ramp(e: ir.Ramp) -> str | None:
    base, stride = e.base.type, e.stride.type
    if base != stride or not base.element.is_int:
        return f"a ramp of {base} with strides of {stride}"
    return None if e.lanes > 1 else f"a ramp of {e.lanes}"


@cache
def _ramp(element: DType, lanes: int) -> Callable[..., Array]:
    steps = arith_cast.cast(np.arange(lanes)[:, None], I64, element)

    def ramp(base: Array, stride: Array) -> Array:
        rows = base[..., None, :] + steps * stride[..., None, :]
        return np.asarray(rows.reshape(*rows.shape[:-2], -1))

    return ramp


def _wrong_broadcast(e: ir.Broadcast) -> str | None:
    return None if e.lanes > 1 else f"a broadcast to {e.lanes}"


def _wrong_reduction(e: ir.VectorReduce) -> str | None:
    if e.op not in ir.ASSOCIATIVE:
        return f"a reduction with `{e.op}`"
    lanes = e.value.type.lanes
    whole = e.lanes > 0 and lanes % e.lanes == 0
    return None if whole else f"a reduction of {lanes} lanes to {e.lanes}"


@cache
def _reduction(op: ir.Op, element: DType, lanes: int) -> Callable[..., Array]:
    def reduction(x: Array) -> Array:
        runs = x.size // x.shape[-1] * lanes
        return arith.reduce(op, element, x.reshape(-1), runs).reshape(*x.shape[:-1], lanes)

    return reduction


def _wrong_gather(e: ir.Gather) -> str | None:
    lanes = e.value.type.lanes
    if not e.lanes:
        return "a gather of no lanes"
    wrong = [p for p in e.lanes if not -1 <= p < lanes]
    return f"a gather of lane {wrong[0]} of {lanes}" if wrong else None


@cache
def _gather(picks: tuple[int, ...]) -> Callable[..., Array]:
    at = np.array(picks)
    none = at < 0

    def gather(x: Array) -> Array:
        picked: Array = x[..., at]
        picked[..., none] = 0
        return picked

    return gather


MEANINGS: Final[Mapping[type[ir.Lanes], Meaning]] = {
    ir.Ramp: Meaning(lambda e: _ramp(e.type.element, e.lanes), _wrong_ramp),
    ir.Broadcast: Meaning(
        lambda e: _gather(tuple(range(e.value.type.lanes)) * e.lanes), _wrong_broadcast
    ),
    ir.VectorReduce: Meaning(lambda e: _reduction(e.op, e.type.element, e.lanes), _wrong_reduction),
    ir.Gather: Meaning(lambda e: _gather(e.lanes), _wrong_gather),
}


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

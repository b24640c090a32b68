"""Where points lie in what is stored, and reading and writing there with the uncertainty."""

from __future__ import annotations

import numpy as np

from hbc.frontend.funcs import Update
from hbc.frontend.oracle_points import Points, Stored
from hbc.frontend.oracle_program import Program
from hbc.frontend.oracle_value import Value, uncertainty
from hbc.ir.numpy_types import Array


def places(program: Program, update: Update, stored: Stored, points: Points) -> tuple[Array, ...]:
    """Where the points are stored, as indices into the stored array."""
    indices = [program.meaning(i)(points).x for i in update.indices]
    offsets = [i - o for i, o in zip(indices, stored.origin, strict=True)]
    return tuple(np.broadcast_to(o, points.shape) for o in offsets)


def sliced(stored: Stored, target: tuple[slice, ...]) -> Value:
    """Part of what is stored."""
    e = stored.value.e
    return Value(stored.value.x[target], None if e is None else e[target])


def put(stored: Stored, target: tuple[slice, ...] | tuple[Array, ...], v: Value) -> None:
    """Writes values with their uncertainty."""
    stored.value.x[target] = v.x
    if v.e is not None or stored.value.e is not None:
        stored.raise_error(stored.shape)[target] = uncertainty(v, stored.element)

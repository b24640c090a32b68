"""Where points lie in what is stored, and reading and writing there with the uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hbc.frontend.oracle import reach as oracle_reach
from hbc.frontend.oracle.points import Points, Stored
from hbc.frontend.oracle.program import Program
from hbc.frontend.oracle.value import Value, taken, uncertainty
from hbc.frontend.program.funcs import Update
from hbc.ir.meaning.numpy_types import Array


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where points are stored, as indices into the stored array; `off` where that depends on how floats
    are rounded: how far from there each index may lie."""

    at: tuple[Array, ...]
    off: tuple[Array, ...] | None

    def where(self, mask: Array) -> Places:
        """Those of the points where the mask holds, in a row."""
        off = None if self.off is None else tuple(o[mask] for o in self.off)
        return Places(tuple(i[mask] for i in self.at), off)


def places(program: Program, update: Update, stored: Stored, points: Points) -> Places:
    """Where the points are stored."""
    indices = tuple(program.meaning(i)(points) for i in update.indices)
    offsets = [i.x - o for i, o in zip(indices, stored.origin, strict=True)]
    at = tuple(np.broadcast_to(o, points.shape) for o in offsets)
    sure = all(i.e is None for i in indices)
    return Places(at, None if sure else oracle_reach.distances(indices, points.shape))


def put_at(stored: Stored, places: Places, v: Value) -> None:
    """Writes values, each to where it belongs or to wherever it may belong."""
    if places.off is None:
        put(stored, places.at, v)
    else:
        whole = np.ones(places.at[0].shape, np.bool_)
        rows = places.where(whole)
        assert rows.off is not None
        oracle_reach.write(stored, rows.at, rows.off, taken(v, whole))


def sliced(stored: Stored, target: tuple[slice, ...]) -> Value:
    """Part of what is stored."""
    e = stored.value.e
    return Value(stored.value.x[target], None if e is None else e[target])


def put(stored: Stored, target: tuple[slice, ...] | tuple[Array, ...], v: Value) -> None:
    """Writes values with their uncertainty."""
    stored.value.x[target] = v.x
    if v.e is not None or stored.value.e is not None:
        stored.raise_error(stored.shape)[target] = uncertainty(v, stored.element)

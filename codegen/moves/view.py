"""Arrays of a movement that are not made: known gathers of others, merged into what reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather, Locations


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """An array as a gather of arrays that are held."""

    arrays: tuple[str, ...]
    gather: Gather


def composed(
    views: Mapping[str, View], size: Callable[[str], int], arguments: Sequence[str], gather: Gather
) -> View:
    """A gather of views as one of held arrays, whose elements `size` counts."""
    arrays: list[str] = []
    parts: list[Locations] = []
    start = 0
    for argument in arguments:
        view = views[argument]
        parts.append(np.where(view.gather.index >= 0, view.gather.index + start, view.gather.index))
        arrays += view.arrays
        start += sum(map(size, view.arrays))
    source = np.concatenate([*parts, [UNDEFINED, ZERO]])
    shapes = tuple((size(a),) for a in arrays)
    return View(tuple(arrays), Gather(shapes, gather.output, source[gather.index].astype(np.int32)))


def register_rows(
    view: View, index: Locations, lanes: int, size: Callable[[str], int]
) -> Locations:
    """[register, lane]: places in the registers, of so many lanes, of the view's arrays behind each other."""
    places: list[Locations] = []
    first = 0
    for array in view.arrays:
        places.append(np.arange(size(array), dtype=np.int32) + first * lanes)
        first += -(-size(array) // lanes)
    source = np.concatenate([*places, [UNDEFINED, ZERO]])
    rows = np.full(-(-index.size // lanes) * lanes, UNDEFINED, dtype=np.int32)
    rows[: index.size] = source[index]
    return rows.reshape(-1, lanes)

"""Sets of gathers of one type, kept by what distinguishes them.

Most sets vary few things: a register number for each thread and step, not one location for each
element. A set is a matrix of small codes, one row a gather, and a table of what each code means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import Gather, Locations, Shape

Codes = NDArray[Any]  # unsigned, of one byte or two
Formula = Callable[[int], str]  # how the n-th gather is written


@dataclass(frozen=True, slots=True, eq=False)
class GatherSet:
    """Gather h reads, at output location l, `source[l, codes[h, cell[l]]]`.

    Within a cell different codes mean different things, so equal rows are equal gathers; there are
    none. `source` holds locations of the arguments, ZERO or UNDEFINED."""

    inputs: tuple[Shape, ...]
    output: Shape
    codes: Codes
    cell: Locations
    source: Locations
    formula: Formula
    _computed: dict[str, NDArray[np.bool_]] = field(default_factory=dict, repr=False)

    @property
    def size(self) -> int:
        return int(self.codes.shape[0])

    def rows(self, chosen: NDArray[np.int64]) -> Locations:
        """The indices of some gathers, one row each."""
        codes = self.codes[chosen][:, self.cell]
        return self.source[np.arange(self.cell.size), codes]

    def gather(self, number: int) -> Gather:
        return Gather(self.inputs, self.output, self.rows(np.array([number]))[0])

    def subset(self, kept: NDArray[np.int64]) -> GatherSet:
        """Some of the gathers, in the order given."""
        formula = self.formula
        return GatherSet(
            self.inputs, self.output, self.codes[kept], self.cell, self.source,
            lambda number: formula(int(kept[number])),
        )  # fmt: skip

    def used(self) -> NDArray[np.bool_]:
        """[cell, code]: whether any gather has this code there."""
        if "used" not in self._computed:
            used = np.zeros((self.codes.shape[1], self.source.shape[1]), dtype=np.bool_)
            used[np.arange(self.codes.shape[1]), self.codes] = True
            self._computed["used"] = used
        return self._computed["used"]

    def reach(self) -> NDArray[np.bool_]:
        """[output location, input location]: whether any gather reads the one from the other. Two
        more columns stand for UNDEFINED and ZERO, as their numbers, -2 and -1, say."""
        if "reach" not in self._computed:
            size = sum(map(prod, self.inputs)) + 2
            reach = np.zeros((self.cell.size, size), dtype=np.bool_)
            where, code = np.nonzero(self.used()[self.cell])
            reach[where, self.source[where, code]] = True
            self._computed["reach"] = reach
        return self._computed["reach"]


def unique_rows(matrix: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers of the rows that equal no earlier row, ascending. Exact."""
    if len(matrix) < 2:
        return np.arange(len(matrix))
    first, _ = grouped_rows(matrix)
    return np.sort(first)


def grouped_rows(matrix: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each distinct row the number of its first appearance; for each row the number of its group.

    Rows are compared by a hash and then in full, so that no two different rows ever meet."""
    flat = np.ascontiguousarray(matrix.reshape(len(matrix), -1))
    hashes = row_hashes(flat)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(flat, flat[first[group]]):
        packed = flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1]))).reshape(-1)
        _, first, group = np.unique(packed, return_index=True, return_inverse=True)
    return first.astype(np.int64), group.reshape(-1).astype(np.int64)


def row_hashes(flat: NDArray[Any]) -> NDArray[np.uint64]:
    """64 bits for each row: a polynomial in an odd constant, word by word."""
    width = flat.shape[1] * flat.dtype.itemsize
    padded = np.zeros((len(flat), -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = flat.view(np.uint8).reshape(len(flat), width)
    words = padded.view(np.uint64)
    hashes = np.zeros(len(flat), dtype=np.uint64)
    for column in range(words.shape[1]):
        hashes ^= words[:, column]
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def of_rows(inputs: Sequence[Shape], output: Shape, rows: Locations, formula: Formula) -> GatherSet:
    """The set of gathers given by their indices. Later equals of earlier ones are dropped."""
    kept = unique_rows(rows)
    rows = rows[kept]
    patterns: dict[bytes, int] = {}
    cell = np.zeros(rows.shape[1], dtype=np.int32)
    codes: list[NDArray[np.int64]] = []
    meanings: list[Locations] = []
    for location in range(rows.shape[1]):
        meaning, code = _by_appearance(rows[:, location])
        number = patterns.setdefault(code.tobytes(), len(codes))
        if number == len(codes):
            codes.append(code)
        cell[location] = number
        meanings.append(meaning)
    widest = max(map(len, meanings), default=0) or 1
    source = np.zeros((rows.shape[1], widest), dtype=np.int32)
    for location, meaning in enumerate(meanings):
        source[location, : len(meaning)] = meaning
        source[location, len(meaning) :] = meaning[0] if meaning.size else 0
    matrix = np.stack(codes, axis=1) if codes else np.zeros((len(rows), 0))
    small = matrix.astype(np.uint8 if widest <= 256 else np.uint16)
    return GatherSet(
        tuple(inputs), output, small, cell, source, lambda number: formula(int(kept[number]))
    )


def _by_appearance(column: Locations) -> tuple[Locations, NDArray[np.int64]]:
    """The distinct values in the order in which they appear, and for each row which it is."""
    values, first, code = np.unique(column, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return values[order], rank[code.reshape(-1)]

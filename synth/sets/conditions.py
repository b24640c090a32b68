"""Sets of gathers that depend on comparisons of indices: selecting registers, keeping elements.

A condition is `d_a op c + d_b` or `d_a op c - d_b` over dimensions a, b and constants c. Many are
equal; they are kept as bit masks over the dimensions that they may mention.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import ZERO, Shape
from hbc.synth.sets.gather_set import GatherSet, grouped_rows, unique_rows
from hbc.synth.sets.xforms import VARIABLES, read_at

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<": operator.lt, "==": operator.eq, "!=": operator.ne,
    "<=": operator.le, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conditions:
    """`masks[c]` says where condition c holds, over the cells of the dimensions `dims`."""

    masks: NDArray[np.bool_]
    texts: tuple[str, ...]


def conditions(shape: Shape, dims: Sequence[int], consts: Sequence[int]) -> Conditions:
    """All distinct ones, the simplest text of each."""
    extents = [shape[d] for d in dims]
    index = np.indices(extents).reshape(len(dims), -1)
    masks: list[NDArray[np.bool_]] = []
    texts: list[str] = []
    for const in sorted(consts, key=lambda c: (abs(c), -c)):
        for sign in (1, -1):
            for a in range(len(dims)):
                for b in range(len(dims)):
                    for name, compare in OPERATORS.items():
                        masks.append(compare(index[a], const + sign * index[b]))
                        left, right = VARIABLES[dims[a]], VARIABLES[dims[b]]
                        texts.append(f"{left} {name} {_sum(const, sign, right)}")
    matrix = np.array(masks)
    kept = unique_rows(np.packbits(matrix, axis=1))
    return Conditions(matrix[kept], tuple(texts[int(k)] for k in kept))


def _sum(const: int, sign: int, name: str) -> str:
    if const == 0:
        return name if sign > 0 else f"-{name}"
    if sign < 0:
        return f"{const} - {name}"
    return f"{name} {'+' if const > 0 else '-'} {abs(const)}"


def select(
    source: Shape, output: Shape, axis: int, dims: Sequence[int], consts: Sequence[int]
) -> GatherSet:
    """Which of the q elements along `axis` to take: the first condition that holds says it. Tuples of
    q - 1 conditions, kept as disjoint layers."""
    clauses = conditions(output, dims, consts)
    layers, chosen = layered(clauses.masks.tobytes(), clauses.masks.shape[1], source[axis] - 1)
    cell = _cells(output, dims)
    index = np.indices(output).reshape(len(output), -1)
    strides = [prod(source[d + 1 :]) for d in range(len(source))]
    index[axis] = 0
    fixed = np.array(strides) @ index
    taken = np.arange(source[axis]) * strides[axis]
    locations = fixed[:, None] + taken[None, :]

    def formula(number: int) -> str:
        value = str(source[axis] - 1)
        for register in reversed(range(source[axis] - 1)):
            condition = clauses.texts[int(chosen[number, register])]
            value = f"if {condition} then {register} else {value}"
        return read_at(len(output), axis, value)

    return GatherSet((source,), output, layers, cell, locations.astype(np.int32), formula)


@lru_cache(maxsize=4)
def layered(packed: bytes, cells: int, count: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The distinct ways in which `count` conditions, tried in turn, divide the cells: [way, cell] of
    which holds first (`count` where none does), and the conditions of each way. `packed`: where each
    condition holds, a byte for each cell.

    Built layer by layer, equal prefixes once: 80 million triples of conditions are 135,190 ways. Both
    axes of a stencil have the same ones."""
    masks = np.frombuffer(packed, dtype=np.bool_).reshape(-1, cells)
    ways = np.full((1, cells), count, dtype=np.uint8)
    chosen = np.zeros((1, 0), dtype=np.int32)
    for layer in range(count):
        open_, group = grouped_rows(np.packbits(ways == count, axis=1))
        made: list[NDArray[np.uint8]] = []
        names: list[NDArray[np.int32]] = []
        for number, first in enumerate(open_):
            free = ways[first] == count
            distinct = unique_rows(np.packbits(masks & free, axis=1))
            members = np.flatnonzero(group == number)
            rows = np.repeat(ways[members], len(distinct), axis=0)
            new = np.tile(masks[distinct] & free, (len(members), 1))
            rows[new] = layer
            made.append(rows)
            before = np.repeat(chosen[members], len(distinct), axis=0)
            after = np.tile(distinct.astype(np.int32), len(members))[:, None]
            names.append(np.hstack([before, after]))
        ways, chosen = np.concatenate(made), np.concatenate(names)
    order = np.lexsort(chosen.T[::-1])
    return ways[order], chosen[order]


def keep(
    shape: Shape, dims: Sequence[int], consts: Sequence[int], only: tuple[int, int] | None
) -> GatherSet:
    """Keeps elements where a condition holds, 0 elsewhere; always and never. With `only` = (d, v)
    that happens where index d is v, and the rest is kept."""
    clauses = conditions(shape, dims, consts)
    count = clauses.masks.shape[1]
    masks = np.vstack(
        [np.ones((1, count), np.bool_), np.zeros((1, count), np.bool_), clauses.masks]
    )
    texts = ("", "never", *clauses.texts)
    cell = _cells(shape, dims)
    locations = np.arange(prod(shape), dtype=np.int32)
    outside = np.zeros(prod(shape), dtype=np.bool_)
    if only is not None:
        outside = np.indices(shape).reshape(len(shape), -1)[only[0]] != only[1]
        # Cells whose elements all lie outside must not distinguish anything.
        inside = np.zeros(count, dtype=np.bool_)
        inside[cell[~outside]] = True
        masks = masks | ~inside
    kept = unique_rows(np.packbits(masks, axis=1))
    codes = masks[kept].astype(np.uint8)
    source = np.stack([np.where(outside, locations, ZERO), locations], axis=1)

    def formula(number: int) -> str:
        text = texts[int(kept[number])]
        whole = read_at(len(shape), -1, "")
        if not text:
            return whole
        value = "0" if text == "never" else f"if {text} then {whole} else 0"
        if only is None:
            return value
        return f"if {VARIABLES[only[0]]} != {only[1]} then {whole} else {value}"

    return GatherSet((shape,), shape, codes, cell, source.astype(np.int32), formula)


def _cells(shape: Shape, dims: Sequence[int]) -> NDArray[np.int32]:
    index = np.indices(shape).reshape(len(shape), -1)
    extents = [shape[d] for d in dims]
    cells: NDArray[np.int32] = np.ravel_multi_index([index[d] for d in dims], extents).astype(
        np.int32
    )
    return cells

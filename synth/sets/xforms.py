"""Fans and rotations with grouping: the expressions that swizzles on GPUs are written with.

With i the index of dimension `main` and k that of `second`, component `out` of the index becomes, for
a group size g, factors cf and cr and a divisor dr:

    floor(i/g)*g + (cf*ig + floor(ig/df) + rot) mod g     ig = i mod g, df = g / gcd(g, cf)
                                                          rot = cr*k + floor(k/dr)

Where rows of the fan meet again (gcd(g, cf) > 1), `wrap` takes rot modulo that gcd: alone
(`wrap=outer`, as Swizzleflow's tool), or together with floor(ig/df) (`wrap=inner`, Swizzle Inventor).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import Shape
from hbc.synth.sets.gather_set import Codes, GatherSet, unique_rows

VARIABLES = "ijklmnpq"
VALUES_AT_A_TIME = 3  # made, in one array, and side by side with what they equal


@dataclass(frozen=True, slots=True)
class Axes:
    """Which dimensions take part."""

    main: int
    second: int
    out: int


@dataclass(frozen=True, slots=True)
class Fan:
    """The parameters of one gather; wrap is 0 (no), 1 (outer) or 2 (inner)."""

    group: int
    wrap: int
    cf: int
    cr: int
    dr: int


def divisors(number: int) -> list[int]:
    """From 2 up; of 1, only 1."""
    return [d for d in range(2, number + 1) if number % d == 0] or [1]


class TooMany(Exception):
    """So many gathers of so many elements do not fit into the room given; `needed` in bytes."""

    def __init__(self, gathers: int, elements: int, needed: int) -> None:
        super().__init__(f"{gathers} gathers")
        self.gathers, self.elements, self.needed = gathers, elements, needed


def xforms(
    source: Shape, output: Shape, axes: Axes, grouped: bool, inner: bool, room: int
) -> GatherSet:
    """All of them, equal ones once, simplest first. TooMany where the values that are compared take more
    than `room` bytes."""
    extent, second = output[axes.main], output[axes.second]
    n = source[axes.out]
    groups = divisors(n)[::-1] if grouped else [n]
    parameters: list[NDArray[np.int16]] = []
    values: list[Codes] = []
    small = code_type(n)
    i = np.arange(extent)
    turned = {g: rotations(g, second) for g in groups}
    wraps = (0, 2 if inner else 1) if grouped else (0,)
    # As many factors as there are values, and -1, which 1 is for one value.
    count = len(wraps) * sum((max(g, 2) + 1) * len(rot) for g, (rot, _) in turned.items())
    needed = VALUES_AT_A_TIME * small.itemsize * count * extent * second
    if needed > room:
        raise TooMany(count, extent * second, needed)
    if source == output and axes.out in (axes.main, axes.second):
        unmoved = (
            np.repeat(i, second) if axes.out == axes.main else np.tile(np.arange(second), extent)
        )
        values.append(unmoved.astype(small)[None])
        parameters.append(np.zeros((1, 5), dtype=np.int16))
    for wrap in wraps:
        for g in groups:
            rot, named = turned[g]
            for cf in (1, 0, *range(2, g), -1):
                fan = fanned(i, rot, g, cf, wrap)
                values.append(fan.reshape(len(rot), -1).astype(small))
                head = np.array([g, wrap, cf], dtype=np.int16)
                parameters.append(np.hstack([np.tile(head, (len(rot), 1)), named]))
    matrix, given = np.concatenate(values), np.concatenate(parameters)
    del values  # as large again
    kept = unique_rows(matrix)
    given = given[kept]
    return replaced(
        source, output, axes, matrix[kept],
        lambda number: show(Fan(*map(int, given[number])), source, output, axes),
    )  # fmt: skip


def rotations(g: int, second: int) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """The distinct vectors (cr*k + floor(k/dr)) mod g over k, and the (cr, dr) of each."""
    k = np.arange(second)
    pairs = [(cr, dr) for cr in (0, 1, *range(2, g), -1) for dr in divisors(second)[::-1]]
    vectors = np.array([(cr * k + k // dr) % g for cr, dr in pairs])
    kept = unique_rows(vectors)
    return vectors[kept], np.array(pairs, dtype=np.int16)[kept]


def fanned(
    i: NDArray[np.int64], rot: NDArray[np.int64], g: int, cf: int, wrap: int
) -> NDArray[np.int64]:
    """[rotation, i, k]: the value."""
    common = g if cf == 0 else gcd(g, abs(cf))
    df = g // common
    ig = i % g
    base, fan, conflict = (i // g * g)[:, None], (cf * ig)[:, None], (ig // df)[:, None]
    if wrap == 2:
        rotated: NDArray[np.int64] = base + (fan + (conflict + rot[:, None, :]) % common) % g
        return rotated
    turned = rot[:, None, :] % common if wrap else rot[:, None, :]
    rotated = base + (fan + conflict + turned) % g
    return rotated


def rots(source: Shape, output: Shape, main: int, grouped: bool) -> GatherSet:
    """(i + c) mod g within groups of g, for every c, and the identity. g divides the input's extent,
    of which the output may be a part."""
    n = source[main]
    i = np.arange(output[main])
    pairs = [(1, 0)]
    pairs += [
        (g, c)
        for g in (divisors(n)[::-1] if grouped else [n])
        for c in (*range(g), *range(1 - g, 0))
    ]
    values = np.array([(i + c) % g + i // g * g for g, c in pairs], dtype=np.int16)
    kept = unique_rows(values)

    def formula(number: int) -> str:
        g, c = pairs[int(kept[number])]
        name = VARIABLES[main]
        turned = name if c == 0 else f"({name} {'+' if c > 0 else '-'} {abs(c)}) % {g}"
        value = turned if g == n or c == 0 else f"{name} / {g} * {g} + {turned}"
        return read_at(len(output), main, value)

    return replaced(source, output, Axes(main, main, main), values[kept], formula)


def code_type(values: int) -> np.dtype[Any]:
    """The smallest type of numbers below so many."""
    return np.dtype(np.uint8 if values <= 256 else np.uint16)


def replaced(
    source: Shape, output: Shape, axes: Axes, values: NDArray[Any], formula: object
) -> GatherSet:
    """The set whose gathers replace component `out` by `values[:, (i, k)]`."""
    index = np.indices(output).reshape(len(output), -1)
    if axes.main == axes.second:
        cell = index[axes.main].copy()
    else:
        cell = index[axes.main] * output[axes.second] + index[axes.second]
    strides = [prod(source[d + 1 :]) for d in range(len(source))]
    index[axes.out] = 0
    fixed = np.array(strides) @ index
    taken = np.arange(source[axes.out]) * strides[axes.out]
    locations = fixed[:, None] + taken[None, :]
    codes: Codes = values.astype(code_type(source[axes.out]), copy=False)
    assert callable(formula)
    return GatherSet(
        (source,), output, codes, cell.astype(np.int32), locations.astype(np.int32), formula
    )


def show(fan: Fan, source: Shape, output: Shape, axes: Axes) -> str:
    """The formula, without the terms that are zero."""
    name = VARIABLES[axes.main]
    if fan.group == 0:
        return read_at(len(source), axes.out, VARIABLES[axes.out])
    g, grouped = fan.group, fan.group < output[axes.main]
    common = g if fan.cf == 0 else gcd(g, abs(fan.cf))
    ig = f"{name} % {g}" if grouped else name
    spread = scaled(fan.cf, ig)
    extent = min(g, output[axes.main])
    conflict = "" if g // common >= extent else f"{bracket(ig)} / {g // common}"
    k = VARIABLES[axes.second]
    rot = [scaled(fan.cr, k), "" if fan.dr >= output[axes.second] else f"{k} / {fan.dr}"]
    if fan.wrap == 2:
        inner = joined([conflict, *rot])
        value = joined([spread, f"({inner}) % {common}" if inner else ""])
    elif fan.wrap == 1:
        inner = joined(rot)
        value = joined([spread, conflict, f"({inner}) % {common}" if inner else ""])
    else:
        value = joined([spread, conflict, *rot])
    whole = f"({value}) % {g}" if value else "0"
    if value == name and not grouped:
        whole = name
    return read_at(len(source), axes.out, f"{name} / {g} * {g} + {whole}" if grouped else whole)


def scaled(factor: int, name: str) -> str:
    if factor in (0, 1, -1):
        return {0: "", 1: name, -1: f"-{bracket(name)}"}[factor]
    return f"{factor}*{bracket(name)}"


def bracket(text: str) -> str:
    return f"({text})" if " " in text else text


def joined(parts: list[str]) -> str:
    """A sum; parts that begin with a minus are subtracted."""
    kept = [part for part in parts if part]
    if not kept:
        return ""
    return kept[0] + "".join(f" - {p[1:]}" if p.startswith("-") else f" + {p}" for p in kept[1:])


def read_at(rank: int, axis: int, value: str) -> str:
    """`a[i, value]`"""
    return f"a[{', '.join(value if d == axis else VARIABLES[d] for d in range(rank))}]"

"""Accesses of one array whose rows lie a stride apart that is not known: as if it were a number.

    T[8 * t * stride + i]    ->    T[256 * t + i], where i takes 32 values

Rows do not meet, so that two accesses of the same element are of the same row and of the same place in
it, and of the same number whatever number stands for the stride. One so large that rows do not meet
either tells most others apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from hbc.codegen.threads.access import ThreadAccess
from hbc.codegen.threads.elements import offsets
from hbc.ir.algebra.linear import Linear, plus
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import substitute


@record
class _Span:
    """What an access touches: base + low .. base + high, where base is the same for all threads."""

    base: Linear
    low: int
    high: int


@mutable
class Rows:
    """What has been found out of accesses: how they are with numbers for the `strides`, and what
    those touch."""

    strides: frozenset[str]
    put: dict[tuple[ThreadAccess, tuple[int, ...]], ThreadAccess] = field(default_factory=dict)
    spans: dict[ThreadAccess, _Span | None] = field(default_factory=dict)


def with_numbers(
    one: ThreadAccess, other: ThreadAccess, rows: Rows
) -> tuple[ThreadAccess, ThreadAccess] | None:
    """The two accesses with numbers for the strides of their array; None where they have none, or
    where nobody knows what they touch of a row."""
    if one.index is None or other.index is None:
        return None
    used = (one.names | other.names) & rows.strides
    if not used:
        return None
    numbers = dict.fromkeys(sorted(used), 0)
    for name in sorted(used, reverse=True):  # rows first, then planes
        width = _width(_put(one, numbers, rows), _put(other, numbers, rows), rows)
        if width is None:
            return None
        numbers[name] = width
    return _put(one, numbers, rows), _put(other, numbers, rows)


def _put(a: ThreadAccess, numbers: Mapping[str, int], rows: Rows) -> ThreadAccess:
    assert a.index is not None
    own = {name: n for name, n in numbers.items() if name in a.names}
    if not own:
        return a
    key = a, tuple(own.values())
    if key not in rows.put:
        values = {name: ir.const_index(n) for name, n in own.items()}
        rows.put[key] = replace(a, index=simplify(substitute(a.index, values)))
    return rows.put[key]


def _width(one: ThreadAccess, other: ThreadAccess, rows: Rows) -> int | None:
    """A number that what both touch, apart from what is the same for all threads, lies within: a power
    of 2, so that few are asked for."""
    first, second = _span(one, rows), _span(other, rows)
    if first is None or second is None:
        return None
    gap = plus(first.base, second.base, -1)
    far = abs(gap.constant) if gap.is_constant else 0
    return 1 << (max(first.high, second.high) - min(first.low, second.low) + far).bit_length()


def _span(a: ThreadAccess, rows: Rows) -> _Span | None:
    if a not in rows.spans:
        reached = offsets(a, a.digits, a.loops)
        span = (
            None
            if reached is None
            else _Span(reached[0], int(reached[1].min()), int(reached[1].max()))
        )
        rows.spans[a] = span
    return rows.spans[a]

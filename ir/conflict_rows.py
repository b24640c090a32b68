"""Accesses of one array whose rows lie a stride apart that is not known: as if it were a number.

    T[8 * t * stride + i]    ->    T[256 * t + i], where i takes 32 values

Rows do not meet, so that two accesses of the same element are of the same row and of the same place in
it, and of the same number whatever number stands for the stride. One so large that rows do not meet
either tells most others apart.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hbc.ir.linear import plus
from hbc.ir.nodes import Expr, const_index
from hbc.ir.simplify import simplify
from hbc.ir.thread_access import ThreadAccess
from hbc.ir.thread_elements import offsets
from hbc.ir.walk import free_variables, substitute

Numbered = dict[tuple[ThreadAccess, tuple[Expr, ...]], ThreadAccess]
"""Accesses with numbers for their strides, as far as they have been asked for."""


def with_numbers(
    one: ThreadAccess, other: ThreadAccess, strides: Collection[str], known: Numbered
) -> tuple[ThreadAccess, ThreadAccess] | None:
    """The two accesses with numbers for the strides of their array; None where they have none, or
    where nobody knows what they touch of a row."""
    if one.index is None or other.index is None:
        return None
    used = (free_variables(one.index) | free_variables(other.index)).intersection(strides)
    if not used:
        return None
    numbers: dict[str, Expr] = dict.fromkeys(sorted(used), const_index(0))
    for name in sorted(used, reverse=True):  # rows first, then planes
        width = _width(_put(one, numbers, known), _put(other, numbers, known))
        if width is None:
            return None
        numbers[name] = const_index(width)
    return _put(one, numbers, known), _put(other, numbers, known)


def _put(a: ThreadAccess, numbers: dict[str, Expr], known: Numbered) -> ThreadAccess:
    assert a.index is not None
    key = a, tuple(numbers.values())
    if key not in known:
        known[key] = replace(a, index=simplify(substitute(a.index, numbers)))
    return known[key]


def _width(one: ThreadAccess, other: ThreadAccess) -> int | None:
    """A number that what both touch, apart from what is the same for all threads, lies within."""
    first, second = (offsets(a, a.digits, a.loops) for a in (one, other))
    if first is None or second is None:
        return None
    gap = plus(first[0], second[0], -1)
    far = abs(gap.constant) if gap.is_constant else 0
    low = min(int(first[1].min()), int(second[1].min()))
    high = max(int(first[1].max()), int(second[1].max()))
    return high - low + 1 + far

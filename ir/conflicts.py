"""Accesses of a GPU's block that wait for a barrier, and which of them another access conflicts with.

Two accesses conflict when they touch the same element in different threads, and one of them stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from hbc.ir.build import sub
from hbc.ir.launches import WARP
from hbc.ir.linear import Linear, linear, plus, to_expr
from hbc.ir.linear_form import coefficient
from hbc.ir.nodes import Expr, Var
from hbc.ir.thread_access import Counted, ThreadAccess
from hbc.ir.thread_elements import NOBODY, Elements, differences, elements
from hbc.ir.walk import free_variables, substitute

_BACK = "iterations back"  # not a name that a program can have


class Level(IntEnum):
    """Who must wait for whom."""

    NONE = 0
    WARP = 1
    BLOCK = 2


@dataclass(frozen=True, slots=True)
class Pending:
    """An access since the last barrier of the block. `synced`: a barrier of its warp came after it.
    `once` and `often` are the loops around both in whose last iteration it was, or in one before."""

    access: ThreadAccess
    synced: bool = False
    once: frozenset[str] = frozenset()
    often: frozenset[str] = frozenset()

    def next_iteration(self, name: str) -> Pending:
        """As seen from the next iteration of a loop."""
        if name in self.once | self.often:
            return replace(self, once=self.once - {name}, often=self.often | {name})
        return replace(self, once=self.once | {name})

    def after_loop(self, loop: Counted) -> Pending:
        """As seen from behind a loop: it was in any of its iterations."""
        index, loops = self.access.index, self.access.loops
        if index is not None and loop.name in free_variables(index):
            index = substitute(index, {loop.name: _at(loop)})
            loops = (*loops, loop)
        out = frozenset({loop.name})
        access = replace(self.access, index=index, loops=loops)
        return Pending(access, self.synced, self.once - out, self.often - out)

    def without_name(self, name: str) -> Pending:
        """As seen from where a name has no meaning: what depends on it may be anything."""
        index = self.access.index
        if index is None or name not in free_variables(index):
            return self
        return replace(self, access=replace(self.access, index=None))


def _at(loop: Counted) -> Expr:
    return to_expr(plus(linear(loop.start), linear(Var(loop.name))))


@dataclass(slots=True)
class Conflicts:
    """Remembers what each access touches."""

    found: dict[ThreadAccess, Elements | None] = field(default_factory=dict)

    def level(self, waiting: Iterable[Pending], now: Iterable[ThreadAccess]) -> Level:
        """The barrier that is needed before the accesses `now`."""
        needed = Level.NONE
        later = list(now)
        for p in waiting:
            for a in later:
                if p.access.buffer == a.buffer and (p.access.stores or a.stores):
                    level = self._between(p, a)
                    if level is Level.BLOCK:
                        return level
                    needed = max(needed, Level.NONE if p.synced else level)
        return needed

    def _elements(self, a: ThreadAccess) -> Elements | None:
        if a not in self.found:
            self.found[a] = elements(a)
        return self.found[a]

    def _between(self, p: Pending, a: ThreadAccess) -> Level:
        one, other = self._elements(p.access), self._elements(a)
        if one is None or other is None:
            return Level.BLOCK
        shifts = _shifts(p, one, other)
        if shifts is None:
            return Level.BLOCK
        return max((_overlap(one, other, x) for x in shifts), default=Level.NONE)


@dataclass(frozen=True, slots=True)
class Never:
    """Where nothing is to wait: to collect all accesses."""

    def level(self, waiting: Iterable[Pending], now: Iterable[ThreadAccess]) -> Level:
        return Level.NONE


def _shifts(p: Pending, one: Elements, other: Elements) -> Iterable[int] | None:
    """How far the elements of an earlier access may lie from where they were enumerated, as seen from
    the later one: base - base. None where that may be anything."""
    base = one.base
    for name in p.once:
        base = _earlier(base, name, lambda v: sub(v, 1))
    many = [n for n in p.often if any(n in free_variables(atom) for atom, _ in base.terms)]
    if not many:
        return differences(base, other.base)
    if len(many) > 1:
        return None
    gap = plus(_earlier(base, many[0], lambda v: sub(v, Var(_BACK))), other.base, -1)
    step = coefficient(gap, _BACK)
    if step == 0 or len(gap.terms) > 1:
        return None
    # Two iterations back, or more: only so many distances let the two meet.
    reach = len(one.low) + len(other.low) + abs(one.first) + abs(other.first) + abs(gap.constant)
    return [gap.constant + step * d for d in range(2, 3 + reach // abs(step))]


def _earlier(base: Linear, name: str, before: Callable[[Expr], Expr]) -> Linear:
    return linear(substitute(to_expr(base), {name: before(Var(name))}))


def _overlap(one: Elements, other: Elements, shift: int) -> Level:
    """What the elements that both touch ask for, the first moved by so many."""
    start = max(one.first + shift, other.first)
    end = min(one.first + shift + len(one.low), other.first + len(other.low))
    if start >= end:
        return Level.NONE
    a = slice(start - one.first - shift, end - one.first - shift)
    b = slice(start - other.first, end - other.first)
    both = (one.low[a] < NOBODY) & (other.low[b] < NOBODY)
    low = np.minimum(one.low[a], other.low[b])[both]
    high = np.maximum(one.high[a], other.high[b])[both]
    if (low // WARP != high // WARP).any():
        return Level.BLOCK
    return Level.WARP if (low != high).any() else Level.NONE

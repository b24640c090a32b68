"""Accesses of a GPU's block that wait for a barrier, and which of them another access conflicts with.

Two accesses conflict when they touch the same element in different threads, and one of them stores; not
when both are atomic updates by one operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from enum import IntEnum

import numpy as np

from hbc.codegen.threads.access import Counted, ThreadAccess
from hbc.codegen.threads.cases import cases, is_mixed
from hbc.codegen.threads.digits import as_numbers
from hbc.codegen.threads.elements import NOBODY, Elements, differences, elements
from hbc.codegen.threads.rows import Rows, with_numbers
from hbc.ir.algebra.bounds import constant_bounds, prove
from hbc.ir.algebra.facts import Facts, Interval
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import Linear, linear, plus, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import floordiv, ge, le, mul, sub
from hbc.ir.lang.launches import WARP
from hbc.ir.lang.walk import free_variables, rewrite, substitute

MANY = -1
LANDED = -1
MOST_COUNTED = 8  # iterations back that are told apart
MANY_COMMITS = 32  # more groups than any wait leaves under way
_BACK = "iterations back"  # not a name that a program can have


class SyncScope(IntEnum):
    """Who must wait for whom."""

    NONE = 0
    WARP = 1
    BLOCK = 2


@record
class UnsyncedAccess:
    """An access since the last barrier of the block. `synced`: a barrier of its warp came after it.
    `back`: by loop around both, how many iterations ago it was, or MANY. `commits`: of an asynchronous
    copy or product that has not been waited for, how many there were since; barriers do not end it.
    `fenced`: of a store, that a fence of its thread came after it. `passed`: a barrier of the block did, but
    no fence before it: products do not see it yet."""

    access: ThreadAccess
    synced: bool = False
    back: tuple[tuple[str, int], ...] = ()
    commits: int = LANDED
    fenced: bool = False
    passed: bool = False

    @staticmethod
    def of(access: ThreadAccess) -> UnsyncedAccess:
        return UnsyncedAccess(access, commits=0 if access.asynchronous else LANDED)

    @property
    def landed(self) -> bool:
        return self.commits == LANDED

    def committed(self, products: bool) -> UnsyncedAccess:
        """As seen from behind the end of a group, of copies or products."""
        if self.landed or self.access.by_product is not products:
            return self
        return replace(self, commits=min(self.commits + 1, MANY_COMMITS))

    def waited(self, most: int, products: bool) -> UnsyncedAccess:
        """As seen from behind a wait for all groups but for so many."""
        waits = self.access.by_product is products and self.commits > most
        return replace(self, commits=LANDED) if waits else self

    def behind_fence(self) -> UnsyncedAccess:
        """As seen from behind a fence of stores."""
        return replace(self, fenced=True) if self.landed and self.access.stores else self

    def next_iterations(
        self, name: str, extent: int | None, lasts: bool
    ) -> Iterator[UnsyncedAccess]:
        """As seen from the next iteration of a loop, or from all later ones where it `lasts`; nothing
        where there are none so far on. Iterations are told apart where the access depends on them."""
        if name not in self.access.outside:
            if extent is None or extent > 1:
                yield self
            return
        others = tuple(x for x in self.back if x[0] != name)
        count = dict(self.back).get(name, 0)
        if count == MANY:
            yield self
        while count != MANY:
            count += 1
            if extent is not None and count >= extent:
                return
            if count == MOST_COUNTED:
                count = MANY
            back = tuple(sorted((*others, (name, count))))
            yield replace(self, back=back)
            if not lasts:
                return

    def after_loop(self, loop: Counted) -> UnsyncedAccess:
        """As seen from behind a loop: it was in any of its iterations."""
        back = tuple(x for x in self.back if x[0] != loop.name)
        return replace(self, access=self.access.after_loop(loop), back=back)

    def without_name(self, name: str) -> UnsyncedAccess:
        """As seen from where a name has no meaning, or another."""
        if name not in self.access.outside:
            return self
        return replace(self, access=self.access.without_name(name))


def _matter(one: ThreadAccess, other: ThreadAccess) -> bool:
    """Whether it makes a difference which of the two comes first, where they touch the same."""
    if one.atomic is not None and one.atomic is other.atomic:
        return False
    return one.stores or other.stores


@mutable
class Conflicts:
    """Remembers what each access touches. `strides` are those of arguments, in which rows do not meet."""

    strides: frozenset[str] = frozenset()
    found: dict[ThreadAccess, Elements | None] = field(default_factory=dict)
    known: dict[tuple[object, ...], SyncScope] = field(default_factory=dict)
    origins: dict[ThreadAccess, tuple[str, int]] = field(default_factory=dict)
    around: dict[int, Facts] = field(default_factory=dict)
    levels: dict[tuple[object, ...], SyncScope | None] = field(default_factory=dict)
    apart: dict[tuple[object, ...], bool] = field(default_factory=dict)
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.rows = Rows(self.strides)

    def level(
        self, waiting: Iterable[UnsyncedAccess], now: Iterable[ThreadAccess], facts: Facts
    ) -> SyncScope:
        """The barrier that is needed before the accesses `now`. `facts` are of names around them. None
        ends a copy that has not landed."""
        needed = SyncScope.NONE
        for _, _, level in self.pairs(waiting, now, facts):
            if level is SyncScope.BLOCK:
                return level
            needed = max(needed, level)
        return needed

    def pairs(
        self, waiting: Iterable[UnsyncedAccess], now: Iterable[ThreadAccess], facts: Facts
    ) -> Iterator[tuple[UnsyncedAccess, ThreadAccess, SyncScope]]:
        """Each access that waits with each of `now` that it conflicts with, and who must wait."""
        later = list(now)
        self.around[id(facts)] = facts  # kept, so that no other has its number
        for p in (p for p in waiting if p.landed):
            for a in later:
                if p.passed and not a.by_product:
                    continue
                if p.access.buffer == a.buffer and _matter(p.access, a):
                    key = id(facts), p.access, p.back, a
                    level = self.known.get(key)
                    if level is None:
                        level = self.known[key] = self._between(p, a, facts)
                    if level is SyncScope.BLOCK or (level is SyncScope.WARP and not p.synced):
                        yield p, a, level

    def _elements(self, a: ThreadAccess) -> Elements | None:
        if a not in self.found:
            self.found[a] = elements(a)
        return self.found[a]

    def _between(self, p: UnsyncedAccess, a: ThreadAccess, facts: Facts) -> SyncScope:
        level = self._of_distance(p, a, facts)
        if level is None:
            level = self._of_rows(p, a, facts)
        if level is SyncScope.NONE or not (is_mixed(p.access) or is_mixed(a)):
            return level
        numbers = as_numbers(p.access, a, [name for name, _ in p.back])
        proved = None if numbers is None else self._of_elements(p, *numbers, facts)
        return min(level, self._of_cases(p, a, facts) if proved is None else proved)

    def _of_rows(self, p: UnsyncedAccess, a: ThreadAccess, facts: Facts) -> SyncScope:
        rows = with_numbers(p.access, a, self.rows)
        level = None if rows is None else self._of_elements(p, *rows, facts)
        if level is SyncScope.NONE or self._is_apart(p, a, facts):  # which takes longer
            return SyncScope.NONE
        return SyncScope.BLOCK if level is None else level

    def _of_cases(self, p: UnsyncedAccess, a: ThreadAccess, facts: Facts) -> SyncScope:
        back = dict(p.back)
        pairs = None if MANY in back.values() else cases(p.access, a, back, facts)
        if pairs is None:
            return SyncScope.BLOCK
        level = SyncScope.NONE
        for one, other in pairs:
            of_case = self._of_elements(UnsyncedAccess(one), one, other, facts)
            if of_case is None or of_case is SyncScope.BLOCK:
                return SyncScope.BLOCK
            level = max(level, of_case)
        return level

    def _of_distance(self, p: UnsyncedAccess, a: ThreadAccess, facts: Facts) -> SyncScope | None:
        """As `_of_elements` has it: the same for all pairs that are moved alike, of which unrolled loops
        have as many as the square of their steps."""
        key = self._distance(p, a, facts)
        if key not in self.levels:
            self.levels[key] = self._of_elements(p, p.access, a, facts)
        return self.levels[key]

    def _is_apart(self, p: UnsyncedAccess, a: ThreadAccess, facts: Facts) -> bool:
        key = self._distance(p, a, facts)
        if key not in self.apart:
            self.apart[key] = _is_apart(p, a, facts)
        return self.apart[key]

    def _distance(self, p: UnsyncedAccess, a: ThreadAccess, facts: Facts) -> tuple[object, ...]:
        """Of two loops of one name different things may be known."""
        (one, at), (other, to) = self._origin(p.access), self._origin(a)
        return id(facts), one, other, to - at, p.back

    def _origin(self, a: ThreadAccess) -> tuple[str, int]:
        """The access moved to where its index has no constant, as text, and how far that is."""
        if a not in self.origins:
            form = Linear(0) if a.index is None else linear(a.index)
            index = None if a.index is None else to_expr(plus(form, Linear(-form.constant)))
            self.origins[a] = replace(a, index=index).key, form.constant
        return self.origins[a]

    def _of_elements(
        self, p: UnsyncedAccess, earlier: ThreadAccess, a: ThreadAccess, facts: Facts
    ) -> SyncScope | None:
        """What the elements of two accesses ask for; None where these cannot be told. `p`: when the
        earlier one was."""
        one, other = self._elements(earlier), self._elements(a)
        shifts = None if one is None or other is None else self._shifts(p, one, other, facts)
        if one is None or other is None or shifts is None:
            return None
        return max((_overlap(one, other, x) for x in shifts), default=SyncScope.NONE)

    def _shifts(
        self, p: UnsyncedAccess, one: Elements, other: Elements, facts: Facts
    ) -> Iterable[int] | None:
        """How far the elements of an earlier access may lie from where they were enumerated, as seen
        from the later one: base - base. None where that may be anything."""
        base = one.base
        for name, count in p.back:
            if count != MANY:
                base = _earlier(base, name, ir.const_index(count))
        far = [name for name, count in p.back if count == MANY]
        many = [n for n in far if any(n in free_variables(atom) for atom, _ in base.terms)]
        if len(many) > 1:
            return None
        for name in many:
            base = _earlier(base, name, ir.Var(_BACK))
        gap = plus(base, other.base, -1)
        if gap.terms and all(self._is_row(atom) for atom, _ in gap.terms):
            return ()  # another row of an argument
        if not many:
            return differences(base, other.base)
        step = coefficient(gap, _BACK)
        if step == 0 or len(gap.terms) > 1:
            return None
        # However many iterations back: only so many distances let the two meet.
        reach = len(one.low) + len(other.low) + abs(one.first) + abs(other.first)
        last = max(MOST_COUNTED, (reach + abs(gap.constant)) // abs(step))
        last = min(last, _most_back(many[0], facts, last))
        return [gap.constant + step * d for d in range(MOST_COUNTED, last + 1)]

    def _is_row(self, atom: ir.Expr) -> bool:
        """Whether this is a distance between rows, and not 0."""
        match atom:
            case ir.Var(name=name):
                return name in self.strides
            case ir.Binary(op=ir.Op.MUL, a=a, b=b):
                names = [x.name for x in (a, b) if isinstance(x, ir.Var)]
                return len(names) == 2 and _BACK in names and not self.strides.isdisjoint(names)
            case _:
                return False


def _most_back(name: str, facts: Facts, unknown: int) -> int:
    """How many iterations before the last one of a loop its first one is."""
    range_ = facts.ranges.get(name)
    if range_ is None or range_.lo is None or range_.hi is None:
        return unknown
    _, most = constant_bounds(sub(range_.hi, range_.lo), facts)
    return unknown if most is None else most


def _is_apart(p: UnsyncedAccess, a: ThreadAccess, around: Facts) -> bool:
    """Whether all that one touches lies before all that the other does, which may depend on sizes."""
    if p.access.index is None or a.index is None or p.back:
        return False
    one, ranges = _renamed(p.access, p.access.index, "1")
    other, more = _renamed(a, a.index, "2")
    facts = Facts({**around.ranges, **ranges, **more}, around.known)
    known = {n: x.lo for n, x in around.ranges.items() if x.lo is not None and x.lo is x.hi}
    gap = rewrite(substitute(sub(other, one), known), _as_quotient)
    least = 1 + max(p.access.offsets) - min(a.offsets)
    most = min(p.access.offsets) - max(a.offsets) - 1
    return prove(ge(gap, least), facts) is True or prove(le(gap, most), facts) is True


def _as_quotient(e: ir.Expr) -> ir.Expr:
    """x % d as x - d * (x / d), which cancels against loops over x / d pieces."""
    match e:
        case ir.Binary(op=ir.Op.MOD, a=a, b=ir.Const(value=d) as b) if d > 0:
            return sub(a, mul(floordiv(a, b), b))
        case _:
            return e


def _renamed(a: ThreadAccess, index: ir.Expr, suffix: str) -> tuple[ir.Expr, dict[str, Interval]]:
    """An index in names of its own for what it counts, and their ranges."""
    ranges: dict[str, Interval] = {}
    names: dict[str, ir.Expr] = {}
    for x in (*a.loops, *a.digits):
        extent = x.limit if x.extent is None else ir.const_index(max(x.extent, 1))
        last = None if extent is None else simplify(sub(substitute(extent, names), 1))
        names[x.name] = ir.Var(f"{x.name} {suffix}")
        ranges[f"{x.name} {suffix}"] = Interval(ir.const_index(0), last)
    return substitute(index, names), ranges


def _earlier(base: Linear, name: str, iterations: ir.Expr) -> Linear:
    return linear(substitute(to_expr(base), {name: sub(ir.Var(name), iterations)}))


def _overlap(one: Elements, other: Elements, shift: int) -> SyncScope:
    """What the elements that both touch ask for, the first moved by so many."""
    start = max(one.first + shift, other.first)
    end = min(one.first + shift + len(one.low), other.first + len(other.low))
    if start >= end:
        return SyncScope.NONE
    a = slice(start - one.first - shift, end - one.first - shift)
    b = slice(start - other.first, end - other.first)
    both = (one.low[a] < NOBODY) & (other.low[b] < NOBODY)
    low = np.minimum(one.low[a], other.low[b])[both]
    high = np.maximum(one.high[a], other.high[b])[both]
    if (low // WARP != high // WARP).any():
        return SyncScope.BLOCK
    return SyncScope.WARP if (low != high).any() else SyncScope.NONE

"""Statements that a thread repeats at evenly spaced places, as the loops that one would write.

    values[0] = a[i]; values[1] = a[i + 1]; ... values[7] = a[i + 7]
->  #pragma unroll
    for (int e = 0; e < 8; ++e) values[e] = a[i + e]

    __align__(16) float acc_0[8]; ... acc_15[8]           ->   __align__(16) float acc[16][8]

The order of everything stays; nvcc unrolls the loops again. Only for printing: an array of buffers means
something in the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from hbc.codegen.plan.repeat_items import (
    Item,
    LastUses,
    closed,
    lines_in,
    lines_of,
    opened,
)
from hbc.codegen.plan.repeat_match import DifferentError, Match, Member, Steps, is_repetition
from hbc.codegen.plan.repeat_values import Values, as_array, is_indexed, values_of
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import map_stmt, statements

LONGEST = 64
"""Statements of a block that are looked at as one repetition."""
ENOUGH = 4
"""Times that a loop says shorter, whatever is repeated."""
MOST_LOOPS = 9_999_999
_NUMBER = re.compile(r"(_?\d+)+$")


@mutable
class Repeats:
    """`members`: what names in loops stand for. `arrays`: the buffers that each array is made of."""

    members: dict[str, Member] = field(default_factory=dict)
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)


Kinds = Callable[[str], object]
"""What a fragment is, by buffer."""


def roll_up(s: ir.Stmt, kind: Kinds) -> tuple[ir.Stmt, Repeats]:
    """What a thread does, with loops, and what the arrays of buffers are."""
    repeats = Repeats()
    return _Work(repeats, kind).whole(s), repeats


def roll_up_registers(s: ir.Stmt, registers: dict[str, int]) -> tuple[ir.Stmt, list[Values]]:
    """The same of a CPU's code, whose registers are arrays of vectors: with so many lanes, by buffer; 0
    where no variable may say which register is meant. With the named values that became arrays."""
    work = _Work(Repeats(), registers=registers)
    return work.whole(s), work.values


@record
class _Copy:
    """What one iteration would do. `places`: where among its statements buffers are allocated that later
    ones need too."""

    stmt: ir.Stmt
    places: tuple[int, ...]
    lines: int


@mutable
class _Work:
    """The walk. `kind` None: no arrays of buffers. `registers`: see `Match`. `used`: arrays that loops
    index. `copies`: iterations by the identity of their items, which are `kept`; `compared`: differences of
    two statements by theirs. The same ones meet again whenever others have become a loop."""

    found: Repeats
    kind: Kinds | None = None
    registers: dict[str, int] = field(default_factory=dict)
    values: list[Values] = field(default_factory=list)
    signs: dict[object, int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    compared: dict[tuple[int, int], tuple[ir.Stmt, ir.Stmt, Steps | None]] = field(
        default_factory=dict
    )
    copies: dict[tuple[int, ...], _Copy] = field(default_factory=dict)
    kept: list[Item] = field(default_factory=list)
    loops: int = 0
    numbered: int = 0

    def whole(self, s: ir.Stmt) -> ir.Stmt:
        """A statement that is a block, or stands for one."""
        parts = opened(s)
        own = self._number([p for p, opens in parts if opens])
        items = [
            self._item(p if opens else map_stmt(p, lambda e: e, self.whole), opens)
            for p, opens in parts
        ]
        items = self._rolled(items) if self.kind else self._with_values(items)
        return closed(self._with_arrays(items, own))

    def _with_values(self, items: list[Item]) -> list[Item]:
        """With the loops that take the fewest lines, of those that index named values too."""
        best = self._rolled(items)
        while True:
            shortest: tuple[Values, list[Item]] | None = None
            for values in values_of(items, self._count):
                self.registers[values.array] = values.type.lanes
                known = {(id(x.stmt), x.opens): x for x in items}
                made = [
                    known.get((id(s), opens)) or self._item(s, opens)
                    for s, opens in as_array(items, values)
                ]
                rolled = self._rolled(made)
                if lines_in(rolled) < lines_in(best) and is_indexed(rolled, values):
                    shortest, best = (values, made), rolled
            if shortest is None:
                return best
            self.values.append(shortest[0])
            items = shortest[1]

    def _count(self) -> int:
        self.numbered += 1
        return self.numbered

    def _number(self, statements: Sequence[ir.Stmt]) -> dict[str, tuple[str, ...]]:
        """Numbers the buffers that one kind has in this block."""
        groups: dict[object, list[str]] = {}
        if self.kind is None:
            return {}
        for a in statements:
            if isinstance(a, ir.Allocate) and a.memory is not Memory.SHARED:
                stem = _NUMBER.sub("", a.buffer)
                key = (stem, a.element, a.extent, a.memory, a.swizzle, self.kind(a.buffer))
                groups.setdefault(key, []).append(a.buffer)
        arrays = {}
        for names in groups.values():
            if len(names) > 1 and len(set(names)) == len(names):
                array = f"{_NUMBER.sub('', names[0])}#{self.numbered}"
                self.numbered += 1
                arrays[array] = tuple(names)
                for n, name in enumerate(names):
                    self.found.members[name] = Member(array, ir.const_index(n))
        return arrays

    def _with_arrays(self, items: list[Item], own: Mapping[str, tuple[str, ...]]) -> list[Item]:
        """The allocations of a loop's buffers as one of their array."""
        for array, names in own.items():
            for name in names:
                del self.found.members[name]
            if array not in self.used:
                continue
            self.found.arrays[array] = names
            places = [n for n, item in enumerate(items) if item.opened in names]
            first = items[places[0]]
            assert isinstance(first.stmt, ir.Allocate)
            declared = replace(first, stmt=replace(first.stmt, buffer=array))
            items = [
                declared if n == places[0] else item
                for n, item in enumerate(items)
                if n not in places[1:]
            ]
        return items

    def _item(self, s: ir.Stmt, opens: bool) -> Item:
        lines = 1 if opens else lines_of(s)
        return Item(s, opens, self._sign(s, opens), lines)

    def _sign(self, s: ir.Stmt, opens: bool = False) -> int:
        """A number that repetitions have in common."""
        key: object
        match s:
            case ir.Store():
                key = ir.Store, s.value.type, s.value.__class__, s.mask is None, s.index.type
            case ir.For():
                key = ir.For, s.kind, s.extent, self._sign(s.body)
            case ir.If():
                other = None if s.otherwise is None else self._sign(s.otherwise)
                key = ir.If, self._sign(s.then), other
            case ir.Block():
                key = ir.Block, tuple(self._sign(c) for c in s.body)
            case ir.LetStmt():
                key = ir.LetStmt, s.value.type, opens or self._sign(s.body)
            case ir.Allocate():
                inside = opens or self._sign(s.body)
                key = ir.Allocate, s.element, s.extent, s.memory, inside
            case _:
                key = s.__class__
        return self.signs.setdefault(key, len(self.signs))

    def _rolled(self, items: list[Item]) -> list[Item]:
        """With loops, the shortest repetitions first."""
        signs, last, period = [x.sign for x in items], LastUses(items), 1
        while 2 * period <= len(items) and period <= LONGEST:
            at, changed = 0, False
            while (middle := at + period) + period <= len(items):
                if (
                    signs[at] == signs[middle]
                    and signs[at:middle] == signs[middle : middle + period]
                    and (made := self._at(items, at, period, last)) is not None
                ):
                    items, changed, last = made, True, LastUses(made)
                    signs = [x.sign for x in items]
                at += 1
            period = 1 if changed else period + 1
        return items

    def _at(self, items: list[Item], at: int, period: int, last: LastUses) -> list[Item] | None:
        """The items where those from a place on are a loop, with so many in each iteration; the first two
        have the same signs."""
        signs = [x.sign for x in items[at : at + period]]
        first = self._copy(items, at, period, last)
        if first is None or any(
            isinstance(x, ir.For) and x.kind is not ir.LoopKind.UNROLL
            for x in statements(first.stmt)
        ):
            return None  # compilers spill registers where they unroll a loop around others
        variable = self._variable(first.stmt)
        if not _is_shorter(_runs(items, at, period), sum(x.lines for x in items[at : at + period])):
            return None  # however alike they are
        copies = [first]
        steps: Steps = {}
        for start in range(at + period, len(items) - period + 1, period):
            copy = self._copy(items, start, period, last)
            same = signs == [x.sign for x in items[start : start + period]]
            if not same or copy is None or copy.places != first.places:
                break
            difference = self._difference(first.stmt, copy.stmt, variable)
            if not difference or (steps and not is_repetition(steps, difference, len(copies))):
                break
            steps = steps or difference
            copies.append(copy)
        if not _is_shorter(len(copies), first.lines):
            return None
        body = self._with_variable(first.stmt, copies[1].stmt, variable)
        loop = ir.For(
            variable, ir.const_index(0), ir.const_index(len(copies)), ir.LoopKind.UNROLL, body
        )
        held = [items[at + n * period + p] for n in range(len(copies)) for p in first.places]
        rest = items[at + len(copies) * period :]
        return [*items[:at], *held, self._item(loop, False), *rest]

    def _copy(self, items: Sequence[Item], at: int, period: int, last: LastUses) -> _Copy | None:
        """One iteration's statements; None where what follows needs a name of them. The same statement for
        the same items, where none of them opens: what was found out about it is known."""
        these = items[at : at + period]
        if any(item.opens for item in these):
            return self._copy_that_opens(items, at, period, last)
        number = tuple(map(id, these))
        copy = self.copies.get(number)
        if copy is None:
            copy = _Copy(closed(these), (), sum(item.lines for item in these))
            self.copies[number] = copy
            self.kept += these
        return copy

    def _copy_that_opens(
        self, items: Sequence[Item], at: int, period: int, last: LastUses
    ) -> _Copy | None:
        inside: list[Item] = []
        held: list[int] = []
        for n in range(period):
            item = items[at + n]
            member = self.found.members.get(item.opened or "")
            shared = member is not None and member.array in self.used
            if item.opened is None or (last.of(item.opened) < at + period and not shared):
                inside.append(item)
            elif member is None:
                return None
            else:
                held.append(n)
        if not inside:
            return None
        return _Copy(closed(inside), tuple(held), sum(item.lines for item in inside))

    def _variable(self, s: ir.Stmt) -> str:
        self.loops += 1
        name = "e" if isinstance(s, ir.Store) else "t"
        # Behind all other terms of a sum, and there an outer loop's first: what compilers add to an address
        # as a constant.
        return f"{name}#{self.loops}" if self.kind else f"~{MOST_LOOPS - self.loops}#{name}"

    def _difference(self, a: ir.Stmt, b: ir.Stmt, variable: str) -> Steps | None:
        if self.kind is not None:  # arrays of buffers, of which more are known each time
            return self._compared(a, b, variable)
        known = self.compared.get((id(a), id(b)))
        if known is None:
            known = self.compared[id(a), id(b)] = a, b, self._compared(a, b, variable)
        return known[2]

    def _compared(self, a: ir.Stmt, b: ir.Stmt, variable: str) -> Steps | None:
        comparison = Match(variable, self.found.members, registers=self.registers)
        try:
            comparison.stmt(a, b)
        except DifferentError:
            return None
        return comparison.steps

    def _with_variable(self, a: ir.Stmt, b: ir.Stmt, variable: str) -> ir.Stmt:
        known = set(self.found.members)
        match = Match(variable, self.found.members, keeping=True, registers=self.registers)
        made = match.stmt(a, b)
        self.used |= {m.array for name, m in self.found.members.items() if name not in known}
        return made


def _runs(items: Sequence[Item], at: int, period: int) -> int:
    """How often the signs of so many items from a place on come one after the other; not beyond ENOUGH."""
    first = [x.sign for x in items[at : at + period]]
    count, start = 1, at + period
    while count < ENOUGH and [x.sign for x in items[start : start + period]] == first:
        count, start = count + 1, start + period
    return count


def _is_shorter(count: int, lines: int) -> bool:
    """Whether a loop says so many lines, so many times, better."""
    return count >= ENOUGH or (count > 2 and lines > 1) or (count > 1 and lines > 3)

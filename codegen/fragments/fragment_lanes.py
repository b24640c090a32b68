"""Statements on fragments of which lanes know their elements, as what each lane does.

    C[ramp(ramp(b, 1, 8), x8(S), 16)] = max(acc[ramp(0, 1, 128)], x128(0))
->  lanes l count 32 { C[b + S * (l / 4) + 2 * (l % 4)] = max(acc[8 * (l / 4) + 2 * (l % 4)], 0); .. }

Products stay whole, and what `ldmatrix` loads from shared memory; each lane puts zeros where a mask leaves
elements of that out. Neighbouring elements of a lane
move in one access where they are neighbours in memory too and aligned.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from math import lcm

import numpy as np

from hbc.codegen.fragments.fragment_kinds import FragmentKind, fragment_kinds
from hbc.codegen.fragments.matrix_loads import ROW_BYTES, matrix_load
from hbc.codegen.fragments.row_lanes import RowReduction, reduced_rows, row_reduction
from hbc.ir.algebra.alignment import alignment
from hbc.ir.algebra.bounds import Facts, Interval, constant_bounds
from hbc.ir.algebra.lane_at import at_lane
from hbc.ir.algebra.layout import Layout, normal, to_index
from hbc.ir.algebra.linear import linear
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, const_value, eq, mod, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.names import unused
from hbc.ir.lang.types import INDEX, Memory
from hbc.ir.lang.walk import (
    block,
    free_variables,
    map_stmt,
    nodes,
    nodes_of,
    statements,
    substitute_stmt,
)
from hbc.ir.meaning.fragment_layout import position

ACCESSES = (16, 8, 4)
"""Bytes of one access, widest first."""


def _numbers(kind: FragmentKind) -> Interval:
    """Those of the lanes that hold a fragment."""
    return Interval(ir.const_index(0), ir.const_index(kind.lanes - 1))


def fragment_lanes(kernel: Kernel) -> Kernel:
    """The kernel where lanes touch the elements of such fragments one by one."""
    kinds = fragment_kinds(kernel.body, {i.name: i for i in kernel.instructions})
    if not kinds:
        return kernel
    everything = list(nodes(kernel.body))
    taken = {n.var for n in everything if isinstance(n, ir.For)}
    taken |= {n.name for n in everything if isinstance(n, ir.Let | ir.LetStmt | ir.Var)}
    taken |= {n.buffer for n in everything if isinstance(n, ir.Allocate | ir.Load | ir.Store)}
    arrays = (n for n in everything if isinstance(n, ir.Allocate) and n.memory is Memory.SHARED)
    shared = {a.buffer: _whole_rows(a) for a in arrays}
    strides = {a.stride_name(d) for a in kernel.arguments for d in range(len(a.extents) - 1)}
    return kernel.map_body(_Lanes(kinds, shared, strides, taken).stmt)


@mutable
class _Lanes:
    """The walk. `shared`: how many elements arrays in shared memory have, 0 where that is not known.
    `strides`: of arguments, which the kernel can test. `lane`: the number of every loop that
    is made here; `places`: of elements, by operand and number."""

    kinds: Mapping[str, FragmentKind]
    shared: Mapping[str, int]
    strides: Collection[str]
    taken: set[str]
    lane: str = ""
    places: dict[tuple[str, int, int], ir.Expr] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)

    def place(self, kind: FragmentKind, element: int) -> ir.Expr:
        """The number in its fragment of an element of the lane."""
        key = kind.instruction.name, kind.operand, element
        if key not in self.places:
            place = position(kind.instruction, kind.operand, ir.Var(self.lane), element)
            self.places[key] = place
        return self.places[key]

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        match s:
            case ir.Block(body=body):
                return block(*self.joined(self.in_order(body)))
            case ir.For(var=var) | ir.LetStmt(name=var) if (
                values := _values(s, self.facts)
            ) is not None:
                outer, self.facts = self.facts, self.facts.with_range(var, values)
                made = map_stmt(s, lambda e: e, self.stmt)
                self.facts = outer
                return made
            case ir.Allocate(buffer=buffer) if size := self.shared.get(buffer):
                return replace(s, extent=ir.const_index(size), body=self.stmt(s.body))
            case ir.Store() if (rows := row_reduction(s, self.kinds)) is not None:
                return self.rows([rows])
            case ir.Store() if names := self.touched(s):
                return s if self.is_whole(s) else self.by_lanes(s, self.smallest(names))
            case _:
                return map_stmt(s, lambda e: e, self.stmt)

    def in_order(self, body: Sequence[ir.Stmt]) -> list[ir.Stmt]:
        """The statements; reductions of the same rows that follow each other are done together."""
        done: list[ir.Stmt] = []
        pending: list[RowReduction] = []
        for s in (*body, None):
            found = None if s is None else row_reduction(s, self.kinds)
            if pending and (found is None or found.place != pending[0].place):
                done.append(self.rows(pending))
                pending = []
            if found is not None:
                pending.append(found)
            elif s is not None:
                done.append(self.stmt(s))
        return done

    def rows(self, together: Sequence[RowReduction]) -> ir.Stmt:
        self.lane = self.lane or self.fresh("lane")
        return reduced_rows(together, self.lane, self.place, self.fresh)

    def touched(self, s: ir.Store) -> list[str]:
        """The fragments that a statement reads or writes."""
        read = [n.buffer for n in nodes_of(s, ir.Load) if n.buffer in self.kinds]
        return [s.buffer, *read] if s.buffer in self.kinds else read

    def smallest(self, names: Sequence[str]) -> FragmentKind:
        """What the statement does all elements of: of larger fragments it touches a part."""
        return min((self.kinds[n] for n in names), key=lambda kind: kind.count)

    def is_whole(self, s: ir.Store) -> bool:
        """Whether one instruction does the statement for all lanes."""
        if isinstance(s.value, ir.Instruct):
            return True
        if s.buffer not in self.kinds or s.mask is not None:
            return False
        loads = matrix_load(s.value, self.kinds[s.buffer])
        if loads is None or loads.buffer not in self.shared:
            return False
        all_there = isinstance(s.value, ir.Load) and s.value.mask is None
        return all_there or loads.is_inside(self.shared[loads.buffer], self.facts)

    def by_lanes(self, s: ir.Store, kind: FragmentKind) -> ir.Stmt:
        self.lane = self.lane or self.fresh("lane")
        alone: list[ir.Stmt] = []
        together: list[ir.Stmt] = []
        needed: dict[str, int] = {}
        element = 0
        while element < kind.count:
            width = self.width(s, kind, element)
            parts = [self.one(s, kind, element + n) for n in range(width)]
            one = None if width == 1 else self.together(s, parts, kind, element, needed)
            alone += parts
            together += parts if one is None else [one]
            element += width
        tests = [eq(mod(ir.Var(stride), n), 0) for stride, n in sorted(needed.items())]
        body = block(*together)
        body = ir.If(and_(*tests), body, block(*alone)) if tests else body
        count = ir.const_index(kind.lanes)
        loop = ir.For(self.lane, ir.const_index(0), count, ir.LoopKind.LANE, body)
        return simplify_stmt(loop)

    def one(self, s: ir.Store, kind: FragmentKind, element: int) -> ir.Store:
        """The statement for one element of a lane."""
        number = self.place(kind, element)
        mask = None if s.mask is None else at_lane(s.mask, number)
        index, value = at_lane(s.index, number), at_lane(s.value, number)
        if isinstance(value, ir.Load) and value.buffer not in self.kinds:
            facts = self.facts.with_range(self.lane, _numbers(kind))
            value = replace(value, index=simplify(value.index, facts))
        return replace(s, index=index, value=value, mask=mask)

    def width(self, s: ir.Store, kind: FragmentKind, element: int) -> int:
        """How many elements from this one on move in one access."""
        memory = s.index if s.buffer not in self.kinds else None
        if memory is None and isinstance(s.value, ir.Load) and s.value.mask is None:
            memory = s.value.index
        if memory is None or s.mask is not None or s.atomic is not None:
            return 1
        if any(not np.array_equal(self.kinds[n].elements, kind.elements) for n in self.touched(s)):
            return 1  # their elements are in different orders
        size = s.value.type.element.bytes
        for total in ACCESSES:
            count = total // size
            if count < 2 or element % count or element + count > kind.count:
                continue
            if self.is_run(memory, kind, element, count):
                return count
        return 1

    def is_run(self, index: ir.Expr, kind: FragmentKind, first: int, count: int) -> bool:
        """Whether so many elements of a lane lie side by side in memory, and in the fragment as far from each
        other in any lane."""
        if _digits(kind, first, count) is None:
            return False
        facts = self.facts.with_range(self.lane, _numbers(kind))
        at = (at_lane(index, self.place(kind, first + n)) for n in range(count))
        places = [linear(simplify(e, facts)) for e in at]
        return all(
            x.terms == places[0].terms and x.constant == places[0].constant + n
            for n, x in enumerate(places)
        )

    def together(
        self,
        s: ir.Store,
        parts: Sequence[ir.Store],
        kind: FragmentKind,
        number: int,
        needed: dict[str, int],
    ) -> ir.Stmt | None:
        """Elements of a lane from this number on in one access; None where it would not be aligned.
        `needed` gets what strides of arguments must be multiples of."""
        count, first = len(parts), parts[0]
        element = first.value.type.element
        memory = first.index if s.buffer not in self.kinds else _index_of(first.value)
        known: dict[str, tuple[int, int]] = {}
        if not _divides(count, memory, known):
            named = sorted(free_variables(memory) & frozenset(self.strides))
            known = dict.fromkeys(named, (count, 0))
            if not named or not _divides(count, memory, known):
                return None
        for stride in known:
            needed[stride] = lcm(needed.get(stride, 1), count)

        def run(index: ir.Expr) -> ir.Expr:
            return ir.Ramp(index, ir.const_index(1), count)

        def place(n: ir.Store | ir.Load) -> ir.Expr:
            digits = _digits(kind, number, count) if n.buffer in self.kinds else None
            return run(n.index) if digits is None else to_index(normal(Layout(n.index, digits)))

        if isinstance(first.value, ir.Load):
            load = replace(first.value, index=place(first.value), type=element(count))
            return ir.Store(s.buffer, place(first), load, None, s.span)
        name = self.fresh("values")
        values = [ir.Store(name, ir.const_index(n), x.value) for n, x in enumerate(parts)]
        load = ir.Load(name, run(ir.const_index(0)), element(count))
        copy = ir.Store(s.buffer, run(first.index), load, None, s.span)
        return ir.Allocate(name, element, ir.const_index(count), Memory.STACK, block(*values, copy))

    def joined(self, body: Sequence[ir.Stmt]) -> list[ir.Stmt]:
        """Neighbouring statements in one loop over lanes where no lane reads what another stores."""
        done: list[ir.Stmt] = []
        for s in body:
            last = done[-1] if done else None
            if isinstance(last, ir.For) and isinstance(s, ir.For) and self.may_join(last, s):
                then = substitute_stmt(s.body, {s.var: ir.Var(last.var)})
                done[-1] = replace(last, body=block(last.body, then))
            else:
                done.append(s)
        return done

    def may_join(self, a: ir.For, b: ir.For) -> bool:
        if a.kind is not ir.LoopKind.LANE or b.kind is not ir.LoopKind.LANE or a.extent != b.extent:
            return False
        (read, written), (then_read, then_written) = self.memory(a), self.memory(b)
        return not (written & (then_read | then_written) or read & then_written)

    def memory(self, s: ir.Stmt) -> tuple[set[str], set[str]]:
        """The buffers that are read and written and no lane's own."""
        own = {n.buffer for n in statements(s) if isinstance(n, ir.Allocate)} | self.kinds.keys()
        read = {n.buffer for n in nodes_of(s, ir.Load)}
        return read - own, {n.buffer for n in statements(s) if isinstance(n, ir.Store)} - own

    def fresh(self, word: str) -> str:
        name = unused(word, self.taken)
        self.taken.add(name)
        return name


def _whole_rows(a: ir.Allocate) -> int:
    """The extent of an array in shared memory up to where `ldmatrix` reads its last row; 0 if not known."""
    run = ROW_BYTES // a.element.bytes
    return -(-int(const_value(a.extent) or 0) // run) * run


def _values(s: ir.For | ir.LetStmt, facts: Facts) -> Interval | None:
    """The values of a name, as far as they have constant bounds; None of what is no index."""
    if isinstance(s, ir.For):
        first, last = s.start, sub(add(s.start, s.extent), 1)
    elif s.value.type == INDEX:
        first = last = s.value
    else:
        return None
    low, high = constant_bounds(first, facts)[0], constant_bounds(last, facts)[1]
    return Interval(
        None if low is None else ir.const_index(low), None if high is None else ir.const_index(high)
    )


def _digits(kind: FragmentKind, first: int, count: int) -> tuple[tuple[int, ir.Expr], ...] | None:
    """How far apart so many elements of a lane are in the fragment, as extents and strides; None where that
    is not the same in all lanes, or has no such form."""
    apart = kind.elements[:, first : first + count] - kind.elements[:, first : first + 1]
    steps = [int(apart[0, 1 << bit]) for bit in range(count.bit_length() - 1)]
    made = np.array([sum(s for b, s in enumerate(steps) if n >> b & 1) for n in range(count)])
    if (apart != made).any():
        return None
    return tuple((2, ir.const_index(step)) for step in reversed(steps))


def _index_of(e: ir.Expr) -> ir.Expr:
    assert isinstance(e, ir.Load)
    return e.index


def _divides(n: int, e: ir.Expr, known: Mapping[str, tuple[int, int]]) -> bool:
    modulus, remainder = alignment(e, known)
    return modulus % n == 0 and remainder % n == 0

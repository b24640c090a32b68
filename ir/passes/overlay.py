"""Buffers that stand in one place and are never alive together share memory.

    allocate a: f32[N]; allocate b: f32[M]; allocate c: f32[N]; b = f(a); c = f(b)
->  allocate a_c: f32[N]; allocate b: f32[M]; b = f(a_c); a_c = f(b)

Both are accessed by one name from then on, so that what asks whether two accesses may meet need not
know of it, and `restrict` in C says the truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from hbc.ir.algebra.facts import Facts
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.counted import listed
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import maximum
from hbc.ir.lang.walk import free_variables, nodes_of, own_expressions, rename_buffers, substitute

_TYPICAL = 1000
"""What sizes are taken to be where the larger of two buffers is asked for: more than any constant."""
_WORTH_A_MAXIMUM = 8
"""A buffer of which it is not known that it is the smaller one takes part where it has a share of this
at least: what it saves is worth the longer text of the size."""


@record
class Life:
    """From the first access to the last, both included, as numbers of statements in the order in which
    they stand; all of a loop that the buffer is allocated outside of and accessed in."""

    first: int
    last: int

    def meets(self, other: Life) -> bool:
        return self.first <= other.last and other.first <= self.last


NEVER = Life(0, -1)
ALWAYS = Life(0, 1 << 62)


def lives(s: ir.Stmt) -> Mapping[int, Life]:
    """The lives of all buffers, by the `id` of what allocates them. What is allocated in a loop is
    another buffer in each iteration."""
    walk = _Walk()
    walk.visit(s)
    return walk.found


@mutable
class _Walk:
    now: int = 0
    alive: dict[str, Life] = field(default_factory=dict)  # of the buffers around
    found: dict[int, Life] = field(default_factory=dict)

    def visit(self, s: ir.Stmt) -> None:
        self.now += 1
        for name in _accessed(s):
            self._touch(name, self.now)
        match s:
            case ir.Allocate(buffer=name, body=body):
                around = self.alive.get(name)
                self.alive[name] = NEVER
                self.visit(body)
                self.found[id(s)] = self.alive.pop(name)
                if around is not None:
                    self.alive[name] = around
            case ir.For(body=body):
                begin = self.now
                self.visit(body)
                for name in [n for n, life in self.alive.items() if life.last >= begin]:
                    self._touch(name, begin)
                    self._touch(name, self.now)
            case ir.LetStmt(body=body):
                self.visit(body)
            case ir.Block(body=body):
                for c in body:
                    self.visit(c)
            case ir.If(then=then, otherwise=otherwise):
                self.visit(then)
                if otherwise is not None:
                    self.visit(otherwise)

    def _touch(self, name: str, at: int) -> None:
        life = self.alive.get(name)
        if life is NEVER:
            self.alive[name] = Life(at, at)
        elif life is not None:
            self.alive[name] = Life(min(life.first, at), max(life.last, at))


def _accessed(s: ir.Stmt) -> Iterator[str]:
    if isinstance(s, ir.Store | ir.Prefetch):
        yield s.buffer
    for e in own_expressions(s):
        for n in nodes_of(e, ir.Load):
            yield n.buffer


@record
class Placed:
    """A buffer and its life, where it is to be allocated."""

    allocate: ir.Allocate
    life: Life


@mutable
class Names:
    """What shared memory is called. `taken`: the names of all other buffers."""

    taken: set[str]
    given: dict[tuple[str, ...], str] = field(default_factory=dict)

    def of(self, buffers: Sequence[str]) -> str:
        """`g_h`, or `g_etc` of more than two; the same wherever the same buffers share."""
        key = tuple(buffers)
        if key not in self.given:
            base = "_".join(buffers) if len(buffers) == 2 else f"{buffers[0]}_etc"
            name, count = base, 1
            while name in self.taken:
                count += 1
                name = f"{base}_{count}"
            self.taken.add(name)
            self.given[key] = name
        return self.given[key]


def overlay(
    placed: Sequence[Placed], s: ir.Stmt, names: Names, facts: Facts
) -> tuple[tuple[ir.Allocate, ...], ir.Stmt]:
    """What to allocate around `s`, and `s` with the names of that."""
    groups = _groups(placed, facts)
    if len(groups) == len(placed):
        return tuple(p.allocate for p in placed), s
    made = tuple(_one(group, names, facts) for group in groups)
    renamed = {
        p.allocate.buffer: one.buffer
        for group, one in zip(groups, made, strict=True)
        for p in group
        if len(group) > 1
    }
    return made, rename_buffers(s, renamed)


def _groups(placed: Sequence[Placed], facts: Facts) -> list[list[Placed]]:
    """Those that share, the largest first in search of the least that holds it; in the order in which they
    stood, by the first of each."""
    sizes = [_typical(p.allocate) for p in placed]

    def may_join(n: int, group: list[int]) -> bool:
        if any(placed[n].life.meets(placed[m].life) for m in group):
            return False
        whole, part = placed[group[0]].allocate, placed[n].allocate
        if (whole.element, whole.memory) != (part.element, part.memory):
            return False
        close = sizes[n] * _WORTH_A_MAXIMUM >= sizes[group[0]]
        return close or _larger(whole.extent, part.extent, facts) == whole.extent

    groups: list[list[int]] = []
    for n in sorted(range(len(placed)), key=lambda n: (-sizes[n], n)):
        free = next((g for g in reversed(groups) if may_join(n, g)), None)
        if free is None:
            groups.append([n])
        else:
            free.append(n)
    return [[placed[n] for n in sorted(g)] for g in sorted(groups, key=min)]


def _larger(a: ir.Expr, b: ir.Expr, facts: Facts) -> ir.Expr:
    return simplify(maximum(a, b), facts)


def _typical(a: ir.Allocate) -> int:
    """About how many elements it has: for the order alone."""
    sizes = {name: ir.const_index(_TYPICAL) for name in free_variables(a.extent)}
    match simplify(substitute(a.extent, sizes)):
        case ir.Const(value=value):
            return int(value)
        case _:
            return 0


def _one(group: Sequence[Placed], names: Names, facts: Facts) -> ir.Allocate:
    """The buffer that holds each of the group in its time."""
    first, *others = (p.allocate for p in group)
    if not others:
        return first
    extent = first.extent
    for a in others:
        extent = _larger(extent, a.extent, facts)
    holds = tuple(p.allocate.buffer for p in group)
    note = f"{first.note or first.buffer}, then {listed(holds[1:])}"
    return replace(first, buffer=names.of(holds), extent=extent, note=note, holds=holds)

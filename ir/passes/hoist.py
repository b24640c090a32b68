"""Memory from the heap is asked for once, not in every iteration of a loop.

    for y in H { allocate row: f32[W]; ... }   ->   allocate row: f32[W]; for y in H { ... }

Large blocks come from the system as pages that fault when first touched, each time anew: a strip
of an image, staged for a convolution, can cost as much in faults as in arithmetic. Out of a parallel
loop nothing moves, since threads do not share memory, but what its iterations need alike stands
outermost in its body, where `codegen` allocates it once for each thread.

Arrays of the stack stay where they are. Of many in one place, the nearest cache may not hold all though few
are alive at once: a transform of 512 complex numbers, two arrays for each of nine steps, takes 0.4 of the
time where they share memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hbc.ir.algebra.facts import Facts, Interval
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.accesses import Accesses
from hbc.ir.lang.build import maximum
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import (
    block,
    contains,
    free_variables,
    nodes_of,
    own_expressions,
    statements,
    substitute,
)
from hbc.ir.passes.overlay import ALWAYS, Life, Names, Placed, lives, overlay

# Buffers whose place is free to choose live on the stack up to this size (bytes).
STACK_LIMIT = 16 * 1024
# Arrays of one place on the stack share memory where they have more together: half of what the nearest cache
# of most processors holds. Smaller ones do not take part: a compiler may keep them in registers (bytes).
_CROWDED = 16 * 1024
_SMALL = 1024


def is_heap(s: ir.Allocate) -> bool:
    """Whether the buffer needs the heap: told so, too large, or of unknown size."""
    if s.memory is Memory.REGISTER:
        return False
    if s.memory is Memory.HEAP or not isinstance(s.extent, ir.Const):
        return True
    return s.memory is Memory.AUTO and int(s.extent.value) * s.element.bytes > STACK_LIMIT


def hoist(s: ir.Stmt) -> ir.Stmt:
    """`s` with each heap buffer allocated as far out as its size is known."""
    return _hoisted(s, _Scope(Accesses()))


def hoist_and_share(kernel: Kernel) -> Kernel:
    """The same, where buffers of which no two are alive at once are one."""
    sizes = {s.name: Interval(ir.const_index(0), None) for s in kernel.sizes}
    accesses = Accesses()
    taken = {a.name for a in kernel.arguments} | {t.name for t in kernel.tables}
    names = Names(taken | accesses.buffers(kernel.body))
    sharing = _Sharing(lives(kernel.body), names, Facts(sizes), _of_constants(kernel))
    scope = _Scope(accesses, sharing)
    return kernel.map_body(lambda s: _hoisted(s, scope))


@record
class _Sharing:
    """What is asked where buffers are to share memory."""

    lives: Mapping[int, Life]
    names: Names
    facts: Facts
    apart: frozenset[str]  # buffers that keep their memory for themselves

    def life(self, r: _Rising) -> Life:
        return ALWAYS if r.allocate.buffer in self.apart else self.lives[r.of]


def _of_constants(kernel: Kernel) -> frozenset[str]:
    """The buffers that constant inputs alone decide: a caller may have them filled once, for many calls."""
    known = {a.name for a in kernel.arguments if a.constant}
    if not known:
        return frozenset()
    known |= {t.name for t in kernel.tables}
    stores = [s for s in statements(kernel.body) if isinstance(s, ir.Store)]
    loaded = {id(s): _loads(s) for s in stores}
    made = {s.buffer for s in statements(kernel.body) if isinstance(s, ir.Allocate)}
    while True:
        others = {s.buffer for s in stores if not loaded[id(s)] <= known | made}
        if not others & made:
            return frozenset(made)
        made -= others


@record
class _Scope:
    accesses: Accesses
    sharing: _Sharing | None = None

    def place(self, rising: tuple[_Rising, ...], s: ir.Stmt) -> ir.Stmt:
        """`s` with the allocations around it."""
        allocations = tuple(r.allocate for r in rising)
        if self.sharing is not None and len(rising) > 1:
            placed = [Placed(r.allocate, self.sharing.life(r)) for r in rising]
            allocations, s = overlay(placed, s, self.sharing.names, self.sharing.facts)
        for a in reversed(allocations):
            s = replace(a, body=s)
        return s

    def place_on_stack(self, arrays: Sequence[ir.Allocate], s: ir.Stmt) -> ir.Stmt:
        """`s` with these arrays around it, of which the large ones share memory where they are many."""
        large = [a for a in arrays if _stack_bytes(a) >= _SMALL]
        if self.sharing is None or sum(map(_stack_bytes, large)) <= _CROWDED:
            large = []
        s = self.place(tuple(_Rising(a, id(a)) for a in large), s)
        for a in reversed(arrays):
            if not any(a is other for other in large):
                s = replace(a, body=s)
        return s


@record
class _Rising:
    """An allocation, and the `id` of that which it was."""

    allocate: ir.Allocate
    of: int


@record
class _Lifted:
    """A statement less the allocations that may stand around it, outermost first."""

    rising: tuple[_Rising, ...]
    rest: ir.Stmt

    def keep(self, stays: frozenset[str], scope: _Scope) -> _Lifted:
        """Those of these buffers stand here."""
        here = tuple(r for r in self.rising if r.allocate.buffer in stays)
        above = tuple(r for r in self.rising if r.allocate.buffer not in stays)
        return _Lifted(above, scope.place(here, self.rest))


def _stack_bytes(a: ir.Allocate) -> int:
    if a.memory not in (Memory.AUTO, Memory.STACK) or not isinstance(a.extent, ir.Const):
        return 0
    return int(a.extent.value) * a.element.bytes


def _loads(s: ir.Store) -> set[str]:
    return {n.buffer for e in own_expressions(s) for n in nodes_of(e, ir.Load)}


def _hoisted(s: ir.Stmt, scope: _Scope) -> ir.Stmt:
    lifted = _lift(s, scope)
    return scope.place(lifted.rising, lifted.rest)


def _lift(s: ir.Stmt, scope: _Scope) -> _Lifted:
    match s:
        case ir.Allocate():
            return _lift_allocations(s, scope)
        case ir.LetStmt():
            return _lift_let(s, scope)
        case ir.Block(body=body):
            return _lift_block(body, scope)
        case ir.For():
            return _lift_loop(s, scope)
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            other = None if otherwise is None else _hoisted(otherwise, scope)
            return _Lifted((), ir.If(condition, _hoisted(then, scope), other, s.span))
        case _:
            return _Lifted((), s)


def _lift_allocations(s: ir.Allocate, scope: _Scope) -> _Lifted:
    """Those that stand in one place, each around the next."""
    allocations: list[ir.Allocate] = []
    rest: ir.Stmt = s
    while isinstance(rest, ir.Allocate):
        allocations.append(rest)
        rest = rest.body
    inner = _lift(rest, scope)
    rising = tuple(_Rising(a, id(a)) for a in allocations if is_heap(a))
    here = [a for a in allocations if not is_heap(a)]
    return _Lifted((*rising, *inner.rising), scope.place_on_stack(here, inner.rest))


def _lift_let(s: ir.LetStmt, scope: _Scope) -> _Lifted:
    """Sizes that use the name use its value outside, unless that reads memory."""
    inner = _lift(s.body, scope)
    using = _of_extents(inner, s.name)
    if contains(s.value, ir.Load):
        inner = inner.keep(using, scope)
    rising = _sized(inner.rising, lambda extent: _where(extent, s))
    if using and s.name not in free_variables(inner.rest):  # it was for the size alone
        return _Lifted(rising, inner.rest)
    return _Lifted(rising, replace(s, body=inner.rest))


def _where(extent: ir.Expr, s: ir.LetStmt) -> ir.Expr:
    if s.name not in free_variables(extent):
        return extent
    return simplify(substitute(extent, {s.name: s.value}))


def _lift_block(body: tuple[ir.Stmt, ...], scope: _Scope) -> _Lifted:
    """Nothing moves out before a check that may fail, nor where its name means another buffer."""
    rising: list[_Rising] = []
    rest: list[ir.Stmt] = []
    named = Counter(buffer for c in body for buffer in scope.accesses.buffers(c))
    checked = False
    for child in body:
        inner = _lift(child, scope)
        names = frozenset(r.allocate.buffer for r in inner.rising)
        stays = names if checked else frozenset(n for n in names if named[n] > 1)
        inner = inner.keep(stays, scope)
        rising += inner.rising
        rest.append(inner.rest)
        checked = checked or any(isinstance(n, ir.Assert) for n in statements(child))
    return _Lifted(tuple(rising), block(*rest))


def _lift_loop(s: ir.For, scope: _Scope) -> _Lifted:
    inner = _lift(s.body, scope)
    changing = _of_extents(inner, s.var)
    if s.kind is ir.LoopKind.PARALLEL:
        inner = inner.keep(changing, scope)
        return _Lifted((), replace(s, body=scope.place(inner.rising, inner.rest)))
    inner = inner.keep(changing, scope)
    # A loop that does not run may be of less than no extent.
    rising = _sized(inner.rising, lambda extent: simplify(maximum(extent, ir.const_index(0))))
    return _Lifted(rising, replace(s, body=inner.rest))


def _of_extents(lifted: _Lifted, name: str) -> frozenset[str]:
    """The buffers whose size depends on the name."""
    buffers = (r.allocate for r in lifted.rising)
    return frozenset(a.buffer for a in buffers if name in free_variables(a.extent))


def _sized(
    rising: tuple[_Rising, ...], extent: Callable[[ir.Expr], ir.Expr]
) -> tuple[_Rising, ...]:
    return tuple(
        _Rising(replace(r.allocate, extent=extent(r.allocate.extent)), r.of) for r in rising
    )

"""Memory from the heap is asked for once, not in every iteration of a loop.

    for y in H { allocate row: f32[W]; ... }   ->   allocate row: f32[W]; for y in H { ... }

Large blocks come from the system as pages that fault when first touched, each time anew: a strip
of an image, staged for a convolution, can cost as much in faults as in arithmetic. Out of a parallel
loop nothing moves, since threads do not share memory, but what its iterations need alike stands
outermost in its body, where `codegen` allocates it once for each thread.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.accesses import Accesses
from hbc.ir.lang.build import maximum
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import (
    block,
    contains,
    free_variables,
    mentions,
    statements,
    substitute,
)

# Buffers whose place is free to choose live on the stack up to this size (bytes).
STACK_LIMIT = 16 * 1024


def is_heap(s: ir.Allocate) -> bool:
    """Whether the buffer needs the heap: told so, too large, or of unknown size."""
    if s.memory is Memory.REGISTER:
        return False
    if s.memory is Memory.HEAP or not isinstance(s.extent, ir.Const):
        return True
    return s.memory is Memory.AUTO and int(s.extent.value) * s.element.bytes > STACK_LIMIT


def hoist(s: ir.Stmt) -> ir.Stmt:
    """`s` with each heap buffer allocated as far out as its size is known."""
    return _hoisted(s, Accesses())


def _hoisted(s: ir.Stmt, accesses: Accesses) -> ir.Stmt:
    lifted = _lift(s, accesses)
    return _wrap(lifted.rising, lifted.rest)


@record
class _Lifted:
    """A statement less the allocations that may stand around it, outermost first."""

    rising: tuple[ir.Allocate, ...]
    rest: ir.Stmt

    def keep(self, stays: frozenset[str]) -> _Lifted:
        """Those of these buffers stand here."""
        here = tuple(a for a in self.rising if a.buffer in stays)
        above = tuple(a for a in self.rising if a.buffer not in stays)
        return _Lifted(above, _wrap(here, self.rest))


def _wrap(allocations: tuple[ir.Allocate, ...], s: ir.Stmt) -> ir.Stmt:
    for a in reversed(allocations):
        s = replace(a, body=s)
    return s


def _lift(s: ir.Stmt, accesses: Accesses) -> _Lifted:
    match s:
        case ir.Allocate(body=body):
            inner = _lift(body, accesses)
            if is_heap(s):
                return _Lifted((s, *inner.rising), inner.rest)
            return _Lifted(inner.rising, replace(s, body=inner.rest))
        case ir.LetStmt():
            return _lift_let(s, accesses)
        case ir.Block(body=body):
            return _lift_block(body, accesses)
        case ir.For():
            return _lift_loop(s, accesses)
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            other = None if otherwise is None else _hoisted(otherwise, accesses)
            return _Lifted((), ir.If(condition, _hoisted(then, accesses), other, s.span))
        case _:
            return _Lifted((), s)


def _lift_let(s: ir.LetStmt, accesses: Accesses) -> _Lifted:
    """Sizes that use the name use its value outside, unless that reads memory."""
    inner = _lift(s.body, accesses)
    using = frozenset(a.buffer for a in inner.rising if s.name in free_variables(a.extent))
    if contains(s.value, ir.Load):
        inner = inner.keep(using)
    rising = tuple(replace(a, extent=_where(a.extent, s)) for a in inner.rising)
    if using and not mentions(inner.rest, s.name):  # it was for the size alone
        return _Lifted(rising, inner.rest)
    return _Lifted(rising, replace(s, body=inner.rest))


def _where(extent: ir.Expr, s: ir.LetStmt) -> ir.Expr:
    if s.name not in free_variables(extent):
        return extent
    return simplify(substitute(extent, {s.name: s.value}))


def _lift_block(body: tuple[ir.Stmt, ...], accesses: Accesses) -> _Lifted:
    """Nothing moves out before a check that may fail, nor where its name means another buffer."""
    rising: list[ir.Allocate] = []
    rest: list[ir.Stmt] = []
    named = Counter(buffer for c in body for buffer in accesses.buffers(c))
    checked = False
    for child in body:
        inner = _lift(child, accesses)
        names = frozenset(a.buffer for a in inner.rising)
        inner = inner.keep(names if checked else frozenset(n for n in names if named[n] > 1))
        rising += inner.rising
        rest.append(inner.rest)
        checked = checked or any(isinstance(n, ir.Assert) for n in statements(child))
    return _Lifted(tuple(rising), block(*rest))


def _lift_loop(s: ir.For, accesses: Accesses) -> _Lifted:
    inner = _lift(s.body, accesses)
    changing = frozenset(a.buffer for a in inner.rising if s.var in free_variables(a.extent))
    if s.kind is ir.LoopKind.PARALLEL:
        inner = inner.keep(changing)
        return _Lifted((), replace(s, body=_wrap(inner.rising, inner.rest)))
    inner = inner.keep(changing)
    # A loop that does not run may be of less than no extent.
    rising = tuple(
        replace(a, extent=simplify(maximum(a.extent, ir.const_index(0)))) for a in inner.rising
    )
    return _Lifted(rising, replace(s, body=inner.rest))

"""Loads whose lanes lie close together become one load of adjacent elements, and a shuffle of it.

    w0 = I[ramp(ramp(x, 1, 2), x2(1), 16)]             # the elements x .. x + 16
    w1 = I[ramp(ramp(x + 16, 1, 2), x2(1), 16)]        # the elements x + 16 .. x + 32
->  w0 = gather<0,1,1,2,..15,16>(I[ramp(x, 1, 32)])    # for w1 has the others
    w1 = gather<15,16,16,17,..>(I[ramp(x + 1, 1, 32)])

A register holds more elements than the lanes want. It is loaded from where all of it is read anyway,
by statements that are executed together: elements that nothing reads may not exist. Elsewhere the load
is left as it is, which takes several short loads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field

from hbc.ir.algebra.linear import linear
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import BOOL, Memory
from hbc.ir.lang.walk import (
    block,
    children,
    free_variables,
    map_stmt,
    nodes_of,
    rewrite,
    statements,
)
from hbc.ir.vectors.lane_offsets import Offsets, lane_offsets

LEAST_BITS = 128  # what is shorter is no vector
ELEMENTS = (8, 16, 32)  # bits, of which one or two instructions move any to any place


@record
class _Place:
    """Elements `constant + offsets` from `start`: a buffer and what is not constant of an address."""

    start: object
    constant: int
    offsets: Offsets


@mutable
class _Reads:
    """The elements that straight-line code reads in any case, by the start of their address; what it
    stores to, and how often it binds each name."""

    elements: dict[object, set[int]] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)
    bound: Counter[str] = field(default_factory=Counter)

    def add(self, e: ir.Load) -> None:
        place = self.place(e)
        if place is not None:
            own = self.elements.setdefault(place.start, set())
            own.update(place.constant + n for n in place.offsets)

    def has(self, place: _Place, first: int, count: int) -> bool:
        own = self.elements.get(place.start, set())
        return all(place.constant + n in own for n in range(first, first + count))

    def place(self, e: ir.Load) -> _Place | None:
        """Where the load reads; None where that is not known, or may be something else elsewhere."""
        lanes = lane_offsets(e.index) if e.mask is None else None
        if lanes is None or e.buffer in self.stored:
            return None
        scalar, offsets = lanes
        if any(self.bound[name] > 1 for name in free_variables(scalar)):
            return None
        base = linear(scalar)
        return _Place((e.buffer, base.terms), base.constant, offsets)


def widen_loads(kernel: Kernel) -> Kernel:
    """The kernel with such loads widened."""
    if not any(_width(n) is not None for n in nodes_of(kernel.body, ir.Load)):
        return kernel
    memory = (Memory.HEAP, Memory.STACK, Memory.AUTO)
    allocated = nodes_of(kernel.body, ir.Allocate)
    registers = (n.buffer for n in allocated if n.memory not in memory)
    return kernel.map_body(_Widen(frozenset(registers)).stmt)


@record
class _Widen:
    """`registers`: buffers that are not in memory."""

    registers: frozenset[str]

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        """Straight-line code at once, all else part by part."""
        if not isinstance(s, ir.Block | ir.LetStmt | ir.Store):
            return map_stmt(s, _same, self.stmt)
        reads = _Reads(stored=set(self.registers))
        values = list(_straight(s, reads))
        for load in (load for e in values for load in _loads(e)):
            reads.add(load)
        return self._widened(s, reads)

    def _widened(self, s: ir.Stmt, reads: _Reads) -> ir.Stmt:
        def value(e: ir.Expr) -> ir.Expr:
            return rewrite(e, lambda n: _repeated(_widened(n, reads)))

        match s:
            case ir.Block(body=body):
                return block(*(self._widened(child, reads) for child in body))
            case ir.LetStmt() | ir.Store():
                return map_stmt(s, value, lambda inner: self._widened(inner, reads))
            case _:
                return self.stmt(s)


def _straight(s: ir.Stmt, reads: _Reads) -> Iterator[ir.Expr]:
    """The values that the code computes each time; what it stores to and binds is noted."""
    match s:
        case ir.Block(body=body):
            for child in body:
                yield from _straight(child, reads)
        case ir.LetStmt(name=name, value=value, body=body):
            reads.bound[name] += 1
            yield value
            yield from _straight(body, reads)
        case ir.Store(buffer=buffer, value=value, mask=mask):
            reads.stored.add(buffer)
            if mask is None:
                yield value
        case _:
            reads.stored.update(n.buffer for n in statements(s) if isinstance(n, ir.Store))


def _repeated(e: ir.Expr) -> ir.Expr:
    """Copies of a shuffle are a shuffle."""
    match e:
        case ir.Broadcast(value=ir.Gather(value=ir.Load() as v, lanes=picks), lanes=lanes):
            return ir.Gather(v, picks * lanes, e.span)
        case _:
            return e


def _widened(e: ir.Expr, reads: _Reads) -> ir.Expr:
    """A load out of adjacent elements that are all read; itself where there are no such."""
    if not isinstance(e, ir.Load):
        return e
    wide = _width(e)
    place = None if wide is None else reads.place(e)
    if wide is None or place is None:
        return e
    low, high = min(place.offsets), max(place.offsets)
    for first in range(low, high - wide, -1):
        if reads.has(place, first, wide):
            return _shuffled(e, first, wide)
    return e


def _width(e: ir.Load) -> int | None:
    """How many adjacent elements a register has that holds what the lanes want: more than those."""
    t, lanes = e.type.element, e.type.lanes
    if e.mask is not None or t == BOOL or t.bits not in ELEMENTS or lanes * t.bits < LEAST_BITS:
        return None
    of_lanes = lane_offsets(e.index)
    if of_lanes is None:
        return None
    _, offsets = of_lanes
    span = max(offsets) - min(offsets) + 1
    wide = 1 << (span - 1).bit_length()
    return None if span == wide or wide > lanes else wide


def _shuffled(e: ir.Load, first: int, count: int) -> ir.Expr:
    """The load, out of so many adjacent elements from the offset `first` on."""
    lanes = lane_offsets(e.index)
    assert lanes is not None
    base, offsets = lanes
    start, t = simplify(add(base, first)), e.type.with_lanes(count)
    adjacent = ir.Load(e.buffer, ir.Ramp(start, ir.const_index(1), count), t, None, e.span)
    return ir.Gather(adjacent, tuple(n - first for n in offsets), e.span)


def _loads(e: ir.Node) -> Iterator[ir.Load]:
    """The loads of an expression, but for those that a condition may leave out."""
    if isinstance(e, ir.Load):
        yield e
    if not isinstance(e, ir.Select):
        for child in children(e):
            yield from _loads(child)


def _same(e: ir.Expr) -> ir.Expr:
    return e

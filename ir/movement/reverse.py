"""Statements most of whose loads go backwards are computed in the order of memory, and reversed once.

    B[ramp(i, 1, 16)] = A[ramp(n - i, -1, 16)] * 3 + A[ramp(n - i - 1, -1, 16)] * 5
->  r[ramp(0, 1, 16)] = A[ramp(n - i - 15, 1, 16)] * 3 + A[ramp(n - i - 16, 1, 16)] * 5
    r[ramp(16, 1, 16)] = r[ramp(15, -1, 16)]
    B[ramp(i, 1, 16)] = r[ramp(16, 1, 16)]

What is done lane by lane is the same whichever lane does it, so a filter of four taps takes one reversal
where it took four. A load that goes forwards is then one that goes backwards: where there are as many of
these as of those, a statement stays as it is, as does one whose lanes are not each by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import BOOL
from hbc.ir.lang.walk import map_stmt, nodes, nodes_of, statements
from hbc.ir.movement.chain import Chain, Movement
from hbc.ir.movement.items import statement
from hbc.ir.movement.library import WIDTHS, known_chain, library_of
from hbc.ir.movement.moved import Moved
from hbc.ir.movement.places import ELEMENTS, IN_MEMORY, Access, Rows
from hbc.ir.movement.price import price_of
from hbc.ir.movement.registers import put, register, registers, steps
from hbc.ir.vectors.take import Picks, Take


def reverse(kernel: Kernel, target: Target, moved: list[Moved] | None = None) -> Kernel:
    """The kernel with such statements turned. `moved` takes what was done."""
    widths = tuple(w for w in WIDTHS.get(target.machine, ()) if w <= target.vector_bits)
    if not widths or not any(isinstance(n, ir.Load) and _step(n) == -1 for n in nodes(kernel.body)):
        return kernel
    allocated = (s for s in statements(kernel.body) if isinstance(s, ir.Allocate))
    elsewhere = frozenset(a.buffer for a in allocated if a.memory not in IN_MEMORY)
    return kernel.map_body(_Reverse(target, widths, elsewhere, [] if moved is None else moved).stmt)


@mutable
class _Reverse:
    """`elsewhere`: buffers that are not in memory."""

    target: Target
    widths: tuple[int, ...]
    elsewhere: frozenset[str]
    moved: list[Moved]
    made: int = 0

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        if not isinstance(s, ir.Store):
            return map_stmt(s, lambda e: e, self.stmt)
        chain = self._chain(s)
        return s if chain is None else self._turned(s, chain)

    def _chain(self, s: ir.Store) -> Chain | None:
        """What reverses the statement's value, if the statement is to be turned."""
        bits, lanes = s.value.type.element.bits, s.value.type.lanes
        if s.value.type.element == BOOL or bits not in ELEMENTS or bits * lanes not in self.widths:
            return None
        if s.asynchronous or s.atomic is not None or not self._is_lanewise(s.value):
            return None
        found = [_step(load) for load in _vectors(s.value)]
        if found.count(-1) < found.count(1) + 2:
            return None
        return known_chain(Movement(bits, lanes, 1, (_backwards(lanes),)), library_of(self.target))

    def _is_lanewise(self, value: ir.Expr) -> bool:
        """Whether lanes have nothing to do with each other, and all come from memory."""
        return not any(
            isinstance(n, ir.VectorReduce | ir.Gather | ir.Instruct | ir.Move | ir.Let)
            or (isinstance(n, ir.Var) and n.type.lanes > 1)
            or (isinstance(n, ir.Load) and n.type.lanes > 1 and n.buffer in self.elsewhere)
            for n in nodes(value)
        )

    def _turned(self, s: ir.Store, chain: Chain) -> ir.Stmt:
        self._note(s, chain)
        self.made += 1
        t, lanes = s.value.type.element, s.value.type.lanes
        name = f"{s.buffer}.back.{self.made}"
        made = ir.Load(name, register(chain.outputs[0], lanes), t(lanes), span=s.span)
        return statement(
            [
                registers(name, t, lanes, 1, chain),
                put(name, 0, Take()(s.value, _backwards(lanes))),
                *steps(name, t, lanes, 1, chain),
                replace(s, value=made),
            ]
        )

    def _note(self, s: ir.Store, chain: Chain) -> None:
        rows, before = Rows(), 0
        for load in _vectors(s.value):
            places = rows.places(load.buffer, load.index) if _step(load) == -1 else None
            before += 0 if places is None else price_of(Access(0, load, places), self.target)
        t = s.value.type
        self.moved.append(
            Moved(s.buffer, True, f"{t.element}x{t.lanes}", 1, 1, chain.cost, before, s.span)
        )


def _vectors(value: ir.Expr) -> Iterator[ir.Load]:
    """The loads of vectors, those of one place once."""
    found = (n for n in nodes_of(value, ir.Load) if n.type.lanes > 1)
    yield from dict.fromkeys(found)


def _step(load: ir.Load) -> int | float | None:
    """From each lane to the next in memory, where that is constant."""
    index = load.index
    return const_value(index.stride) if isinstance(index, ir.Ramp) else None


def _backwards(lanes: int) -> Picks:
    return tuple(range(lanes - 1, -1, -1))

"""Long vector statements between buffers in memory become loops over their rows.

    pack[ramp(ramp(0, 1, 32), x32(32), 16)] = B.bf16x512[...]
->  for row in 16: pack[ramp(32 * row, 1, 32)] = B.bf16x32[...]

Cut into registers they would be a line for each, which nobody wants to read and gcc takes long for.
Where a buffer may end up in registers nothing changes: its places must be constants.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count

from hbc.ir.algebra.layout import layout
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, broadcast, mul
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import TILES, Memory
from hbc.ir.lang.walk import map_children, map_stmt, names_read, nodes

LONG = 4096  # bits of a statement that may stand in full: eight of the longest registers
ALL_REGISTERS = 32 * 64  # bytes
SHORT = 128  # bits; a shorter row is no vector


class _CannotCutError(Exception):
    """The lanes of an expression do not fall into rows that a formula describes."""


def roll(kernel: Kernel) -> Kernel:
    """The kernel with such statements as loops."""
    everything = list(nodes(kernel.body))
    tiles = {n.buffer for n in everything if isinstance(n, ir.Allocate) and n.memory in TILES}
    memory = {n.buffer for n in everything if isinstance(n, ir.Load | ir.Store)}
    memory -= {n.buffer for n in everything if isinstance(n, ir.Allocate)}
    for n in everything:
        match n:
            case ir.Allocate(buffer=buffer) if _is_memory(n):
                memory.add(buffer)
            case ir.Store(buffer=buffer, value=ir.Load(buffer=other)) if {buffer, other} & tiles:
                memory |= {buffer, other} - tiles  # whole tiles go through memory
            case _:
                pass
    taken = names_read(kernel.body) | {size.name for size in kernel.sizes}
    taken |= {n.var for n in everything if isinstance(n, ir.For)}
    taken |= {n.name for n in everything if isinstance(n, ir.Let | ir.LetStmt)}
    name = next(n for n in chain(("row",), map("row_{}".format, count(1))) if n not in taken)
    return kernel.map_body(_Roll(frozenset(memory - tiles), ir.Var(name)).stmt)


def _is_memory(a: ir.Allocate) -> bool:
    """Whether the buffer surely stays out of registers, which it would fill."""
    if a.memory not in (Memory.STACK, Memory.AUTO):
        return a.memory is Memory.HEAP
    return (
        not isinstance(a.extent, ir.Const) or int(a.extent.value) * a.element.bytes >= ALL_REGISTERS
    )


@record
class _Roll:
    """`variable` counts the rows of every loop made here: none is inside of another."""

    memory: frozenset[str]
    variable: ir.Var

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        if not isinstance(s, ir.Store):
            return map_stmt(s, lambda e: e, self.stmt)
        rows, row = self._rows(s), self.variable
        if rows is None:
            return s
        try:
            index, value = _row(s.index, rows, row), _row(s.value, rows, row)
            mask = None if s.mask is None else _row(s.mask, rows, row)
        except _CannotCutError:
            return s
        body = ir.Store(s.buffer, index, value, mask, s.span)
        return ir.For(
            row.name, ir.const_index(0), ir.const_index(rows), ir.LoopKind.SERIAL, body, span=s.span
        )

    def _rows(self, s: ir.Store) -> int | None:
        """How many rows the statement falls into, None when it stays."""
        element = s.value.type.element.bits
        if s.index.type.lanes * element <= LONG or s.buffer not in self.memory:
            return None
        reads = [n for e in (s.value, s.mask) if e is not None for n in nodes(e)]
        if any(isinstance(n, ir.Instruct) for n in reads):
            return None
        loads = {n.buffer for n in reads if isinstance(n, ir.Load)}
        if s.buffer in loads or not loads <= self.memory:
            return None
        place = layout(s.index)
        if place is None or not place.dims:
            return None
        rows = place.dims[0][0]
        if len(place.dims) == 1:
            rows = _pieces(
                s.index.type.lanes, element, [n for n in reads if isinstance(n, ir.Load)]
            )
        long_enough = s.index.type.lanes // rows * element >= SHORT
        return rows if rows > 1 and long_enough else None


def _pieces(lanes: int, element: int, loads: list[ir.Load]) -> int:
    """Into how many rows a contiguous place is best cut: as what is read falls apart, else in rows of
    512 bits."""
    for n in loads:
        read = layout(n.index)
        if read is not None and len(read.dims) > 1 and n.type.lanes == lanes:
            return read.dims[0][0]
    width = 512 // element
    return lanes // width if lanes % width == 0 else 1


def _row(e: ir.Expr, rows: int, row: ir.Var) -> ir.Expr:
    """The lanes of one of so many equal rows."""
    lanes = e.type.lanes
    if lanes % rows:
        raise _CannotCutError
    match e:
        case ir.Broadcast(value=v, lanes=times):
            if times % rows:
                raise _CannotCutError
            return broadcast(v, times // rows)
        case ir.Ramp(base=base, stride=stride, lanes=times):
            if times % rows:
                raise _CannotCutError
            step, inner = _uniform(stride), times // rows
            if step is None:
                raise _CannotCutError
            first = broadcast(simplify(mul(mul(row, inner), step)), base.type.lanes)
            start = simplify(add(base, first))
            return start if inner == 1 else ir.Ramp(start, stride, inner)
        case ir.Load(index=index, mask=mask):
            cut = None if mask is None else _row(mask, rows, row)
            return replace(e, index=_row(index, rows, row), mask=cut,
                           type=e.type.with_lanes(lanes // rows))  # fmt: skip
        case ir.Cast() | ir.Binary() | ir.Unary() | ir.Select() | ir.Call():
            return map_children(e, lambda c: _row(c, rows, row))
        case ir.VectorReduce(op=op, value=value):
            return ir.VectorReduce(op, _row(value, rows, row), lanes // rows, e.span)
        case _:
            raise _CannotCutError


def _uniform(e: ir.Expr) -> ir.Expr | None:
    """The scalar that all lanes are."""
    while isinstance(e, ir.Broadcast):
        e = e.value
    return e if e.type.lanes == 1 else None
